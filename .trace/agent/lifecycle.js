import "../kernel/argument.js";
import { UsageError } from "../kernel/errors.js";
const MOVES = {
	IDLE: {
		start: "RUNNING",
		reset: "IDLE"
	},
	RUNNING: {
		step: "RUNNING",
		finish: "FINISHED",
		fail: "ERROR",
		give_up: "IDLE"
	},
	FINISHED: { reset: "IDLE" },
	ERROR: { reset: "IDLE" }
};
/** The state after a move; undefined when it is illegal. */
function moved(state, move) {globalThis.__t?.("agent/lifecycle.js#moved@359");
	const legal = MOVES[state];
	return Object.hasOwn(legal, move) ? legal[move] : void 0;
}
/**
* The state of one agent and the steps of its run. It owns both.
*
* `Lifecycle.L1` the state changes by legal moves alone; a refused move changes nothing (`move`). `Lifecycle.L2` `FINISHED` and `ERROR`
* stay until a reset (`MOVES`). `Lifecycle.L3` `steps` counts the steps of the latest run: it starts at 0 with each (`move`).
*/
var Lifecycle = class {
	#state = "IDLE";
	#steps = 0;
	get state() {globalThis.__t?.("agent/lifecycle.js#state get@880");
		return this.#state;
	}
	get steps() {globalThis.__t?.("agent/lifecycle.js#steps get@920");
		return this.#steps;
	}
	/** @throws UsageError `AGENT_TRANSITION` for a move that is not legal in the present state. */
	move(move, tell) {globalThis.__t?.("agent/lifecycle.js#move@1052");
		const from = this.#state;
		const to = moved(from, move);
		if (to === void 0) throw refused(from, move);
		if (move === "start") this.#steps = 0;
		if (move === "step") this.#steps++;
		this.#state = to;
		tell?.(move, from, to);
		return to;
	}
};
function refused(from, move) {globalThis.__t?.("agent/lifecycle.js#refused@1319");
	const legal = Object.keys(MOVES[from]).join(", ");
	return new UsageError("AGENT_TRANSITION", `Expected a move that an agent can make in state ${from} (${legal}), got ${move}. Wait until its run has ended, or reset it first.`, { data: {
		state: from,
		move
	} });
}
export { Lifecycle, moved };
