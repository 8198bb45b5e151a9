import { nextMacrotask } from "../kernel/clock.js";
// ../../work/wt/lead/src/testing/simulated-clock.ts
/**
* A clock that moves only when told to, so that a test of hours takes no time and always goes the same way.
*
* S1 timers fire in order of their due time, those of one time in the order they were set. S2 between two of them, and before
* the first and after the last, every promise reaction that is ready runs, so a timer that a reaction sets is seen in time.
* S3 while a timer fires, `now()` is its due time. S4 calls of `advance` and `advanceToNext` run one after another, in the order made.
*/
var SimulatedClock = class {
	#now;
	/** In the order they fire. */
	#timers = [];
	#turn = Promise.resolve();
	/** @param start milliseconds since 1970 */
	constructor(start = 0) {globalThis.__t?.("testing/simulated-clock.js#constructor@775");
		this.#now = start;
	}
	now() {globalThis.__t?.("testing/simulated-clock.js#now@817");
		return this.#now;
	}
	/** How many timers wait. */
	get pending() {globalThis.__t?.("testing/simulated-clock.js#pending get@887");
		return this.#timers.length;
	}
	/** Never fires at once: a timer of 0 ms waits for the next `advance`, as a real one waits for the event loop. */
	timer(ms, fire) {globalThis.__t?.("testing/simulated-clock.js#timer@1046");
		const timer = {
			due: this.#now + (ms > 0 ? ms : 0),
			fire
		};
		const later = this.#timers.findIndex((other) => (globalThis.__t?.("testing/simulated-clock.js#later@1168"),(other.due > timer.due)));
		this.#timers.splice(later === -1 ? this.#timers.length : later, 0, timer);
		return () => {globalThis.__t?.("testing/simulated-clock.js#anonymous@1289");
			this.#timers = this.#timers.filter((other) => (globalThis.__t?.("testing/simulated-clock.js#anonymous@1335"),(other !== timer)));
		};
	}
	/**
	* Moves time on by `ms` and fires what comes due on the way. Rejects with what a timer threw.
	*
	* @throws RangeError when `ms` is negative or not finite.
	*/
	advance(ms) {globalThis.__t?.("testing/simulated-clock.js#advance@1546");
		if (!Number.isFinite(ms) || ms < 0) return Promise.reject(/* @__PURE__ */ new RangeError(`Expected to advance by a finite number of milliseconds, 0 or more, got ${ms}.`));
		return this.#afterOthers(async () => {globalThis.__t?.("testing/simulated-clock.js#anonymous@1754");
			const end = this.#now + ms;
			await nextMacrotask();
			while (await this.#fireNext(end));
			this.#now = end;
		});
	}
	/** Moves time on to the next timer and fires it; false when none waits. */
	advanceToNext() {globalThis.__t?.("testing/simulated-clock.js#advanceToNext@1983");
		return this.#afterOthers(async () => {globalThis.__t?.("testing/simulated-clock.js#anonymous@2015");
			await nextMacrotask();
			return this.#fireNext(Number.MAX_VALUE);
		});
	}
	async #fireNext(end) {globalThis.__t?.("testing/simulated-clock.js#fireNext@2124");
		const next = this.#timers[0];
		if (next === void 0 || next.due > end) return false;
		this.#timers.shift();
		this.#now = next.due;
		next.fire();
		await nextMacrotask();
		return true;
	}
	#afterOthers(work) {globalThis.__t?.("testing/simulated-clock.js#afterOthers@2338");
		const turn = this.#turn.then(work);
		this.#turn = turn.catch(() => {globalThis.__t?.("testing/simulated-clock.js#anonymous@2411");});
		return turn;
	}
};
/**
* A {@link SimulatedClock} that starts at `start` (default 0) milliseconds since 1970.
*
* @example
* import { simulatedClock } from "troupe/testing";
*
* const clock = simulatedClock(1_000);
* console.log(clock.now()); // 1000
*/
function simulatedClock(start = 0) {globalThis.__t?.("testing/simulated-clock.js#simulatedClock@2678");
	return new SimulatedClock(start);
}
export { SimulatedClock, simulatedClock };
