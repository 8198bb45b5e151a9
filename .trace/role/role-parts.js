import { isObject } from "../kernel/value-kind.js";
import { HOW_TO_MAKE_AN_ACTION, isAction } from "./action.js";
import { address, callable, definitionsPart, listPart, misfitIn, misfitText, optional, part, schemaPart, text } from "./part.js";
import { UsageError } from "../kernel/errors.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { valueText } from "../kernel/value-text.js";
import { isFailurePolicy } from "./failure-policy.js";
// ../../work/wt/lead/src/role/role-parts.ts
/**
* Refuses what is no role.
*
* @throws UsageError `ROLE_INVALID`
*/
function assertIsRole(given) {globalThis.__t?.("role/role-parts.js#assertIsRole@584");
	if (isRole(given)) return;
	const todo = isClass(given) ? `Make one: new ${given.name}().` : "Make it by defineRole, or by new of a subclass of Role; under another name it is hired by hire(role, { name }).";
	throw new UsageError("ROLE_INVALID", `Expected a role, got ${valueText(given)}. ${todo}`);
}
/**
* Refuses a list of roles that is none. What is in it is not looked at.
*
* @throws UsageError `ROLE_INVALID`
*/
function rolesIn(given) {globalThis.__t?.("role/role-parts.js#rolesIn@1035");
	if (isObject(given) && Symbol.iterator in given) return given;
	throw new UsageError("ROLE_INVALID", `Expected roles to be a list of roles, got ${valueText(given)}. Write [role].`);
}
/**
* Refuses a role with a part that is not what it is called.
*
* @throws UsageError `ROLE_INVALID`
*/
function assertRoleParts(role) {globalThis.__t?.("role/role-parts.js#assertRoleParts@1351");
	const misfit = misfitIn(role, roleParts);
	if (misfit !== void 0) throw new UsageError("ROLE_INVALID", misfitText(misfit, `role ${role.name}`));
	checkKnownOptions(`agent of role ${JSON.stringify(role.name)}`, role.agent, agentOptions);
}
/** The methods tell a role; whether they are functions is for its parts to say. */
function isRole(given) {globalThis.__t?.("role/role-parts.js#isRole@1708");
	return isObject(given) && "observe" in given && "think" in given && "act" in given && "react" in given;
}
function isClass(given) {globalThis.__t?.("role/role-parts.js#isClass@1840");
	return typeof given === "function" && typeof given.name === "string" && given.name !== "";
}
const action = {
	fits: isAction,
	expected: "an action",
	todo: HOW_TO_MAKE_AN_ACTION
};
const cause = {
	...address,
	todo: "Name the action that causes the message."
};
const count = {
	fits: isCount,
	expected: "a whole number of 1 or more",
	todo: "Leave it out for the default."
};
const modes = [
	"by_cause",
	"by_order",
	"react",
	"plan_and_act",
	"agent"
];
const reactionParts = [
	{
		name: "on",
		misfit: (on) => (globalThis.__t?.("role/role-parts.js#misfit@2380"),((Array.isArray(on) ? listPart("on", cause) : part("on", cause)).misfit(on)))
	},
	optional(listPart("needs", cause)),
	part("do", action)
];
const agentOptions = {
	net: true,
	toolChoice: true,
	nextStepPrompt: true,
	permissions: true,
	parallelTools: true,
	loops: true,
	compaction: true,
	terminate: true,
	systemPrompt: true,
	recent: true
};
const roleParts = [
	...[
		"profile",
		"goal",
		"constraints",
		"description"
	].map((name) => (globalThis.__t?.("role/role-parts.js#roleParts@2824"),(part(name, {
		...text,
		todo: "It is told to models and people."
	})))),
	listPart("actions", action),
	definitionsPart("reactions", {
		fits: isObject,
		expected: "{ on, do }",
		todo: "Write { on: cause, do: action }."
	}, reactionParts),
	listPart("addresses", {
		...text,
		todo: "Write addresses: [\"name\"]."
	}),
	...[
		"observe",
		"think",
		"act",
		"react"
	].map((name) => (globalThis.__t?.("role/role-parts.js#roleParts@3212"),(part(name, {
		...callable,
		todo: `Write ${name}: (rc) => ... .`
	})))),
	...[
		listPart("watch", {
			...address,
			todo: "Write watch: [WriteDraft]."
		}),
		part("planTasks", {
			...callable,
			todo: "Write planTasks: (rc) => [{ id, instruction }]."
		}),
		part("step", {
			...callable,
			todo: "Write step: (state, message, out) => ({ ...state })."
		}),
		schemaPart("state"),
		part("model", {
			fits: isModel,
			expected: "a model",
			todo: "Make one by an adapter: openai({ model: \"...\" })."
		}),
		part("reactMode", {
			fits: (mode) => (globalThis.__t?.("role/role-parts.js#fits@3771"),(modes.includes(mode))),
			expected: modes.join(", "),
			todo: "Leave it out for the default."
		}),
		part("maxReactLoop", count),
		part("memoryLimit", count),
		part("onFailure", {
			fits: isFailurePolicy,
			expected: "\"stop\", \"skip\" or retry(n)",
			todo: "Leave it out for the team's."
		})
	].map(optional),
	part("timeout", {
		fits: isDuration,
		expected: "a number of milliseconds above 0",
		todo: "Leave it out for the default."
	})
];
function isCount(value) {globalThis.__t?.("role/role-parts.js#isCount@4234");
	return Number.isInteger(value) && value >= 1;
}
function isDuration(value) {globalThis.__t?.("role/role-parts.js#isDuration@4309");
	return typeof value === "number" && value > 0;
}
/** Whether a value can be asked, as far as one sees from outside. */
function isModel(value) {globalThis.__t?.("role/role-parts.js#isModel@4458");
	const { chat, stream } = value ?? {};
	return typeof chat === "function" || typeof stream === "function";
}
export { assertIsRole, assertRoleParts, isModel, rolesIn };
