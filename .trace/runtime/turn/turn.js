import { isSuspicious } from "../record/run-state.js";
import { recordBegin } from "./commit.js";
import { RoleTurn } from "./role-turn.js";
import { stepTurn } from "./step-turn.js";
// ../../work/wt/lead/src/runtime/turn/turn.ts
/**
* One turn of a role: it observes, thinks, acts, and what it changed takes effect by one event. An attempt that fails is tried again as the
* failure policy says; a replay takes the attempts one by one. The turn is over at once where nothing in it waits.
*
* @throws the error that broke the journal
*/
function takeTurn(tools, definition, role) {globalThis.__t?.("runtime/turn/turn.js#takeTurn@538");
	for (;;) {
		const result = attempt(tools, definition, role);
		if (result instanceof Promise) return result.then((end) => (globalThis.__t?.("runtime/turn/turn.js#anonymous@698"),(end === "retry" ? again(tools, definition, role) : end)));
		if (result !== "retry") return result;
		if (tools.mode === "replay") return { kind: "retried" };
	}
}
function again(tools, definition, role) {globalThis.__t?.("runtime/turn/turn.js#again@869");
	return tools.mode === "replay" ? { kind: "retried" } : takeTurn(tools, definition, role);
}
function attempt(tools, definition, role) {globalThis.__t?.("runtime/turn/turn.js#attempt@1004");
	if (!tools.leavesTraces && !isSuspicious(tools.log.state)) return body(tools, definition, role);
	return leaveTrace(tools, role).then(() => (globalThis.__t?.("runtime/turn/turn.js#anonymous@1183"),(body(tools, definition, role))));
}
function body(tools, definition, role) {globalThis.__t?.("runtime/turn/turn.js#body@1223");
	const begun = begin(tools, role);
	if (definition.spec.mode === "step") return stepTurn(tools, definition.spec, role, begun);
	return new RoleTurn(tools, definition, role, begun).run();
}
function begin({ clock, past }, role) {globalThis.__t?.("runtime/turn/turn.js#begin@1453");
	const { open } = role;
	const now = clock.now();
	if (open !== void 0) return {
		act: open.act,
		take: open.take,
		at: open.at,
		beganAt: now
	};
	const act = role.nextAct;
	return {
		act,
		take: Math.min(role.retry.retake ?? role.waiting, role.waiting),
		at: past.startOf(act) ?? now,
		beganAt: now
	};
}
/** Should the process die of what follows, the record says so. */
async function leaveTrace(tools, role) {globalThis.__t?.("runtime/turn/turn.js#leaveTrace@1875");
	const { log } = tools;
	if (role.open === void 0) recordBegin(tools, role, begin(tools, role));
	else log.record({
		type: "act.resumed",
		act: role.open.act
	});
	await log.durable();
}
export { takeTurn };
