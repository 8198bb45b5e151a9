import { UsageError } from "../../kernel/errors.js";
import { ROUTE_TO_NONE } from "../../message/address.js";
import { createMessage } from "../../message/message.js";
// ../../work/wt/lead/src/runtime/replay/fork-copy.ts
/** The copy of an event of the parent: with the id of the fork, without costs, and with the changed messages. */
function forkedEvent(event, copy) {globalThis.__t?.("runtime/replay/fork-copy.js#forkedEvent@337");
	const { runId } = copy;
	switch (event.type) {
		case "run.started": {
			const budget = copy.budget === void 0 ? {} : { budget: copy.budget };
			const about = copy.about === void 0 ? {} : { about: copy.about };
			const { seed = event.seed } = copy;
			return {
				...event,
				runId,
				seed,
				roles: copy.roles,
				parent: copy.parent,
				...budget,
				...about
			};
		}
		case "run.resumed": {
			const { budget: _budget, roles: _roles, ...rest } = event;
			const saved = event.uncertain.reduce((sum, { hold }) => (globalThis.__t?.("runtime/replay/fork-copy.js#saved@885"),(sum + hold)), event.saved ?? 0);
			return {
				...rest,
				runId,
				uncertain: [],
				...saved === 0 ? {} : { saved }
			};
		}
		case "step.started": {
			const { reused: _reused, unpriced: _unpriced, ...rest } = event;
			return {
				...rest,
				runId,
				hold: 0
			};
		}
		case "step.ended": {
			const { usage: _usage, ...rest } = event;
			return {
				...rest,
				runId,
				cost: 0,
				basis: "none",
				saved: event.saved ?? event.cost ?? 0
			};
		}
		case "message": return {
			...event,
			...changed(event, changeOf(copy, event.seq, 0)),
			runId
		};
		case "act.ended": return {
			...event,
			runId,
			said: event.said.map((sent, nth) => (globalThis.__t?.("runtime/replay/fork-copy.js#said@1557"),(changed(sent, changeOf(copy, event.seq, nth)))))
		};
		default: return {
			...event,
			runId
		};
	}
}
/**
* Refuses a change of a message that a role has read or begun to read: the shared past has what the role made of it.
*
* @param state of the parent at the last shared event
* @throws UsageError `FORK_CHANGE`
*/
function assertUnread(change, sent, state) {globalThis.__t?.("runtime/replay/fork-copy.js#assertUnread@1891");
	const readers = state.pending.some((waiting) => (globalThis.__t?.("runtime/replay/fork-copy.js#readers@1972"),(waiting.sent.message.id === sent.message.id))) ? [] : sent.to.filter((name) => (globalThis.__t?.("runtime/replay/fork-copy.js#readers@2052"),(!isWaiting(state, name, sent.message.id))));
	if (readers.length === 0) return;
	throw new UsageError("FORK_CHANGE", `Expected a message that nobody has read at event ${state.seq - 1}, but ${readers.join(", ")} has read that of event ${change.seq}. Fork at ${change.seq}.`);
}
/** Refuses two changes of one message. @throws UsageError `FORK_CHANGE` */
function assertDistinct(changes) {globalThis.__t?.("runtime/replay/fork-copy.js#assertDistinct@2413");
	const known = /* @__PURE__ */ new Set();
	for (const { seq, nth = 0 } of changes) {
		const place = `${seq} ${nth}`;
		if (known.has(place)) throw new UsageError("FORK_CHANGE", `Expected one change for a message, got two for message ${nth} of event ${seq}. Make them one.`);
		known.add(place);
	}
}
/** The message that a change names. @throws UsageError `FORK_CHANGE` when the event has no such message */
function changedMessage(event, { seq, nth = 0 }) {globalThis.__t?.("runtime/replay/fork-copy.js#changedMessage@2857");
	const sent = event.type === "message" ? [event] : event.type === "act.ended" ? event.said : [];
	const found = sent[nth];
	if (found?.dropped === true) throw new UsageError("FORK_CHANGE", `Expected a message that was said, but that of event ${seq} was dropped. Fork the run it was dropped from.`);
	if (found !== void 0) return found;
	throw new UsageError("FORK_CHANGE", `Expected event ${seq} to tell of a message number ${nth}, counted from 0, but it is "${event.type}" and has ${sent.length}.`);
}
function isWaiting(state, role, id) {globalThis.__t?.("runtime/replay/fork-copy.js#isWaiting@3411");
	const { mailbox, open } = state.roles.get(role) ?? {};
	return (mailbox?.peek(mailbox.size).findIndex((message) => (globalThis.__t?.("runtime/replay/fork-copy.js#anonymous@3552"),(message.id === id))) ?? -1) >= (open?.take ?? 0);
}
function changeOf({ changes }, seq, nth) {globalThis.__t?.("runtime/replay/fork-copy.js#changeOf@3615");
	return changes.find((change) => (globalThis.__t?.("runtime/replay/fork-copy.js#anonymous@3679"),(change.seq === seq && (change.nth ?? 0) === nth)));
}
function changed(sent, change) {globalThis.__t?.("runtime/replay/fork-copy.js#changed@3743");
	if (change === void 0) return sent;
	if (change.drop === true) return {
		message: createMessage(sent.message.content, {
			...sent.message,
			sendTo: [ROUTE_TO_NONE]
		}),
		to: [],
		dropped: true
	};
	return {
		...sent,
		message: edited(sent.message, change)
	};
}
function edited(message, change) {globalThis.__t?.("runtime/replay/fork-copy.js#edited@4048");
	const { content = message.content } = change;
	const { instructContent: before, ...rest } = message;
	const isOther = content !== message.content;
	const payload = change.instructContent ?? (isOther ? void 0 : before);
	return createMessage(content, {
		...rest,
		...payload === void 0 ? {} : { instructContent: payload }
	});
}
export { assertDistinct, assertUnread, changedMessage, forkedEvent };
