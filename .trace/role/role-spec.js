import { assertRoutableName, assertSameAction } from "./action.js";
import "../agent/lifecycle.js";
import { UsageError } from "../kernel/errors.js";
import { jsonRoundTrip } from "../kernel/json.js";
import { valueText } from "../kernel/value-text.js";
import { checkRoleMemory } from "../memory/role-memory.js";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement, addressOf } from "../message/address.js";
import { isSameJson } from "./action-view.js";
import { checkMailbox } from "../message/mailbox.js";
import { reactionSpec } from "./reaction.js";
import { ToolCollection } from "../tool/tool-collection.js";
import { assertIsRole, assertRoleParts } from "./role-parts.js";
import { assertStepAlone } from "./step-role.js";
// ../../work/wt/lead/src/role/role-spec.ts
const specs = /* @__PURE__ */ new WeakMap();
const reserved = /* @__PURE__ */ new Set([
	ROUTE_TO_ALL,
	ROUTE_TO_NONE,
	ROUTE_TO_SELF
]);
/**
* Looks a role up.
*
* @throws UsageError `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`
*/
function roleSpec(role) {globalThis.__t?.("role/role-spec.js#roleSpec@1047");
	const known = specs.get(role);
	if (known !== void 0) return known;
	const spec = buildSpec(role);
	specs.set(role, spec);
	return spec;
}
/**
* Refuses what cannot be the name of a role: it must be an address.
*
* @throws UsageError `ROLE_INVALID`
*/
function assertRoleName(name) {globalThis.__t?.("role/role-spec.js#assertRoleName@1326");
	if (typeof name === "string" && name.trim() !== "" && !reserved.has(name)) return;
	throw new UsageError("ROLE_INVALID", `Expected a role to have a name that is no routing word, got ${valueText(name)}. Messages reach it by its name.`);
}
function buildSpec(role) {globalThis.__t?.("role/role-spec.js#buildSpec@1597");
	assertIsRole(role);
	assertRoleName(role.name);
	assertRoleParts(role);
	checkRoleMemory(role.memory);
	checkMailbox(role.mailbox);
	const reactions = role.reactions.map(reactionSpec);
	const actions = actionsOf(role, reactions);
	if (role.step !== void 0) assertStepAlone(role);
	const mode = role.step !== void 0 ? "step" : role.reactMode ?? (reactions.length > 0 ? "by_cause" : "react");
	if (mode === "by_cause" && reactions.length === 0 && actions.length > 1) throw new UsageError("ROLE_INVALID", `Expected role ${role.name} in mode by_cause to have reactions, got none. Say which cause leads to which action.`);
	assertToolsAreUsed(role, mode);
	const initialState = initialStateOf(role);
	for (const action of actions) assertStateOf(role, initialState, action);
	return Object.freeze({
		role,
		card: Object.freeze({
			name: role.name,
			profile: role.profile,
			goal: role.goal,
			constraints: role.constraints,
			description: role.description
		}),
		actions,
		reactions,
		watch: watchOf(role, reactions),
		addresses: role.addresses,
		observeAll: role.observeAll,
		mode,
		maxReactLoop: role.maxReactLoop ?? defaultLoop(mode, actions.length),
		initialState
	});
}
function defaultLoop(mode, actions) {globalThis.__t?.("role/role-spec.js#defaultLoop@2810");
	if (mode === "agent") return 30;
	return mode === "by_order" ? actions : 10;
}
/** Tools that nobody would ever use are a misunderstanding. */
function assertToolsAreUsed({ name, tools = [], agent }, mode) {globalThis.__t?.("role/role-spec.js#assertToolsAreUsed@2992");
	if (mode === "agent") return void new ToolCollection(tools);
	if (tools.length === 0 && agent === void 0) return;
	throw new UsageError("ROLE_INVALID", `Expected role ${name} with ${agent === void 0 ? "tools" : "settings of an agent"} to be an agent, got mode ${mode}. Write reactMode: "agent".`);
}
function actionsOf(role, reactions) {globalThis.__t?.("role/role-spec.js#actionsOf@3358");
	const byName = /* @__PURE__ */ new Map();
	for (const action of [...role.actions, ...reactions.map((reaction) => (globalThis.__t?.("role/role-spec.js#anonymous@3496"),(reaction.action)))]) {
		assertRoutableName(action);
		assertSameAction(byName.get(action.name), action);
		byName.set(action.name, action);
	}
	return [...byName.values()];
}
function watchOf(role, reactions) {globalThis.__t?.("role/role-spec.js#watchOf@3684");
	const named = role.watch;
	if (named !== void 0) return [...new Set(named.map(addressOf))];
	if (reactions.length === 0) return [UserRequirement.name];
	return [...new Set(reactions.flatMap((reaction) => (globalThis.__t?.("role/role-spec.js#anonymous@3911"),([...reaction.on, ...reaction.needs]))))];
}
/** @throws UsageError `STATE_INVALID` when a role's state does not start with what one of its actions needs */
function assertStateOf(role, initialState, { name, state }) {globalThis.__t?.("role/role-spec.js#assertStateOf@4079");
	if (state === void 0) return;
	const parsed = state.safeParse(initialState);
	const held = parsed.success ? parsed.data : void 0;
	const missing = Object.keys(held ?? {}).filter((key) => (globalThis.__t?.("role/role-spec.js#missing@4320"),(!isSameJson(held?.[key], initialState[key]))));
	if (parsed.success && missing.length === 0) return;
	const why = parsed.success ? `${missing.join(", ")} is not in it` : parsed.error.message;
	throw new UsageError("STATE_INVALID", `Expected the state of role ${role.name} to start with what its action ${name} needs, but ${why}. Give the role a state schema with those fields and their defaults.`, parsed.success ? {} : { cause: parsed.error });
}
function initialStateOf(role) {globalThis.__t?.("role/role-spec.js#initialStateOf@4775");
	if (role.state === void 0) return {};
	const parsed = role.state.safeParse({});
	if (!parsed.success) throw new UsageError("STATE_INVALID", `Expected the state of role ${role.name} to have defaults for every field: ${parsed.error.message}`, { cause: parsed.error });
	return jsonRoundTrip(parsed.data);
}
export { assertRoleName, roleSpec };
