import { deepFreeze } from "../../kernel/json.js";
// ../../work/wt/lead/src/runtime/record/frozen-event.ts
/**
* Freezes an event or a notice with everything in it. Nearly all are ends of activations that changed memories alone. Those are frozen
* member by member, which takes a quarter of the time of `deepFreeze`.
*/
function freezeObserved(observed) {globalThis.__t?.("runtime/record/frozen-event.js#freezeObserved@321");
	if (observed.type === "act.ended" && changesMemoriesAlone(observed)) freezeEnd(observed);
	else deepFreeze(observed);
}
function changesMemoriesAlone({ state, plan, joins, summary, asked, unrepeated }) {globalThis.__t?.("runtime/record/frozen-event.js#changesMemoriesAlone@478");
	return (state ?? plan ?? joins ?? summary ?? asked ?? unrepeated) === void 0;
}
function freezeEnd(end) {globalThis.__t?.("runtime/record/frozen-event.js#freezeEnd@643");
	Object.freeze(end);
	for (const sent of end.said) {
		const { message, to, dead } = Object.freeze(sent);
		Object.freeze(to);
		if (dead !== void 0) Object.freeze(dead);
		if (!Object.isFrozen(message)) deepFreeze(message);
	}
	Object.freeze(end.said);
	freezeOps(end.memory);
	freezeOps(end.working);
}
/** The list is frozen last: the operations in a frozen list are frozen too. */
function freezeOps(ops) {globalThis.__t?.("runtime/record/frozen-event.js#freezeOps@1054");
	if (Object.isFrozen(ops)) return;
	for (const op of ops) {
		Object.freeze(op);
		if (typeof op[1] !== "string") deepFreeze(op[1]);
	}
	Object.freeze(ops);
}
export { freezeObserved };
