import { aFunction, aText, either, object, takes } from "../kernel/argument.js";
import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/agent/net.ts
/** States and the ways between them: how a mind thinks. A stateless definition that any number of agents share. */
var Net = class {
	name;
	#start;
	#states;
	/** @throws UsageError `NET_UNKNOWN_STATE` when the start is none of the states. */
	constructor(parts) {globalThis.__t?.("agent/net.js#constructor@427");
		const shape = {
			name: aText,
			start: either(aText, aFunction),
			states: object("states by their names")
		};
		takes("new Net", "parts", parts, object("an object with name, start and states", shape));
		this.name = parts.name;
		this.#start = parts.start;
		this.#states = new Map(Object.entries(parts.states));
		if (typeof parts.start === "string") this.state(parts.start);
	}
	get stateNames() {globalThis.__t?.("agent/net.js#stateNames get@840");
		return [...this.#states.keys()];
	}
	/** The state in which the work of a memory goes on. */
	startOf(memory) {globalThis.__t?.("agent/net.js#startOf@948");
		return typeof this.#start === "string" ? this.#start : this.#start(memory);
	}
	/** @throws UsageError `NET_UNKNOWN_STATE` */
	state(name) {globalThis.__t?.("agent/net.js#state@1093");
		const state = this.#states.get(name);
		if (state !== void 0) return state;
		throw new UsageError("NET_UNKNOWN_STATE", `Expected a state of the net ${this.name} (${this.stateNames.join(", ")}), got ${String(name)}. Add it to the net's states, or name one that is there.`);
	}
};
export { Net };
