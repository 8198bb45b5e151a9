import { errorRecord } from "../kernel/troupe-error.js";
import { interruptionBy } from "../kernel/abort.js";
import { BudgetError, StepError, UsageError } from "../kernel/errors.js";
import { CancellationScope, CancellationScopes, cancellationOf } from "../kernel/cancellation.js";
import { createMessage, isCauseLeftOpen, isMessage, parseMessage } from "../message/message.js";
import { afterFailure } from "../role/failure-policy.js";
import { isGrave, isSuspicious } from "./record/run-state.js";
import { assertRoomForAct, assertRoomOutside, deadlock, fullAtBarrier } from "./routing/mailbox-room.js";
import { BudgetGate } from "./steps/budget-gate.js";
import { takeTurn } from "./turn/turn.js";
// ../../work/wt/lead/src/runtime/engine.ts
/** After so many times the limit an activation is at fault although others get on between two deaths: it may be slow, but not that often. */
const PATIENCE = 3;
/**
* Runs roles on a run's state. It owns the budget gate and which turns are under way. The state is written through the log alone, and the driver
* decides which role acts when.
*
* Engine.E1 (`isIdle`) idle is counted: no mail, and nobody running. Engine.E2 (`#ended`) a failing role never keeps others from acting, and the
* failure is kept for the result. Engine.E3 (`#follow`) the signal that may stop it keeps none of this while it does not run.
*/
var Engine = class {
	state;
	directory;
	logger;
	deps;
	tell;
	resumed;
	/** Ended when the run is stopped from outside, and when nothing can go on. Each run has its own. */
	scope = new CancellationScope();
	roundLimit = 0;
	checkpoint;
	#parts;
	#gate;
	#tools;
	#running = 0;
	/** True once the process was found to have died under an activation: what is tried next may be the reason. */
	#hasDied = false;
	#wake;
	#failure;
	#control;
	constructor(parts) {globalThis.__t?.("runtime/engine.js#constructor@1820");
		this.#parts = parts;
		this.state = parts.log.state;
		this.directory = parts.hired.directory;
		this.logger = parts.logger;
		this.deps = parts.deps;
		this.tell = parts.announcer.telling;
		this.resumed = parts.resumed;
		this.#gate = new BudgetGate(parts.log.state, parts.funds);
		this.#tools = this.#toolsFor(new CancellationScopes(void 0), false);
	}
	#toolsFor(scopes, leavesTraces) {globalThis.__t?.("runtime/engine.js#toolsFor@2199");
		const { log, clock, past, mode, mask, answerer, onFailure } = this.#parts;
		return {
			log,
			clock,
			gate: this.#gate,
			past,
			mode,
			mask,
			answerer,
			onFailure,
			host: this,
			scopes,
			leavesTraces
		};
	}
	get runId() {globalThis.__t?.("runtime/engine.js#runId get@2465");
		return this.state.runId;
	}
	get seed() {globalThis.__t?.("runtime/engine.js#seed get@2509");
		return this.state.seed;
	}
	/** One, where the process dies again and again and nobody knows of which activation. */
	get concurrency() {globalThis.__t?.("runtime/engine.js#concurrency get@2649");
		return isGrave(this.state) ? 1 : this.state.bounds.concurrency ?? this.#parts.concurrency;
	}
	get messageLimit() {globalThis.__t?.("runtime/engine.js#messageLimit get@2767");
		return this.state.bounds.messageLimit ?? this.#parts.messageLimit;
	}
	get midRound() {globalThis.__t?.("runtime/engine.js#midRound get@2857");
		return this.state.acted > 0 || this.state.pending.length > 0;
	}
	get isIdle() {globalThis.__t?.("runtime/engine.js#isIdle get@2940");
		return this.state.ready.size === 0 && this.#running === 0 && !this.midRound;
	}
	/** What stopped the run, if a role's failure or a broken journal did. */
	get failure() {globalThis.__t?.("runtime/engine.js#failure get@3114");
		return this.#failure;
	}
	/** What interrupted the run, if something did. */
	get control() {globalThis.__t?.("runtime/engine.js#control get@3210");
		return this.#control;
	}
	memoryOf(name) {globalThis.__t?.("runtime/engine.js#memoryOf@3251");
		return this.#parts.hired.memoryOf(name);
	}
	/** Publishes from outside: at once between rounds, at the end of the round while one is under way. */
	publish(given) {globalThis.__t?.("runtime/engine.js#publish@3418");
		const message = fromOutside(given);
		const { to, dead } = this.directory.route(message);
		const waits = this.state.delivery === "round" && (this.#running > 0 || this.midRound);
		const published = dead.length === 0 ? {
			type: "message",
			message,
			to
		} : {
			type: "message",
			message,
			to,
			dead
		};
		if (to.length > 0) assertRoomOutside(this.state, to);
		this.#parts.opening?.tell();
		const sent = this.#parts.log.record(waits ? {
			...published,
			atBarrier: true
		} : published);
		this.#parts.announcer.saidOutside(sent);
		this.#wake?.();
		return {
			message: sent.message,
			recipients: sent.to
		};
	}
	/** Runs until nothing is left to do, a limit is reached, or something interrupts. */
	async run(roundLimit, { checkpoint, signal }) {globalThis.__t?.("runtime/engine.js#run@4164");
		this.#failure = void 0;
		this.#control = void 0;
		if (this.scope.ended !== void 0) this.scope = new CancellationScope();
		this.checkpoint = checkpoint && (() => (globalThis.__t?.("runtime/engine.js#anonymous@4363"),(this.#stopsAt(checkpoint))));
		this.roundLimit = roundLimit;
		this.#tools = this.#toolsFor(new CancellationScopes(this.scope), this.#hasDied || isSuspicious(this.state));
		const unfollow = this.#follow(signal);
		try {
			this.#parts.opening?.tell();
			const loading = this.#parts.hired.load();
			if (loading !== void 0) await loading;
			return await this.#parts.driver.run(this);
		} catch (error) {
			this.#failure ??= { error };
			return "interrupted";
		} finally {
			unfollow?.();
			this.#tools.scopes.close();
			if (this.scope.ended !== void 0) this.#control ??= interruptionBy(this.scope.ended.reason);
		}
	}
	mayAct({ index }) {globalThis.__t?.("runtime/engine.js#mayAct@5002");
		return this.#parts.hired.definitionAt(index) !== void 0 && !this.state.blocked.has(index);
	}
	assertNoDeadlock() {globalThis.__t?.("runtime/engine.js#assertNoDeadlock@5129");
		if (this.state.blocked.size > 0) throw deadlock(this.state);
	}
	onMail(wake) {globalThis.__t?.("runtime/engine.js#onMail@5207");
		this.#wake = wake;
	}
	turn(role) {globalThis.__t?.("runtime/engine.js#turn@5245");
		const { name } = role;
		this.#running += 1;
		try {
			const definition = this.#parts.hired.definitionAt(role.index);
			if (definition === void 0) throw new UsageError("ROLE_UNKNOWN", `Expected a hired role, got ${name}.`);
			this.tell("role.active")?.({
				type: "role.active",
				role: name,
				news: role.waiting
			});
			const result = takeTurn(this.#tools, definition, role);
			if (!(result instanceof Promise)) return this.#turned(name, () => (globalThis.__t?.("runtime/engine.js#anonymous@5707"),(this.#ended(name, result))));
			return result.then((end) => (globalThis.__t?.("runtime/engine.js#anonymous@5763"),(this.#turned(name, () => (globalThis.__t?.("runtime/engine.js#anonymous@5791"),(this.#ended(name, end)))))), (error) => (globalThis.__t?.("runtime/engine.js#anonymous@5822"),(this.#turned(name, () => (globalThis.__t?.("runtime/engine.js#anonymous@5852"),(this.#broke(error)))))));
		} catch (error) {
			return this.#turned(name, () => (globalThis.__t?.("runtime/engine.js#anonymous@5929"),(this.#broke(error))));
		}
	}
	#turned(name, end) {globalThis.__t?.("runtime/engine.js#turned@5971");
		const ended = end();
		this.#running -= 1;
		this.tell("role.idle")?.({
			type: "role.idle",
			role: name
		});
		return ended;
	}
	#ended(name, result) {globalThis.__t?.("runtime/engine.js#ended@6127");
		switch (result.kind) {
			case "ended":
				for (const sent of result.said) this.#parts.announcer.said(sent);
				return "done";
			case "retried": return "done";
			case "skipped":
				this.#parts.announcer.gaveUp(name, result.error);
				return "done";
			case "stopped":
				if (this.#parts.mode === "live") this.#failure ??= {
					error: result.error,
					role: name,
					action: result.action,
					step: result.step
				};
				return "stopped";
			case "suspended":
				this.#control ??= result.control;
				if (result.control instanceof BudgetError) this.scope.end(result.control);
				return "suspended";
		}
	}
	/** The journal takes nothing any more. */
	#broke(error) {globalThis.__t?.("runtime/engine.js#broke@6820");
		this.#failure ??= { error };
		this.scope.end(interruptionBy(error));
		return "stopped";
	}
	warn(role, text) {globalThis.__t?.("runtime/engine.js#warn@6930");
		this.#parts.announcer.warn(role, text);
	}
	assertRoom(speaker, said, take) {globalThis.__t?.("runtime/engine.js#assertRoom@7001");
		assertRoomForAct(this.state, speaker, said, take);
	}
	/** @throws QueueFullError `MAILBOX_FULL` where a message of the round has no room: nothing of the round is delivered then */
	endRound() {globalThis.__t?.("runtime/engine.js#endRound@7217");
		const full = fullAtBarrier(this.state);
		if (full !== void 0) throw full;
		this.#parts.log.record({
			type: "round.ended",
			round: this.state.round
		});
	}
	/**
	* Ends the activations during which the process died `limit` times without anything moving in between. Where one had several messages, they are
	* tried one by one from then on; a single one becomes a dead letter.
	*
	* @returns the failure of a role whose policy does not go on without its message
	*/
	failPoisoned(limit) {globalThis.__t?.("runtime/engine.js#failPoisoned@7708");
		const { log, hired, onFailure, announcer } = this.#parts;
		const { state } = this;
		this.#hasDied = isSuspicious(state);
		let failure;
		for (const role of [...state.open]) {
			const open = state.roles.get(role)?.open;
			if (open === void 0 || open.crashes < limit && open.deaths < PATIENCE * limit) continue;
			const { act, take, deaths } = open;
			const error = poisoned(act, deaths);
			const then = take > 1 ? "isolate" : "dead";
			log.record({
				type: "act.failed",
				act,
				role,
				round: state.round,
				take,
				error: errorRecord(error),
				stepFailed: true,
				then
			});
			if (then === "isolate") continue;
			announcer.gaveUp(role, error);
			if (afterFailure(hired.specOf(role)?.role.onFailure ?? onFailure, Infinity) === "stop") failure ??= {
				error,
				role
			};
		}
		return failure;
	}
	/** Ends with the signal. That may live far longer and would keep all of this: the returned function unsubscribes. */
	#follow(signal) {globalThis.__t?.("runtime/engine.js#follow@8677");
		const outer = signal && cancellationOf(signal);
		if (outer?.ended !== void 0) this.scope.end(outer.ended.reason);
		return outer?.onEnd((reason) => (globalThis.__t?.("runtime/engine.js#anonymous@8827"),(this.scope.end(reason))));
	}
	/** A stop condition that fails stops the run. */
	#stopsAt(checkpoint) {globalThis.__t?.("runtime/engine.js#stopsAt@8927");
		try {
			return checkpoint();
		} catch (error) {
			this.#failure ??= { error };
			return true;
		}
	}
};
function poisoned(act, deaths) {globalThis.__t?.("runtime/engine.js#poisoned@9052");
	return new StepError("POISONED", `Expected ${act} to live to its end, but the process died ${deaths} times while it was under way. What it was about goes to the dead letters; look at what its action does with that.`);
}
/**
* A message as it enters a run. Its cause is told from here on.
*
* @throws UsageError `MESSAGE_INVALID`
*/
function fromOutside(given) {globalThis.__t?.("runtime/engine.js#fromOutside@9418");
	const message = isMessage(given) && Object.isFrozen(given) ? given : parseMessage(given);
	return isCauseLeftOpen(message) ? createMessage(message.content, message) : message;
}
export { Engine };
