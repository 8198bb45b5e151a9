import { Memory } from "../../memory/memory.js";
import { Plan } from "../../role/plan.js";
import { NOTHING_SUMMED_UP } from "../../memory/summary-levels.js";
import { MessageQueue } from "../../message/message-queue.js";
import { activationId } from "./names.js";
// ../../work/wt/lead/src/runtime/record/role-state.ts
/** The retry state of an activation that has not failed. */
const NO_RETRY = Object.freeze({
	failures: 0,
	strikes: 0,
	isolated: 0,
	carry: /* @__PURE__ */ new Map(),
	paid: /* @__PURE__ */ new Map(),
	retake: void 0
});
const WAITING = Object.freeze({
	kind: "waiting",
	retry: NO_RETRY
});
/** The plan of a role that has none. It is shared: a plan in a state is replaced and never changed. */
const NO_PLAN = new Plan({ goal: "" });
const NO_JOINS = Object.freeze({});
/** Parts that most roles of a large population never have. */
var RareParts = class {
	activation = WAITING;
	plan = NO_PLAN;
	joins = NO_JOINS;
	summary = NOTHING_SUMMED_UP;
	workingMemory;
	hiredAgain;
};
/**
* What one role holds in one run: its mailbox, memories, plan, custom state and present activation. `apply` is its only writer.
*
* RoleState.R1 (`mailbox`, `memory`, `#rare`) a part is made when it is first needed: a role that waits is its name, its place and a shared
* definition. RoleState.R2 (`#hired`) the first definition gives the state and the memory limit a role begins with, also when it is hired
* again by another.
*/
var RoleState = class {
	name;
	/** Place in the order of hiring. */
	index;
	/** Activations that have ended. */
	n = 0;
	/** The last round in which it ended an activation; -1 for none. */
	ranIn = -1;
	/** Replaced and never changed. */
	custom;
	#hired;
	#mailbox;
	#memory;
	#rare;
	constructor(name, index, hired) {globalThis.__t?.("runtime/record/role-state.js#constructor@1738");
		this.name = name;
		this.index = index;
		this.custom = hired.state;
		this.#hired = hired;
	}
	/** What it is hired as now. */
	get hired() {globalThis.__t?.("runtime/record/role-state.js#hired get@1901");
		return this.#rare?.hiredAgain ?? this.#hired;
	}
	get fingerprint() {globalThis.__t?.("runtime/record/role-state.js#fingerprint get@1973");
		return this.hired.fingerprint;
	}
	get traits() {globalThis.__t?.("runtime/record/role-state.js#traits get@2025");
		return this.hired.traits;
	}
	/** Hires it by another definition. What it holds stays. */
	hireAgain(as) {globalThis.__t?.("runtime/record/role-state.js#hireAgain@2132");
		this.#parts.hiredAgain = as;
	}
	get mailbox() {globalThis.__t?.("runtime/record/role-state.js#mailbox get@2185");
		return this.#mailbox ??= new MessageQueue();
	}
	/** How many messages wait. */
	get waiting() {globalThis.__t?.("runtime/record/role-state.js#waiting get@2284");
		return this.#mailbox === void 0 ? 0 : this.#mailbox.size;
	}
	/** The first `most` messages that wait, without taking them; fewer when fewer wait. Default: all of them. */
	news(most = this.waiting) {globalThis.__t?.("runtime/record/role-state.js#news@2468");
		return this.#mailbox === void 0 ? noNews : this.#mailbox.peek(most);
	}
	get memory() {globalThis.__t?.("runtime/record/role-state.js#memory get@2577");
		const { memoryLimit } = this.#hired;
		return this.#memory ??= memoryLimit === void 0 ? new Memory() : new Memory({ limit: memoryLimit });
	}
	get workingMemory() {globalThis.__t?.("runtime/record/role-state.js#workingMemory get@2744");
		return this.#parts.workingMemory ??= new Memory();
	}
	get plan() {globalThis.__t?.("runtime/record/role-state.js#plan get@2814");
		return this.#rare === void 0 ? NO_PLAN : this.#rare.plan;
	}
	set plan(plan) {globalThis.__t?.("runtime/record/role-state.js#plan@2891");
		this.#parts.plan = plan;
	}
	get joins() {globalThis.__t?.("runtime/record/role-state.js#joins get@2940");
		return this.#rare === void 0 ? NO_JOINS : this.#rare.joins;
	}
	set joins(joins) {globalThis.__t?.("runtime/record/role-state.js#joins@3020");
		this.#parts.joins = joins;
	}
	get summary() {globalThis.__t?.("runtime/record/role-state.js#summary get@3074");
		return this.#rare === void 0 ? NOTHING_SUMMED_UP : this.#rare.summary;
	}
	set summary(summary) {globalThis.__t?.("runtime/record/role-state.js#summary@3167");
		this.#parts.summary = summary;
	}
	get activation() {globalThis.__t?.("runtime/record/role-state.js#activation get@3230");
		return this.#rare === void 0 ? WAITING : this.#rare.activation;
	}
	set activation(activation) {globalThis.__t?.("runtime/record/role-state.js#activation@3319");
		if (this.#rare !== void 0 || activation !== WAITING) this.#parts.activation = activation;
	}
	/** The activation that has begun in the record, if one has. */
	get open() {globalThis.__t?.("runtime/record/role-state.js#open get@3503");
		const { activation } = this;
		return activation.kind === "open" ? activation.open : void 0;
	}
	get retry() {globalThis.__t?.("runtime/record/role-state.js#retry get@3616");
		return this.activation.retry;
	}
	/** The name of its next activation, or of the next attempt at it. */
	get nextAct() {globalThis.__t?.("runtime/record/role-state.js#nextAct get@3739");
		return activationId(this.name, this.n, this.retry.failures + 1);
	}
	/** Ends the present activation for good. Of its attempts only the messages that are still to be tried alone are kept. */
	completeActivation() {globalThis.__t?.("runtime/record/role-state.js#completeActivation@3956");
		this.n += 1;
		const isolated = this.retry.isolated - 1;
		this.activation = isolated > 0 ? {
			kind: "waiting",
			retry: {
				...NO_RETRY,
				isolated,
				retake: 1
			}
		} : WAITING;
	}
	get #parts() {globalThis.__t?.("runtime/record/role-state.js#parts get@4168");
		return this.#rare ??= new RareParts();
	}
};
const noNews = Object.freeze([]);
export { NO_RETRY, RoleState };
