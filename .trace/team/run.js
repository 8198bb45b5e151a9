import { AbortedError } from "../kernel/errors.js";
import { deepFreeze } from "../kernel/json.js";
import { ObserverRegistry } from "../runtime/observers.js";
// ../../work/wt/lead/src/team/run.ts
/**
* A run under way, returned by {@link Team.run}. `result` never rejects: its status and error say how the run ended. Iterate a run to get
* its events, from the first one, also after it has ended.
*
* H1 an iterator yields only durable events, all of them, in order, and ends when the run has. H2 `stop` leaves what is under way open, so
* that the run can go on later.
*
* @example
* import { defineAction, defineRole, type Run, Team } from "troupe";
*
* const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
* const run: Run = new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })] }).run("hello");
* for await (const event of run) if (event.type === "act.ended") console.log(event.role, event.said[0]?.message.content); // Sam HELLO
* console.log((await run.result).status); // finished
*/
var Run = class {
	id;
	result;
	#journal;
	#observers = new ObserverRegistry();
	#abort = new AbortController();
	#phase = "starting";
	#isKnown = false;
	#isStopped;
	#growth = 0;
	#wake = [];
	#pause;
	constructor(id, journal, signal, drive) {globalThis.__t?.("team/run.js#constructor@1253");
		this.id = id;
		this.#journal = journal;
		const own = this.#abort.signal;
		const controls = {
			id,
			observers: this.#observers,
			signal: signal === void 0 ? own : AbortSignal.any([own, signal]),
			grew: () => (globalThis.__t?.("team/run.js#grew@1498"),(this.#grew())),
			started: () => (globalThis.__t?.("team/run.js#started@1530"),(this.#becomeRunning())),
			resumed: () => (globalThis.__t?.("team/run.js#resumed@1571"),(this.#pause === void 0 ? void 0 : this.#pauseOver()))
		};
		const { signal: stopped } = controls;
		const proceed = () => (globalThis.__t?.("team/run.js#proceed@1692"),(this.proceed()));
		stopped.addEventListener("abort", proceed, { once: true });
		this.#isStopped = () => (globalThis.__t?.("team/run.js#anonymous@1796"),(stopped.aborted));
		this.result = drive(controls).finally(() => {globalThis.__t?.("team/run.js#anonymous@1859");
			stopped.removeEventListener("abort", proceed);
			this.#phase = "ended";
			this.#grew();
		});
	}
	async *[Symbol.asyncIterator]() {globalThis.__t?.("team/run.js#Run@1999");
		let next = 0;
		for (;;) {
			const phase = this.#phase;
			const growth = this.#growth;
			if (this.#isKnown) for await (const event of this.#journal.read(this.id, next)) {
				next = event.seq + 1;
				yield deepFreeze(event);
			}
			if (phase === "ended") return;
			if (growth === this.#growth) await new Promise((resolve) => (globalThis.__t?.("team/run.js#anonymous@2324"),(void this.#wake.push(resolve))));
		}
	}
	/** Calls `listener` for every event or notice of a type, as it comes; the returned function stops that. */
	on(type, listener) {globalThis.__t?.("team/run.js#on@2488");
		return this.#observers.on(type, listener);
	}
	/** Stops calls in flight and ends the run with status `stopped`. What was under way stays open. */
	stop(reason = "the run was asked to stop") {globalThis.__t?.("team/run.js#stop@2661");
		this.#abort.abort(new AbortedError(reason));
		this.proceed();
	}
	/** Lets no further activation start until {@link proceed}; those under way go on. A run that was stopped is not paused. */
	pause() {globalThis.__t?.("team/run.js#pause@2901");
		if (this.#pause !== void 0 || this.#isStopped()) return;
		let end = () => {globalThis.__t?.("team/run.js#end@2977");};
		const over = new Promise((resolve) => (globalThis.__t?.("team/run.js#over@3014"),(end = resolve)));
		this.#pause = {
			over,
			end
		};
	}
	/** Ends a pause. */
	proceed() {globalThis.__t?.("team/run.js#proceed@3115");
		this.#pause?.end();
		this.#pause = void 0;
	}
	#becomeRunning() {globalThis.__t?.("team/run.js#becomeRunning@3184");
		this.#phase = "running";
		this.#isKnown = true;
		this.#grew();
	}
	async #pauseOver() {globalThis.__t?.("team/run.js#pauseOver@3276");
		while (this.#pause !== void 0) await this.#pause.over;
	}
	#grew() {globalThis.__t?.("team/run.js#grew@3347");
		this.#growth += 1;
		const waiting = this.#wake;
		this.#wake = [];
		for (const wake of waiting) wake();
	}
};
export { Run };
