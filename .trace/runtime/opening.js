import { recordedScheduler } from "./schedulers/scheduler.js";
import { hiredRole } from "./hired-roles.js";
// ../../work/wt/lead/src/runtime/opening.ts
/**
* Tells how a run without a journal began, and who was hired since. It owns which of its roles were told; the roles are the hired roles'.
*
* Opening.O1 (`tell`) the start is the first event, and is recorded once, with everybody who is hired by then. Opening.O2 (`tell`) whoever
* is hired later is told before the next event that follows from it. Opening.O3 (`RunLog.recordKnown`) no event is made where nobody listens.
*/
var Opening = class {
	#log;
	#hired;
	#scheduler;
	#isTold = false;
	/** Names of those who were hired since it was told last. */
	#untold = [];
	constructor(log, hired, scheduler) {globalThis.__t?.("runtime/opening.js#constructor@740");
		this.#log = log;
		this.#hired = hired;
		this.#scheduler = scheduler;
	}
	/** Notes that somebody was hired. The start tells all who came before it. */
	hired(name) {globalThis.__t?.("runtime/opening.js#hired@927");
		if (this.#isTold) this.#untold.push(name);
	}
	/** To be called before another event is recorded. */
	tell() {globalThis.__t?.("runtime/opening.js#tell@1044");
		if (!this.#isTold) {
			this.#isTold = true;
			this.#log.recordKnown("run.started", () => (globalThis.__t?.("runtime/opening.js#anonymous@1136"),(this.#start())));
		} else if (this.#untold.length > 0) {
			const names = this.#untold;
			this.#untold = [];
			this.#log.recordKnown("run.resumed", () => ((globalThis.__t?.("runtime/opening.js#anonymous@1291"),({
				type: "run.resumed",
				uncertain: [],
				roles: this.#roles(names),
				hired: true
			}))));
		}
	}
	#start() {globalThis.__t?.("runtime/opening.js#start@1413");
		const { seed, bounds } = this.#log.state;
		const bounded = bounds.mailbox === void 0 ? {} : { bounds: { mailbox: bounds.mailbox } };
		return {
			type: "run.started",
			team: "environment",
			roles: this.#roles(this.#hired.names),
			seed,
			...recordedScheduler(this.#scheduler),
			...bounded
		};
	}
	#roles(names) {globalThis.__t?.("runtime/opening.js#roles@1735");
		return names.flatMap((name) => {globalThis.__t?.("runtime/opening.js#anonymous@1768");
			const spec = this.#hired.specOf(name);
			return spec === void 0 ? [] : [hiredRole(spec.role, name)];
		});
	}
};
export { Opening };
