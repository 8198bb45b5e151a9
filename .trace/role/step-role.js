import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/role/step-role.ts
const LISTS = ["actions", "reactions"];
const VALUES = [
	"reactMode",
	"maxReactLoop",
	"model",
	"tools",
	"agent",
	"memoryLimit",
	"planTasks"
];
const METHODS = [
	"observe",
	"think",
	"act",
	"react"
];
/**
* Refuses a step function beside which there is something else for the role to do: nobody would ever do it.
*
* @throws UsageError `ROLE_INVALID`
*/
function assertStepAlone(role) {globalThis.__t?.("role/step-role.js#assertStepAlone@457");
	const part = otherPart(role);
	if (part !== void 0) throw new UsageError("ROLE_INVALID", `Expected role ${role.name} to have a step function and nothing else to do, got ${part} too. Leave ${part} out, or write react instead of step.`);
	if (/^\[object (Async|Generator|AsyncGenerator)Function\]$/.test(Object.prototype.toString.call(role.step))) throw new UsageError("ROLE_INVALID", `Expected step of role ${role.name} to be a plain function, got one that waits. Write step(state, message, out) { ... }; what waits belongs into react.`);
}
function otherPart(role) {globalThis.__t?.("role/step-role.js#otherPart@1031");
	const base = baseOf(role);
	return LISTS.find((part) => (globalThis.__t?.("role/step-role.js#anonymous@1105"),(role[part].length > 0))) ?? VALUES.find((part) => (globalThis.__t?.("role/step-role.js#anonymous@1153"),(role[part] !== void 0))) ?? METHODS.find((part) => (globalThis.__t?.("role/step-role.js#anonymous@1202"),(role[part] !== base[part]))) ?? (role.human ? "human" : void 0) ?? (role.memory === void 0 || role.memory === false ? void 0 : "memory");
}
/** Where the methods stand that a role has not changed: the class that all roles are of, in whichever copy of this package. */
function baseOf(role) {globalThis.__t?.("role/step-role.js#baseOf@1478");
	let base = role;
	for (;;) {
		const above = Object.getPrototypeOf(base);
		if (above === null || !("react" in above)) return base;
		base = above;
	}
}
export { assertStepAlone };
