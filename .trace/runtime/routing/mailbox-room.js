import { QueueFullError } from "../../kernel/errors.js";
import { mailboxOf } from "../record/delivery.js";
// ../../work/wt/lead/src/runtime/routing/mailbox-room.ts
/** @throws QueueFullError `MAILBOX_FULL` where somebody outside says what has no room */
function assertRoomOutside(state, to) {globalThis.__t?.("runtime/routing/mailbox-room.js#assertRoomOutside@256");
	if (isSurelyRoom(state, 1)) return;
	for (const name of to) {
		const role = state.roles.get(name);
		if (role === void 0) continue;
		const { limit, overflow } = mailboxOf(state, role);
		if (overflow === "drop-oldest") continue;
		if (role.waiting + waitingAtBarrier(state.pending, name) >= limit) throw full(name, limit, "from outside");
	}
}
/**
* @param take how many of its own messages go with the activation
* @throws QueueFullError `MAILBOX_FULL` where an activation says what has no room
*/
function assertRoomForAct(state, speaker, said, take) {globalThis.__t?.("runtime/routing/mailbox-room.js#assertRoomForAct@798");
	if (isSurelyRoom(state, said.length)) return;
	const counts = /* @__PURE__ */ new Map();
	for (const { to } of said) for (const name of to) counts.set(name, (counts.get(name) ?? 0) + 1);
	for (const [name, count] of counts) {
		const role = state.roles.get(name);
		if (role === void 0) continue;
		const { limit, overflow } = mailboxOf(state, role);
		if (overflow !== "refuse") continue;
		if ((state.delivery === "round" ? 0 : role.waiting - (role === speaker ? take : 0)) + count > limit) throw full(name, limit, speaker.name);
	}
}
/** What is wrong where the first message of a round finds no room at its end; undefined: there is room for all. */
function fullAtBarrier(state) {globalThis.__t?.("runtime/routing/mailbox-room.js#fullAtBarrier@1508");
	if (isSurelyRoom(state, 0)) return void 0;
	const counts = /* @__PURE__ */ new Map();
	for (const { sent } of state.pending.toSorted((a, b) => (globalThis.__t?.("runtime/routing/mailbox-room.js#anonymous@1674"),(a.order - b.order)))) {
		if (sent.dropped === true) continue;
		for (const name of sent.to) {
			const role = state.roles.get(name);
			if (role === void 0) continue;
			const { limit, overflow } = mailboxOf(state, role);
			if (overflow !== "refuse") continue;
			const count = (counts.get(name) ?? role.waiting) + 1;
			if (count > limit) return full(name, limit, sent.message.sentFrom);
			counts.set(name, count);
		}
	}
}
function isSurelyRoom({ delivered, pending, smallestMailbox }, more) {globalThis.__t?.("runtime/routing/mailbox-room.js#isSurelyRoom@2110");
	return delivered + pending.length + more <= smallestMailbox;
}
function waitingAtBarrier(pending, name) {globalThis.__t?.("runtime/routing/mailbox-room.js#waitingAtBarrier@2245");
	return pending.reduce((count, { sent }) => (globalThis.__t?.("runtime/routing/mailbox-room.js#anonymous@2311"),(sent.dropped !== true && sent.to.includes(name) ? count + 1 : count)), 0);
}
function full(name, limit, sender) {globalThis.__t?.("runtime/routing/mailbox-room.js#full@2407");
	return new QueueFullError(limit, "MAILBOX_FULL", `Expected room for a message of ${sender} in the mailbox of ${name}, which is full with ${limit}. Let ${name} act more often, raise its limit, or let it drop or block: mailbox: { limit, overflow }.`, {
		role: name,
		limit
	});
}
/** Everybody who has mail waits for somebody's mailbox to have room. */
function deadlock({ held }) {globalThis.__t?.("runtime/routing/mailbox-room.js#deadlock@2798");
	const names = [...new Set(held.map(({ role }) => (globalThis.__t?.("runtime/routing/mailbox-room.js#names@2864"),(role.name))))].join(", ");
	return new QueueFullError(0, "MAILBOX_DEADLOCK", `Expected somebody who may act, but everybody with mail waits for room in the mailboxes of ${names}. Raise their limits: mailbox: { limit }.`, { waiting: held.length });
}
export { assertRoomForAct, assertRoomOutside, deadlock, fullAtBarrier };
