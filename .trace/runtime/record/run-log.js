import { nextMacrotask } from "../../kernel/clock.js";
import { applyNext, skipEvent } from "./apply.js";
import "./event.js";
import { maskedBody } from "./masking.js";
// ../../work/wt/lead/src/runtime/record/run-log.ts
/** Macrotasks that an event waits for others to be written with it. An answer takes one to be handed out, what follows from it another. */
const LINGER = 3;
/**
* Records the events of a run. It gives them their sequence number and time, applies them at once and in order, and writes them behind.
* It owns the events that are not durable yet. The state belongs to its maker and is written by `apply` alone.
*
* RunLog.W0 (`record`) no secret is ever recorded. RunLog.W1 (`#write`) the store gets events in their order, so it always holds a prefix.
* RunLog.W2 (`durable`) resolves when everything recorded before the call is in the store. RunLog.W3 (`#write`) observers get an event only
* when it is durable. RunLog.W4 (`record`) after a failed append nothing is recorded any more. RunLog.W5 (`#gather`) an event waits three
* macrotasks at most, and roles that start their steps in the same turn share one append, so the tail is bounded by what roles record in
* those macrotasks and during one append.
*/
var RunLog = class {
	state;
	#clock;
	#mask;
	#owned;
	#observer;
	#tail = [];
	#isWriting = false;
	/** The store has every event before this one. */
	#durableTo;
	#waiting = [];
	/** Of the turn in which the first of them came, unless all that they wait for is being written. */
	#turnEnds;
	#broken;
	#latest;
	constructor(parts) {globalThis.__t?.("runtime/record/run-log.js#constructor@1558");
		this.state = parts.state;
		this.#clock = parts.clock;
		this.#mask = parts.mask;
		this.#owned = parts.owned;
		this.#observer = parts.observer ?? noObserver;
		this.#durableTo = parts.state.seq;
	}
	/**
	* Records what happened, without secrets, and returns what was recorded.
	*
	* @throws the error that broke the journal
	*/
	record(body) {globalThis.__t?.("runtime/record/run-log.js#record@1907");
		if (this.#broken !== void 0) throw this.#broken.error;
		const { state } = this;
		const clean = maskedBody(this.#mask, body);
		const event = this.#isMade(body.type) ? {
			...this.#envelope,
			...clean
		} : void 0;
		const taken = event !== void 0 && body.type === "act.ended" ? this.#taken(body) : void 0;
		applyNext(state, event ?? clean, state.runId);
		for (const { role, message } of state.justDropped) this.#observer.dropped(role.name, message);
		if (event !== void 0) this.#send(event, taken);
		return clean;
	}
	/** Records what the state holds already. `make` is called only where an event of that type is kept or observed. */
	recordKnown(type, make) {globalThis.__t?.("runtime/record/run-log.js#recordKnown@2573");
		if (this.#broken !== void 0) throw this.#broken.error;
		const event = this.#isMade(type) ? {
			...this.#envelope,
			...maskedBody(this.#mask, make())
		} : void 0;
		skipEvent(this.state);
		if (event !== void 0) this.#send(event);
	}
	/** The last event that was made. */
	get latest() {globalThis.__t?.("runtime/record/run-log.js#latest get@2877");
		return this.#latest;
	}
	/** Whether nothing is recorded that {@link durable} would wait for. */
	get isDurable() {globalThis.__t?.("runtime/record/run-log.js#isDurable get@2995");
		return this.#broken === void 0 && (this.#owned === void 0 || this.#durableTo >= this.state.seq);
	}
	/** @throws JournalError when the store refused */
	async durable() {globalThis.__t?.("runtime/record/run-log.js#durable@3168");
		const to = this.state.seq;
		if (this.#broken !== void 0) throw this.#broken.error;
		if (this.#owned === void 0 || this.#durableTo >= to) return;
		this.#turnEnds ??= nextMacrotask();
		await new Promise((resolve, reject) => (globalThis.__t?.("runtime/record/run-log.js#anonymous@3380"),(void this.#waiting.push({
			to,
			resolve,
			reject
		}))));
	}
	#isMade(type) {globalThis.__t?.("runtime/record/run-log.js#isMade@3474");
		return this.#owned !== void 0 || this.#observer.observes(type);
	}
	/** The messages that an activation takes, for observers of a run that keeps no history. */
	#taken({ role, take }) {globalThis.__t?.("runtime/record/run-log.js#taken@3652");
		return this.state.hasHistory ? void 0 : this.state.roles.get(role)?.news(take);
	}
	get #envelope() {globalThis.__t?.("runtime/record/run-log.js#envelope get@3770");
		const { runId, seq } = this.state;
		return {
			v: 1,
			runId,
			seq,
			time: this.#clock.now()
		};
	}
	#send(event, taken) {globalThis.__t?.("runtime/record/run-log.js#send@3891");
		this.#latest = event;
		if (this.#owned === void 0) this.#observer.observe(event, taken);
		else this.#append(this.#owned, event);
	}
	#append(owned, event) {globalThis.__t?.("runtime/record/run-log.js#append@4052");
		this.#tail.push(event);
		if (this.#isWriting) return;
		this.#isWriting = true;
		this.#write(owned);
	}
	async #write(owned) {globalThis.__t?.("runtime/record/run-log.js#write@4190");
		while (this.#tail.length > 0 && this.#broken === void 0) {
			await this.#gather();
			const batch = this.#tail;
			this.#tail = [];
			try {
				await owned.journal.append(this.state.runId, owned.epoch, batch[0]?.seq ?? 0, batch);
				this.#durableTo += batch.length;
				for (const event of batch) this.#observer.observe(event);
			} catch (error) {
				this.#broken = { error };
			}
			this.#wake();
		}
		this.#isWriting = false;
	}
	/** Until those who come in the same turn as somebody who waits have come, or nobody did for a while. */
	async #gather() {globalThis.__t?.("runtime/record/run-log.js#gather@4760");
		let turns = 0;
		do {
			await nextMacrotask();
			turns += 1;
		} while (turns < LINGER && this.#turnEnds === void 0);
		await this.#turnEnds;
		this.#turnEnds = void 0;
	}
	#wake() {globalThis.__t?.("runtime/record/run-log.js#wake@4947");
		const waiting = this.#waiting;
		this.#waiting = [];
		for (const waiter of waiting) if (this.#durableTo >= waiter.to) waiter.resolve();
		else if (this.#broken !== void 0) waiter.reject(this.#broken.error);
		else this.#waiting.push(waiter);
	}
};
const noObserver = {
	observes: () => (globalThis.__t?.("runtime/record/run-log.js#observes@5235"),(false)),
	observe() {globalThis.__t?.("runtime/record/run-log.js#observe@5256");},
	dropped() {globalThis.__t?.("runtime/record/run-log.js#dropped@5271");}
};
export { RunLog };
