import { nextMacrotask } from "../../kernel/clock.js";
import { UsageError } from "../../kernel/errors.js";
import { randomStream } from "../../kernel/random.js";
import { valueText } from "../../kernel/value-text.js";
import { roundsOf } from "../record/run-state.js";
// ../../work/wt/lead/src/runtime/schedulers/drive.ts
/** Turns between two pauses in which timers, signals and input are served. */
const TURNS_PER_PAUSE = 128;
/** Drives a run as a scheduler decides. */
function driverOf(scheduler) {globalThis.__t?.("runtime/schedulers/drive.js#driverOf@476");
	return { run: (host) => (globalThis.__t?.("runtime/schedulers/drive.js#run@522"),(new ScheduledRun(scheduler, host).run())) };
}
/**
* One drive of a run. It owns which turns are under way, and why the drive ends.
*
* ScheduledRun.S1 (`#aside`) a role has at most one turn under way. ScheduledRun.S2 (`run`) the run is idle when no role may act and none is
* running: this is counted, never inferred. ScheduledRun.S3 (`#turned`) with delivery `round` a failing role does not keep the others of its
* round from acting. ScheduledRun.S4 (`#startNext`) no promise is made for a turn that waits for nothing.
*/
var ScheduledRun = class {
	#scheduler;
	#host;
	#byRounds;
	/** Roles with a turn under way, and roles that failed or wait for somebody: these have no further turn in this drive. */
	#aside = /* @__PURE__ */ new Set();
	#running = 0;
	#turns = 0;
	#end;
	#isInterrupted = false;
	#wake = () => {globalThis.__t?.("runtime/schedulers/drive.js#wake@1344");};
	constructor(scheduler, host) {globalThis.__t?.("runtime/schedulers/drive.js#constructor@1366");
		this.#scheduler = scheduler;
		this.#host = host;
		this.#byRounds = scheduler.delivery === "round";
	}
	async run() {globalThis.__t?.("runtime/schedulers/drive.js#run@1502");
		const host = this.#host;
		host.onMail(() => (globalThis.__t?.("runtime/schedulers/drive.js#anonymous@1548"),(this.#wake())));
		let mayStop = roundsOf(host.state) > 0 && !host.midRound;
		for (;;) {
			const paused = host.resumed?.();
			if (paused !== void 0) await paused;
			if (host.scope.ended !== void 0) this.#end ??= "interrupted";
			else if (mayStop && host.checkpoint?.() === true) this.#end ??= "checkpoint";
			mayStop = false;
			const ready = this.#end === void 0 ? this.#ready() : [];
			if (ready.length > 0 && this.#isAtLimit) this.#end = "rounds";
			const batch = {
				roles: this.#end === void 0 ? this.#chosen(ready) : [],
				begun: 0
			};
			for (let wait = this.#startNext(batch); wait !== void 0; wait = this.#startNext(batch)) await wait;
			if (this.#running > 0 && (this.#byRounds || batch.roles.length === 0)) await this.#change();
			else if (batch.roles.length > 0) continue;
			else if (this.#end !== void 0) return this.#end;
			else if (this.#isInterrupted) return "interrupted";
			else if (ready.length === 0 && !host.midRound) return this.#idle();
			else if (this.#isAtLimit) return "rounds";
			else {
				await Promise.resolve();
				if (host.scope.ended !== void 0) continue;
				this.#endRound(ready.length);
				await Promise.resolve();
				mayStop = true;
			}
		}
	}
	get #isAtLimit() {globalThis.__t?.("runtime/schedulers/drive.js#isAtLimit get@2773");
		return roundsOf(this.#host.state) >= this.#host.roundLimit;
	}
	#ready() {globalThis.__t?.("runtime/schedulers/drive.js#ready@2850");
		const { state } = this.#host;
		if (this.#byRounds && this.#running > 0) return [];
		const ready = [];
		for (const role of state.ready) if (this.#mayBegin(role)) ready.push(role);
		return this.#byRounds ? ready.sort((a, b) => (globalThis.__t?.("runtime/schedulers/drive.js#anonymous@3076"),(a.index - b.index))) : ready;
	}
	#mayBegin(role) {globalThis.__t?.("runtime/schedulers/drive.js#mayBegin@3127");
		return !this.#aside.has(role) && !(this.#byRounds && role.ranIn === this.#host.state.round) && this.#host.mayAct(role);
	}
	/** @throws UsageError `SCHEDULER_CHOICE` for what is not a place in the list, or one that was chosen before */
	#chosen(ready) {globalThis.__t?.("runtime/schedulers/drive.js#chosen@3382");
		if (ready.length === 0) return ready;
		const { seed, activations, round, acted } = this.#host.state;
		let stream;
		const random = () => (globalThis.__t?.("runtime/schedulers/drive.js#random@3527"),((stream ??= randomStream(seed, "scheduler", activations))()));
		const view = {
			ready,
			round,
			acted,
			running: this.#running,
			random
		};
		const isChosen = new Uint8Array(ready.length);
		const chosen = [];
		for (const place of this.#scheduler.select(view)) {
			const role = ready[place];
			if (role === void 0 || isChosen[place] === 1) throw badChoice(this.#scheduler.name, ready.length, place);
			isChosen[place] = 1;
			chosen.push(role);
		}
		return chosen;
	}
	/** Begins turns as far as it may. Returns what to wait for before more can begin; undefined when none is left to begin. */
	#startNext(batch) {globalThis.__t?.("runtime/schedulers/drive.js#startNext@4152");
		const { state, scope, concurrency } = this.#host;
		while (batch.begun < batch.roles.length && this.#end === void 0) {
			const paused = this.#host.resumed?.();
			if (paused !== void 0) return paused;
			if (this.#running > 0 && this.#running >= concurrency) return this.#change();
			if (scope.ended !== void 0) this.#end = "interrupted";
			else if (!this.#byRounds && this.#isAtLimit) this.#end = "rounds";
			if (this.#end !== void 0) return void 0;
			const role = batch.roles[batch.begun];
			batch.begun += 1;
			if (!state.ready.has(role) || !this.#mayBegin(role)) continue;
			const turn = this.#host.turn(role);
			if (typeof turn === "object") this.#follow(role, turn);
			else {
				this.#turned(role, turn);
				this.#turns += 1;
				if (this.#turns % TURNS_PER_PAUSE === 0) return nextMacrotask();
			}
		}
	}
	#follow(role, turn) {globalThis.__t?.("runtime/schedulers/drive.js#follow@4997");
		this.#running += 1;
		this.#aside.add(role);
		turn.then(async (end) => {globalThis.__t?.("runtime/schedulers/drive.js#anonymous@5071");
			this.#turns += 1;
			if (this.#turns % TURNS_PER_PAUSE === 0) await nextMacrotask();
			this.#running -= 1;
			this.#aside.delete(role);
			this.#turned(role, end);
			this.#wake();
		});
	}
	#turned(role, end) {globalThis.__t?.("runtime/schedulers/drive.js#turned@5290");
		if (end === "done") {
			if (!this.#byRounds && this.#host.checkpoint?.() === true) this.#end ??= "checkpoint";
			return;
		}
		this.#aside.add(role);
		if (end === "stopped" && !this.#byRounds) this.#end ??= "interrupted";
		else this.#isInterrupted = true;
	}
	/** Resolves when a turn has ended or a message came from outside. */
	#change() {globalThis.__t?.("runtime/schedulers/drive.js#change@5648");
		return new Promise((resolve) => (globalThis.__t?.("runtime/schedulers/drive.js#anonymous@5674"),(this.#wake = resolve)));
	}
	#idle() {globalThis.__t?.("runtime/schedulers/drive.js#idle@5719");
		this.#host.assertNoDeadlock();
		return "idle";
	}
	/** @throws UsageError `SCHEDULER_CHOICE` where there are no rounds and nothing would ever happen again */
	#endRound(ready) {globalThis.__t?.("runtime/schedulers/drive.js#endRound@5895");
		if (!this.#byRounds) throw badChoice(this.#scheduler.name, ready, void 0);
		this.#host.endRound();
	}
};
function badChoice(name, ready, place) {globalThis.__t?.("runtime/schedulers/drive.js#badChoice@6013");
	const came = place === void 0 ? "no role while none is running" : `${valueText(place)} (a place may be chosen once)`;
	return new UsageError("SCHEDULER_CHOICE", `Expected the scheduler ${name} to choose among the places 0 to ${ready - 1} of ready, got ${came}.`);
}
export { driverOf };
