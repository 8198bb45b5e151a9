import { UsageError } from "../../kernel/errors.js";
import { checkKnownOptions } from "../../kernel/known-options.js";
import { MemoryDraft } from "../../memory/memory-draft.js";
import { isMessage } from "../../message/message.js";
import { askOptions, stepOptions } from "../../role/context.js";
import { messagesOf } from "../../role/act.js";
import { isThenable } from "../../kernel/value-kind.js";
import { knownMessages } from "../record/activations.js";
import { Asking } from "../steps/asking.js";
import { loggerOf, missingDeps } from "./activation-host.js";
import { Drafts } from "./drafts.js";
import { Outbox } from "./outbox.js";
// ../../work/wt/lead/src/runtime/turn/activation.ts
/**
* One activation of one role, as the role sees it. It owns everything the activation has changed and not committed: its messages are its
* outbox's, its questions are its asking's.
*
* Activation.A1 (`changes`) nothing of an activation is visible to anyone before its end is committed. Activation.A2 (`random`, `now`, `id`) ids,
* random numbers and times are functions of the seed, the role, how often it has acted, and recorded answers. Activation.A3 (`close`) once closed, it
* makes, sends, remembers and changes nothing.
*/
var Activation = class {
	name;
	inbox;
	news = [];
	loop;
	#turn;
	#memory;
	#outbox;
	#drafts;
	#asking;
	#broken;
	#isClosed = false;
	constructor(turn) {globalThis.__t?.("runtime/turn/activation.js#constructor@1380");
		const { role, begun } = turn;
		this.#turn = turn;
		this.name = role.name;
		this.inbox = Object.freeze(role.news(begun.take));
		this.#memory = new MemoryDraft({
			base: role.memory,
			by: begun
		});
		this.#outbox = new Outbox(turn, this);
	}
	/** Observes, remembers the news, reacts, and publishes what came of it: at once, where nothing in it waits. */
	run() {globalThis.__t?.("runtime/turn/activation.js#run@1757");
		const memory = this.#turn.definition.remembers === "longer" ? this.#turn.tools.host.memoryOf(this.name) : void 0;
		return memory === void 0 ? this.#observe() : memory.kept.ready().then(() => (globalThis.__t?.("runtime/turn/activation.js#anonymous@1950"),(this.#observe())));
	}
	#observe() {globalThis.__t?.("runtime/turn/activation.js#observe@1986");
		return after(this.#turn.definition.spec.role.observe(this), (observed) => {globalThis.__t?.("runtime/turn/activation.js#anonymous@2053");
			const news = Object.freeze([...messagesOf(observed, this.name)]);
			for (const message of news) this.#memory.add(message);
			this.news = news;
			return news.length === 0 ? void 0 : this.#react();
		});
	}
	#react() {globalThis.__t?.("runtime/turn/activation.js#react@2287");
		return after(this.#turn.definition.spec.role.react(this), (said) => {globalThis.__t?.("runtime/turn/activation.js#anonymous@2352");
			for (const message of messagesOf(said, this.name)) this.#outbox.send(message);
		});
	}
	/** @internal */
	close() {globalThis.__t?.("runtime/turn/activation.js#close@2479");
		this.#isClosed = true;
		this.#outbox.close();
		this.#memory.close();
		this.#drafts?.close();
	}
	/** Shows the state of the run from now on: what this activation changed is committed. @internal */
	settle() {globalThis.__t?.("runtime/turn/activation.js#settle@2693");
		this.#memory.settle();
		this.#drafts?.working.settle();
	}
	/** Everything this activation changed. @internal */
	changes() {globalThis.__t?.("runtime/turn/activation.js#changes@2822");
		const { role, definition, begun, tools } = this.#turn;
		const said = this.#outbox.sent;
		if (said.length > 0) tools.host.assertRoom(role, said, begun.take);
		const drafts = this.#drafts;
		const state = drafts?.state.changes(role.name, definition.spec.role.state);
		const plan = drafts?.plan.changes();
		const joins = drafts?.joined;
		const summary = this.#asking?.newSummary;
		const ops = this.#recorded(this.#memory, said);
		return {
			said,
			memory: definition.remembers === "its turn" ? [] : ops,
			working: drafts === void 0 ? [] : this.#recorded(drafts.working, said),
			...state === void 0 ? {} : { state },
			...plan === void 0 ? {} : { plan },
			...joins === void 0 ? {} : { joins },
			...summary === void 0 ? {} : { summary }
		};
	}
	/**
	* The changes of a memory as the record has them: a message that the activation took or said is named by its id.
	*
	* @throws UsageError `MESSAGE_INVALID` for a remembered value that is no message
	*/
	#recorded({ ops }, said) {globalThis.__t?.("runtime/turn/activation.js#recorded@3807");
		if (ops.length === 0) return [];
		const known = knownMessages(this.inbox, said);
		return ops.map((op) => {globalThis.__t?.("runtime/turn/activation.js#anonymous@3926");
			if (op[0] !== "+") return op;
			const [, message] = op;
			if (!isMessage(message)) throw new UsageError("MESSAGE_INVALID", `Expected only messages in a memory, got ${typeof message}.`);
			return known.get(message.id) === message ? ["+", message.id] : op;
		});
	}
	/** @internal */
	began(action) {globalThis.__t?.("runtime/turn/activation.js#began@4230");
		this.#turn.tools.host.tell("action.started")?.({
			type: "action.started",
			role: this.name,
			action
		});
	}
	/** @internal */
	broke(action, error) {globalThis.__t?.("runtime/turn/activation.js#broke@4382");
		this.#broken = {
			action,
			error
		};
	}
	/** The action that threw an error, if one did. @internal */
	actionBehind(error) {globalThis.__t?.("runtime/turn/activation.js#actionBehind@4522");
		return this.#broken !== void 0 && Object.is(this.#broken.error, error) ? this.#broken.action : void 0;
	}
	get role() {globalThis.__t?.("runtime/turn/activation.js#role get@4649");
		const { card } = this.#turn.definition.spec;
		return card.name === this.name ? card : {
			...card,
			name: this.name
		};
	}
	get runId() {globalThis.__t?.("runtime/turn/activation.js#runId get@4794");
		return this.#turn.tools.host.runId;
	}
	get memory() {globalThis.__t?.("runtime/turn/activation.js#memory get@4851");
		return this.#memory;
	}
	get workingMemory() {globalThis.__t?.("runtime/turn/activation.js#workingMemory get@4900");
		return this.#changing.working;
	}
	get important() {globalThis.__t?.("runtime/turn/activation.js#important get@4955");
		return this.memory.getByActions(this.#turn.definition.spec.watch);
	}
	get state() {globalThis.__t?.("runtime/turn/activation.js#state get@5042");
		return this.#changing.state.view;
	}
	set state(state) {globalThis.__t?.("runtime/turn/activation.js#state@5096");
		this.#changing.state.replace(state);
	}
	get deps() {globalThis.__t?.("runtime/turn/activation.js#deps get@5157");
		return this.toolDeps ?? missingDeps(this.name);
	}
	get toolDeps() {globalThis.__t?.("runtime/turn/activation.js#toolDeps get@5228");
		return this.#turn.tools.host.deps;
	}
	get plan() {globalThis.__t?.("runtime/turn/activation.js#plan get@5282");
		return this.#changing.plan.plan;
	}
	set plan(plan) {globalThis.__t?.("runtime/turn/activation.js#plan@5334");
		this.#changing.plan.replace(plan);
	}
	get joins() {globalThis.__t?.("runtime/turn/activation.js#joins get@5393");
		return this.#changing.joins;
	}
	get signal() {globalThis.__t?.("runtime/turn/activation.js#signal get@5443");
		return this.#turn.scope.signal;
	}
	get logger() {globalThis.__t?.("runtime/turn/activation.js#logger get@5496");
		return loggerOf(this.#turn.tools.host, this.name);
	}
	get clock() {globalThis.__t?.("runtime/turn/activation.js#clock get@5567");
		return this.#turn.tools.answerer.clock;
	}
	get introduction() {globalThis.__t?.("runtime/turn/activation.js#introduction get@5634");
		return this.#turn.tools.answerer.introduction(this.role);
	}
	get human() {globalThis.__t?.("runtime/turn/activation.js#human get@5712");
		return this.#questions.human;
	}
	get model() {globalThis.__t?.("runtime/turn/activation.js#model get@5762");
		return this.#questions.model;
	}
	get steps() {globalThis.__t?.("runtime/turn/activation.js#steps get@5812");
		return this.#questions.steps;
	}
	ask(prompt, o = {}) {globalThis.__t?.("runtime/turn/activation.js#ask@5856");
		checkKnownOptions("ask", o, knownInAsk);
		return this.#questions.ask(prompt, o);
	}
	step(name, request, effect, o = {}) {globalThis.__t?.("runtime/turn/activation.js#step@5967");
		checkKnownOptions("step", o, stepOptions);
		return this.#questions.step(name, request, effect, o);
	}
	recall(about) {globalThis.__t?.("runtime/turn/activation.js#recall@6113");
		return this.#questions.recall(about);
	}
	message(content, fields) {globalThis.__t?.("runtime/turn/activation.js#message@6174");
		return this.#outbox.message(content, fields);
	}
	issue(message, cause) {globalThis.__t?.("runtime/turn/activation.js#issue@6251");
		return this.#outbox.issue(message, cause);
	}
	publish(given, cause) {globalThis.__t?.("runtime/turn/activation.js#publish@6326");
		const { message, to } = this.#outbox.send(given, cause);
		return {
			message,
			recipients: to
		};
	}
	random() {globalThis.__t?.("runtime/turn/activation.js#random@6458");
		return this.#changing.random(this.#turn.tools.host.seed);
	}
	now() {globalThis.__t?.("runtime/turn/activation.js#now@6530");
		return this.#turn.now;
	}
	id() {globalThis.__t?.("runtime/turn/activation.js#id@6566");
		return this.#changing.id();
	}
	get #questions() {globalThis.__t?.("runtime/turn/activation.js#questions get@6619");
		return this.#asking ??= new Asking(this.#turn, this);
	}
	/** Drafts that are made after the end take nothing. */
	get #changing() {globalThis.__t?.("runtime/turn/activation.js#changing get@6754");
		if (this.#drafts === void 0) {
			this.#drafts = new Drafts(this.#turn.role, this.#turn.begun.act);
			if (this.#isClosed) this.#drafts.close();
		}
		return this.#drafts;
	}
};
/** Goes on with a value: at once, unless it is a promise. */
function after(value, next) {globalThis.__t?.("runtime/turn/activation.js#after@7001");
	return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
const knownInAsk = {
	...askOptions,
	schema: true
};
export { Activation };
