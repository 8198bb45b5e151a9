import { JournalError } from "../../kernel/errors.js";
import { roleNameIn } from "./names.js";
// ../../work/wt/lead/src/runtime/record/damage.ts
/** The error for events that contradict each other. */
function damaged(what, cause) {globalThis.__t?.("runtime/record/damage.js#damaged@203");
	return new JournalError("JOURNAL_DAMAGED", `Expected a run's own record, got one that contradicts itself: ${what}.`, { cause });
}
/** @throws JournalError `JOURNAL_DAMAGED` when the run never hired a role of that name. */
function roleOf(state, name) {globalThis.__t?.("runtime/record/damage.js#roleOf@459");
	const role = state.roles.get(name);
	if (role === void 0) throw damaged(`it names role ${name}, which was never hired`);
	return role;
}
/** @throws JournalError `JOURNAL_DAMAGED` when no activation of that name is open. */
function openNamed(state, activation) {globalThis.__t?.("runtime/record/damage.js#openNamed@715");
	const { open } = roleOf(state, roleNameIn(activation));
	if (open?.act !== activation) throw damaged(`it names activation ${activation}, which is not open`);
	return open;
}
export { damaged, openNamed, roleOf };
