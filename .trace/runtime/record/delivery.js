import "../../message/address.js";
import "../../message/mailbox.js";
import { roleOf } from "./damage.js";
import { OUTSIDE } from "./run-state.js";
// ../../work/wt/lead/src/runtime/record/delivery.ts
/**
* Puts a message into the mailboxes of its recipients. A message that a fork dropped is delivered to nobody.
*
* @param order place of the sender in the order of hiring, or {@link OUTSIDE}
*/
function deliver(state, sent, order) {globalThis.__t?.("runtime/record/delivery.js#deliver@399");
	if (sent.dropped === true) return;
	const { message, to, dead = noAddresses } = sent;
	state.delivered += 1;
	if (state.hasHistory) state.history.add(message);
	for (const name of to) putIntoMailbox(state, roleOf(state, name), message, order);
	for (const address of dead) state.dead.push({
		message,
		reason: {
			kind: "no such address",
			address
		}
	});
	if (order === OUTSIDE) return;
	state.lastSaid = message;
	if (isOutput(message, to)) state.outputs.push(message);
}
const noAddresses = Object.freeze([]);
/** True for a broadcast of a role that nobody watches: it is an output of the run. */
function isOutput(message, to) {globalThis.__t?.("runtime/record/delivery.js#isOutput@1045");
	return to.length === 0 && message.sendTo.includes("<all>");
}
/** The bound of one role's mailbox: its own, else the run's. */
function mailboxOf({ bounds }, { hired }) {globalThis.__t?.("runtime/record/delivery.js#mailboxOf@1206");
	const own = hired.mailbox;
	return {
		limit: own?.limit ?? bounds.mailbox?.limit ?? 1e6,
		overflow: own?.overflow ?? bounds.mailbox?.overflow ?? "refuse"
	};
}
/** Finds the smallest limit of a mailbox anew. */
function measureMailboxes(state) {globalThis.__t?.("runtime/record/delivery.js#measureMailboxes@1464");
	let smallest = state.bounds.mailbox?.limit ?? 1e6;
	for (const { hired } of state.roles.values()) smallest = Math.min(smallest, hired.mailbox?.limit ?? smallest);
	state.smallestMailbox = smallest;
}
/** Delivers held messages that have room now, first come, first served. */
function deliverHeld(state) {globalThis.__t?.("runtime/record/delivery.js#deliverHeld@1776");
	if (state.held.length === 0) return;
	const { held } = state;
	state.held = [];
	for (const one of held) {
		const { role, message, order } = one;
		if (role.waiting >= mailboxOf(state, role).limit) {
			state.held.push(one);
			continue;
		}
		const left = (state.blocked.get(order) ?? 1) - 1;
		if (left === 0) state.blocked.delete(order);
		else state.blocked.set(order, left);
		if (role.mailbox.push(message)) state.ready.add(role);
	}
}
/** A message whose id waits already changes nothing. */
function putIntoMailbox(state, role, message, order) {globalThis.__t?.("runtime/record/delivery.js#putIntoMailbox@2307");
	const { mailbox } = role;
	if (state.delivered <= state.smallestMailbox) {
		if (mailbox.push(message)) state.ready.add(role);
		return;
	}
	const { limit, overflow } = mailboxOf(state, role);
	if (mailbox.size >= limit && overflow === "block" && !mailbox.has(message.id)) {
		state.held.push({
			message,
			role,
			order
		});
		state.blocked.set(order, (state.blocked.get(order) ?? 0) + 1);
		return;
	}
	if (!mailbox.push(message)) return;
	state.ready.add(role);
	if (mailbox.size > limit && overflow === "drop-oldest") dropOldest(state, role);
}
/** Drops the message that has waited longest. Messages that the present activation has taken stay. */
function dropOldest(state, role) {globalThis.__t?.("runtime/record/delivery.js#dropOldest@3020");
	const { mailbox } = role;
	const place = Math.min(role.open?.take ?? role.retry.retake ?? 0, mailbox.size - 1);
	const waiting = place === 0 ? [] : mailbox.popAll();
	const message = place === 0 ? mailbox.pop() : waiting.splice(place, 1)[0];
	for (const kept of waiting) mailbox.push(kept);
	if (message === void 0) return;
	state.dropped += 1;
	state.justDropped = [...state.justDropped, {
		role,
		message
	}];
}
export { deliver, deliverHeld, isOutput, mailboxOf, measureMailboxes };
