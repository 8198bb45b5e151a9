import { Memory } from "../../memory/memory.js";
import { MAILBOX_LIMIT } from "../../message/mailbox.js";
import { Ledger, SpendingTable } from "../../model/ledger.js";
import { RoleState } from "./role-state.js";
// ../../work/wt/lead/src/runtime/record/run-state.ts
/** The place of senders outside in the order of hiring: behind all roles. */
const OUTSIDE = Number.MAX_SAFE_INTEGER;
const noBounds = Object.freeze({});
/**
* The state of a run: the fold of its events. It owns what its roles hold, what waits to be delivered, spending, and where every activation
* stands. Definitions belong to the team. `apply` is its only writer.
*
* RunState.S1 (`ready`) it holds exactly the roles with mail, in the order in which they got it; a role that has acted and still has mail
* stands last. RunState.S2 a role has at most one open activation. RunState.S3 a message that waits for the end of a round is in `pending`,
* one that waits for room is in `held`, and a delivered message is in one mailbox for each recipient. RunState.S4 `ledger`, `byRole` and
* `byModel` are sums of the step events. RunState.S5 `history`, `outputs` and `dead` only grow.
*
* @example
* import { fold, type RunEvent, type RunState } from "troupe";
*
* export function namesOf(events: readonly RunEvent[]): string[] {
*   const state: RunState = fold(events);
*   return [...state.roles.keys()];
* }
*/
var RunState = class {
	runId;
	seed = "";
	scheduler = "rounds";
	parameters = null;
	/** When messages of roles are delivered. */
	delivery = "round";
	budget;
	bounds = noBounds;
	/** What its starter keeps with the run. */
	about = null;
	parent;
	/** True when its parent answers no step after the events they share. */
	isAfresh = false;
	phase = { phase: "running" };
	/** The roles it began with, or was forced to go on with: `roles` has everyone there ever was. */
	team = [];
	roles = /* @__PURE__ */ new Map();
	ready = /* @__PURE__ */ new Set();
	/** Activations that have ended in the present round. */
	acted = 0;
	/** Names of the roles with an open activation. */
	open = /* @__PURE__ */ new Set();
	round = 0;
	/** Activations that have ended. */
	activations = 0;
	/** Most activations that one role has ended. */
	busiest = 0;
	/** Every message that was delivered, in order. */
	history = new Memory();
	hasHistory;
	pending = [];
	/** Messages delivered so far, however many heard each. */
	delivered = 0;
	/** The smallest limit of a mailbox. */
	smallestMailbox = MAILBOX_LIMIT;
	held = [];
	/** How many held messages each sender has, by its place in the order of hiring. */
	blocked = /* @__PURE__ */ new Map();
	/** Messages that left full mailboxes unread. */
	dropped = 0;
	/** Those of them that the last event dropped. */
	justDropped = [];
	outputs = [];
	/** The last delivered message of a role. */
	lastSaid;
	dead = [];
	/** How many dead letters there were when the last round ended. */
	deadBefore = 0;
	ledger = new Ledger();
	byRole = new SpendingTable();
	/** Money that others spent inside a step belongs to no model. */
	byModel = new SpendingTable();
	/** Micro-dollars of holds settled at a resume: nobody knows whether those calls were paid. */
	uncertain = 0;
	/** Answers taken from the parent of a fork after the events they share. */
	reused = 0;
	/** Those of them that models had given. */
	reusedCalls = 0;
	/** Micro-dollars that those answers and the shared events had cost in the parent. */
	saved = 0;
	/** Answers of models that were called in this run. */
	calls = 0;
	/** Times the process died since anything moved. */
	stalled = 0;
	/** Roles whose open activation may be why it died. */
	suspects = /* @__PURE__ */ new Set();
	/** Messages published from outside. */
	outside = 0;
	/** Sequence number of the next event. */
	seq = 0;
	/** @param hasHistory false where delivered messages are not kept */
	constructor(runId, hasHistory = true) {globalThis.__t?.("runtime/record/run-state.js#constructor@3859");
		this.runId = runId;
		this.hasHistory = hasHistory;
	}
};
/** Adds a role with an empty mailbox. */
function addRoleState(state, name, hired) {globalThis.__t?.("runtime/record/run-state.js#addRoleState@3990");
	const role = new RoleState(name, state.roles.size, hired);
	state.roles.set(name, role);
	if (hired.mailbox?.limit !== void 0) state.smallestMailbox = Math.min(state.smallestMailbox, hired.mailbox.limit);
	return role;
}
/** Notes that something moved: what the process died of before did not hold up everything. */
function progress(state) {globalThis.__t?.("runtime/record/run-state.js#progress@4351");
	if (!isSuspicious(state)) return;
	state.stalled = 0;
	for (const name of state.suspects) {
		const open = state.roles.get(name)?.open;
		if (open !== void 0) open.crashes = 0;
	}
	state.suspects.clear();
}
/** True when the process died and the activation it died of may still be ahead. */
function isSuspicious(state) {globalThis.__t?.("runtime/record/run-state.js#isSuspicious@4670");
	return state.stalled > 0 || state.suspects.size > 0;
}
/** True when the process died so often that activations must run one by one, for the one at fault to be known. */
function isGrave(state) {globalThis.__t?.("runtime/record/run-state.js#isGrave@4872");
	return state.stalled > 1 || [...state.suspects].some((name) => (globalThis.__t?.("runtime/record/run-state.js#anonymous@4952"),((state.roles.get(name)?.open?.crashes ?? 0) > 1)));
}
/** Rounds so far. Where messages are delivered at once there are no rounds: the most activations of one role count instead. */
function roundsOf(state) {globalThis.__t?.("runtime/record/run-state.js#roundsOf@5142");
	return state.delivery === "round" ? state.round : state.busiest;
}
export { OUTSIDE, RunState, addRoleState, isGrave, isSuspicious, progress, roundsOf };
