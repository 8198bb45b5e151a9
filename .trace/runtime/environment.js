import { object, takes } from "../kernel/argument.js";
import { errorRecord } from "../kernel/troupe-error.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { silentLogger } from "../kernel/emit.js";
import { freshRunId } from "../kernel/id.js";
import { lazily } from "../kernel/lazily.js";
import { maskSecrets } from "../kernel/mask.js";
import { freshSeed } from "../kernel/random.js";
import { valueText } from "../kernel/value-text.js";
import { createMessage, serializeMessage } from "../message/message.js";
import { assertIsRole, rolesIn } from "../role/role-parts.js";
import { assertRoleName } from "../role/role-spec.js";
import { measureMailboxes } from "./record/delivery.js";
import { NO_ANSWERS } from "./steps/answer-source.js";
import { RunLog } from "./record/run-log.js";
import { RunState, roundsOf } from "./record/run-state.js";
import { Answerer } from "./steps/answerer.js";
import { checkOptions, checkSignal, checkStopCondition, checkWhole } from "./check-options.js";
import { Engine } from "./engine.js";
import { environmentOptions, environmentRunOptions } from "./environment-options.js";
import { HiredRoles } from "./hired-roles.js";
import { Announcer, ObserverRegistry } from "./observers.js";
import { Opening } from "./opening.js";
import { driverOf } from "./schedulers/drive.js";
import { recordedBy, schedulerOf } from "./schedulers/scheduler.js";
import { RoleMemories } from "./role-memories.js";
import { roleView } from "./role-view.js";
import { runResult, statusOf } from "./run-result.js";
import { progressOf } from "./stop-condition.js";
// ../../work/wt/lead/src/runtime/environment.ts
/**
* The world that roles share: it knows who listens to what, delivers messages, and lets roles act. It keeps no journal and has no budget;
* a {@link Team} adds both. Defaults: the scheduler `rounds`, 16 activations at once, 100 rounds of one `run`, a random seed. Its hired
* roles own who is hired, its log is the only writer of the run's state, its scheduler decides who acts next.
*
* @example
* import { createMessage, defineRole, Environment } from "troupe";
*
* const ping = defineRole({ name: "Ping", react: (rc) => rc.message("ball", { sendTo: "Pong" }) });
* const pong = defineRole({ name: "Pong", react: (rc) => rc.message("ball", { sendTo: "Ping" }) });
* const table = new Environment({ seed: 1 });
* table.addRoles([ping, pong]);
* table.publishMessage(createMessage("serve", { sendTo: ["Ping"] }));
* console.log((await table.run({ rounds: 10 })).messages.length); // 11
*/
var Environment = class {
	description;
	#options;
	#log;
	#mask;
	#engine;
	#hired;
	#opening;
	#observers;
	/** What its roles remember for longer than this run. @internal */
	memories;
	/** Also while what waits for nothing runs at one go. */
	#isRunning = false;
	#hasWarned = false;
	constructor(options = {}, backing = {}) {globalThis.__t?.("runtime/environment.js#constructor@2955");
		checkOwnOptions(options, backing);
		this.description = options.description ?? "";
		this.#options = options;
		const clock = options.clock ?? systemClock;
		const state = backing.state ?? freshState(options);
		const driver = backing.driver ?? { run: (host) => (globalThis.__t?.("runtime/environment.js#run@3240"),(driverOf(recordedBy(state, options.scheduler)).run(host))) };
		const logger = options.logger ?? silentLogger;
		const mask = maskSecrets(options.secrets ?? []);
		this.#mask = mask;
		this.#observers = backing.observers ?? new ObserverRegistry();
		const announcer = new Announcer({
			observers: this.#observers,
			logger,
			mask
		});
		const isLive = backing.mode !== "replay";
		const runId = lazily(() => (globalThis.__t?.("runtime/environment.js#runId@3655"),(backing.owned === void 0 ? freshRunId(clock.now()) : state.runId)));
		const warn = (role, text) => (globalThis.__t?.("runtime/environment.js#warn@3743"),(this.#engine.warn(role, mask(text))));
		const roleNamed = (name) => (globalThis.__t?.("runtime/environment.js#roleNamed@3816"),(this.#hired.specOf(name)?.role));
		this.memories = new RoleMemories({
			shared: options.memory,
			runId,
			state: () => (globalThis.__t?.("runtime/environment.js#state@3942"),(state)),
			clock,
			isLive,
			mask,
			warn,
			roleNamed
		});
		this.#hired = new HiredRoles(state, this.memories);
		const observer = observerOf(this.memories, announcer, backing.grew);
		this.#log = new RunLog({
			state,
			clock,
			mask,
			owned: backing.owned,
			observer
		});
		this.#opening = backing.state === void 0 ? new Opening(this.#log, this.#hired, schedulerOf(options.scheduler ?? "rounds")) : void 0;
		this.#engine = new Engine({
			log: this.#log,
			clock,
			driver,
			concurrency: options.concurrency ?? 16,
			onFailure: options.onFailure ?? "stop",
			answerer: new Answerer({
				...options,
				clock,
				logger,
				seed: state.seed,
				requirePrice: backing.requirePrice ?? false,
				company: {
					description: this.description,
					colleagues: () => (globalThis.__t?.("runtime/environment.js#colleagues@4734"),(this.#hired.names))
				},
				tell: announcer.telling
			}),
			hired: this.#hired,
			opening: this.#opening,
			logger,
			mask,
			funds: backing.funds,
			deps: options.deps,
			messageLimit: options.messageLimit ?? 1e6,
			past: backing.past ?? NO_ANSWERS,
			mode: backing.mode ?? "live",
			announcer,
			resumed: backing.resumed
		});
	}
	/**
	* Hires a role, under its own name or another. One definition may be hired many times.
	*
	* @throws UsageError `ROLE_DUPLICATE` when the name is taken; `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`
	*/
	addRole(role, o = {}) {globalThis.__t?.("runtime/environment.js#addRole@5323");
		assertIsRole(role);
		assertAlias(o);
		checkKnownOptions("addRole", o, { name: true });
		const name = o.name ?? role.name;
		assertRoleName(name);
		this.#hired.add(role, name);
		this.#opening?.hired(name);
		if (this.#isRunning) this.#opening?.tell();
		return this;
	}
	/** Hires many roles, from any iterable, each under its own name. */
	addRoles(roles) {globalThis.__t?.("runtime/environment.js#addRoles@5695");
		for (const role of rolesIn(roles)) this.addRole(role);
		return this;
	}
	/** Publishes a message from outside. A text becomes a user's requirement. */
	publishMessage(message) {globalThis.__t?.("runtime/environment.js#publishMessage@5874");
		return this.#engine.publish(typeof message === "string" ? this.#userMessage(message) : message);
	}
	/**
	* Runs until no role has mail, `rounds` more rounds have passed, or something stops it. A failing role is told in the result; nothing is
	* thrown. What was stopped goes on with the next `run`.
	*
	* @throws UsageError `RUN_TWICE` while it is running already; `OPTION_INVALID` for an option that is not what it must be.
	*/
	async run(o = {}) {globalThis.__t?.("runtime/environment.js#run@6328");
		checkKnownOptions("run of an environment", o, environmentRunOptions);
		const { rounds = 100, stopWhen, signal } = o;
		checkWhole(rounds, "rounds", 0);
		checkStopCondition(stopWhen);
		checkSignal(signal);
		const checkpoint = stopWhen && (() => (globalThis.__t?.("runtime/environment.js#checkpoint@6583"),(stopWhen(progressOf(this.state)))));
		const end = await this.drive(roundsOf(this.state) + rounds, {
			checkpoint,
			signal
		});
		return runResult(this.state, end, this.#mask);
	}
	/** Runs to an absolute number of rounds and says why it stopped. @internal */
	async drive(roundLimit, bounds = unbounded) {globalThis.__t?.("runtime/environment.js#drive@6863");
		if (this.#isRunning) throw new UsageError("RUN_TWICE", "Expected an environment that is not running, got one that is. Await its run first.");
		try {
			this.#isRunning = true;
			this.#warnOfIdle();
			const reason = await this.#engine.run(roundLimit, bounds);
			if (this.memories.isUsed) await this.#log.durable().catch(() => {globalThis.__t?.("runtime/environment.js#anonymous@7223");});
			await this.memories.rest();
			return {
				reason,
				failure: this.#engine.failure,
				control: this.#engine.control
			};
		} finally {
			this.#isRunning = false;
		}
	}
	/** Ends the activations that the process died of again and again. @internal */
	failPoisoned(limit) {globalThis.__t?.("runtime/environment.js#failPoisoned@7507");
		return this.#engine.failPoisoned(limit);
	}
	/** Tells the logger and listeners of something about the run. @internal */
	warn(text) {globalThis.__t?.("runtime/environment.js#warn@7645");
		this.#engine.warn(void 0, text);
	}
	/** Records how the run ended, as far as its journal still takes it, and says what came of it. @internal */
	async finish(end) {globalThis.__t?.("runtime/environment.js#finish@7814");
		const { status, error } = statusOf(end, this.#mask);
		try {
			this.#log.record({
				type: "run.ended",
				status,
				...error === void 0 ? {} : { error: errorRecord(error) }
			});
			await this.#log.durable();
			return runResult(this.state, end, this.#mask);
		} catch (broken) {
			return runResult(this.state, {
				...end,
				failure: end.failure ?? { error: broken }
			}, this.#mask);
		}
	}
	/** The pen of the run. @internal */
	get log() {globalThis.__t?.("runtime/environment.js#log get@8275");
		return this.#log;
	}
	/** The state of the run. @internal */
	get state() {globalThis.__t?.("runtime/environment.js#state get@8353");
		return this.#log.state;
	}
	/** No role has mail and none is running: counted, never inferred. */
	get isIdle() {globalThis.__t?.("runtime/environment.js#isIdle get@8469");
		return this.#engine.isIdle;
	}
	/** Every message that was delivered, in order; nothing in an environment with `memory: false`. */
	get history() {globalThis.__t?.("runtime/environment.js#history get@8619");
		return this.state.history;
	}
	get seed() {globalThis.__t?.("runtime/environment.js#seed get@8665");
		return this.state.seed;
	}
	get roleNames() {globalThis.__t?.("runtime/environment.js#roleNames get@8713");
		return this.#hired.names;
	}
	/** What a role holds now; undefined when nobody has that name. */
	getRole(name) {globalThis.__t?.("runtime/environment.js#getRole@8825");
		const spec = this.#hired.specOf(name);
		const state = this.state.roles.get(name);
		return spec === void 0 || state === void 0 ? void 0 : roleView(spec.role, state);
	}
	/**
	* Calls `listener` for every event or notice of a type; the returned function stops that. `run.started` comes right before the first message
	* or run, with everybody who is hired by then; who is hired later comes with a `run.resumed`.
	*/
	on(type, listener) {globalThis.__t?.("runtime/environment.js#on@9255");
		return this.#observers.on(type, listener);
	}
	/** Everything the environment holds, as plain JSON. */
	toJSON() {globalThis.__t?.("runtime/environment.js#toJSON@9386");
		const { state } = this;
		return {
			description: this.description,
			seed: state.seed,
			scheduler: state.scheduler,
			round: state.round,
			history: state.history.get().map(serializeMessage),
			roles: [...state.roles.values()].map((role) => ((globalThis.__t?.("runtime/environment.js#roles@9632"),({
				name: role.name,
				mailbox: role.mailbox.toJSON(),
				memory: role.memory.toJSON(),
				workingMemory: role.workingMemory.toJSON(),
				state: role.custom,
				plan: role.plan.toJSON()
			}))))
		};
	}
	/** A role that can do nothing is nearly always a mistake, but it may be there to remember. */
	#warnOfIdle() {globalThis.__t?.("runtime/environment.js#warnOfIdle@9960");
		if (this.#hasWarned) return;
		this.#hasWarned = true;
		for (const { card } of this.#hired.idle) this.#engine.warn(card.name, `${card.name} has no actions and no react or step of its own: it will only listen. Give it actions: [...].`);
	}
	#userMessage(content) {globalThis.__t?.("runtime/environment.js#userMessage@10220");
		const clock = this.#options.clock ?? systemClock;
		return createMessage(content, {
			id: `user#${this.state.outside + 1}`,
			timestamp: clock.now()
		});
	}
};
const unbounded = Object.freeze({
	checkpoint: void 0,
	signal: void 0
});
/** Observes the events of an environment: for what its roles remember beyond the run, for its observers, and for whoever waits for the run to grow. */
function observerOf(memories, announcer, grew) {globalThis.__t?.("runtime/environment.js#observerOf@10624");
	return {
		observes: (type) => (globalThis.__t?.("runtime/environment.js#observes@10695"),(memories.isUsed || announcer.observers.observes(type))),
		observe: (event, taken) => {globalThis.__t?.("runtime/environment.js#observe@10771");
			if (memories.isUsed) memories.learn(event, taken);
			announcer.tell(event);
			grew?.();
		},
		dropped: (role, message) => (globalThis.__t?.("runtime/environment.js#dropped@10900"),(announcer.dropped(role, message)))
	};
}
function assertAlias(o) {globalThis.__t?.("runtime/environment.js#assertAlias@10958");
	if (typeof o === "object" && o !== null) return;
	throw new UsageError("ROLE_INVALID", `Expected the other name of a role as { name }, got ${valueText(o)}. Write addRole(role, { name }).`);
}
/** A team hands on its own options, which it has looked at. */
function checkOwnOptions(options, backing) {globalThis.__t?.("runtime/environment.js#checkOwnOptions@11241");
	takes("new Environment", "what a team gives it", backing, object("an object"));
	if (backing.state === void 0) checkKnownOptions("new Environment", options, environmentOptions);
	checkOptions(options);
}
function freshState(options) {globalThis.__t?.("runtime/environment.js#freshState@11491");
	const state = new RunState("environment", options.memory !== false);
	state.seed = String(options.seed ?? freshSeed());
	const scheduler = schedulerOf(options.scheduler ?? "rounds");
	state.scheduler = scheduler.name;
	state.parameters = scheduler.parameters ?? null;
	state.delivery = scheduler.delivery;
	if (options.mailbox !== void 0) state.bounds = { mailbox: options.mailbox };
	measureMailboxes(state);
	return state;
}
export { Environment };
