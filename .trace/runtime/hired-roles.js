import { UsageError } from "../kernel/errors.js";
import { contentHash, deepFreeze, jsonRoundTrip } from "../kernel/json.js";
import { assertSameAction } from "../role/action.js";
import { agentMode } from "../role/react.js";
import { Role } from "../role/role.js";
import { roleSpec } from "../role/role-spec.js";
import { addRoleState } from "./record/run-state.js";
import { Directory } from "./routing/directory.js";
// ../../work/wt/lead/src/runtime/hired-roles.ts
/**
* The hired roles of a run with their definitions. It owns the directory that routes messages to them, and that two different actions never
* share a name.
*
* HiredRoles.H1 (`add`) a role that is refused leaves no trace. HiredRoles.H2 (`#definitionBy`) a definition is looked at once, however many roles
* are hired by it: each of them is one place in a list.
*/
var HiredRoles = class {
	#state;
	#memories;
	/** Routes messages to them. */
	directory;
	#definitions = /* @__PURE__ */ new Map();
	/** At each role's place in the run. A run may have had roles that are not hired now. */
	#hired = [];
	#actions = /* @__PURE__ */ new Map();
	#hasAgent = false;
	constructor(state, memories) {globalThis.__t?.("runtime/hired-roles.js#constructor@1147");
		this.#state = state;
		this.#memories = memories;
		this.directory = new Directory((name) => (globalThis.__t?.("runtime/hired-roles.js#anonymous@1252"),(this.has(name) ? state.roles.get(name) : void 0)));
	}
	/** In hire order. */
	get names() {globalThis.__t?.("runtime/hired-roles.js#names get@1348");
		return [...this.#state.roles.values()].filter(({ index }) => (globalThis.__t?.("runtime/hired-roles.js#anonymous@1401"),(this.#hired[index] !== void 0))).map(({ name }) => (globalThis.__t?.("runtime/hired-roles.js#anonymous@1451"),(name)));
	}
	/** Loads the code of mode `agent` where a role works in it; undefined where none does. */
	load() {globalThis.__t?.("runtime/hired-roles.js#load@1572");
		return this.#hasAgent ? agentMode() : void 0;
	}
	/**
	* Makes a role known under a name that nobody has yet, and to the run if that does not know it.
	*
	* @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`, `OPTION_INVALID`
	*/
	add(role, name) {globalThis.__t?.("runtime/hired-roles.js#add@1866");
		const known = this.#state.roles.get(name);
		if (known !== void 0 && this.#hired[known.index] !== void 0) throw duplicate(name);
		const definition = this.#definitionBy(role);
		const state = known ?? addRoleState(this.#state, name, definition.as);
		this.#hired[state.index] = definition;
		this.#hasAgent ||= definition.spec.mode === "agent";
		this.directory.add(state, definition.listening);
	}
	/** Definitions whose roles can only listen. */
	get idle() {globalThis.__t?.("runtime/hired-roles.js#idle get@2340");
		return [...this.#definitions.keys()].filter(neverActs);
	}
	/** The definition of the role at a place in the run, if it is hired. */
	definitionAt(index) {globalThis.__t?.("runtime/hired-roles.js#definitionAt@2493");
		return this.#hired[index];
	}
	has(name) {globalThis.__t?.("runtime/hired-roles.js#has@2539");
		const state = this.#state.roles.get(name);
		return state !== void 0 && this.#hired[state.index] !== void 0;
	}
	specOf(name) {globalThis.__t?.("runtime/hired-roles.js#specOf@2669");
		const state = this.#state.roles.get(name);
		return state === void 0 ? void 0 : this.#hired[state.index]?.spec;
	}
	memoryOf(name) {globalThis.__t?.("runtime/hired-roles.js#memoryOf@2804");
		return this.#memories.of(name);
	}
	#definitionBy(role) {globalThis.__t?.("runtime/hired-roles.js#definitionBy@2864");
		const spec = roleSpec(role);
		return this.#definitions.get(spec) ?? this.#newDefinition(spec);
	}
	#newDefinition(spec) {globalThis.__t?.("runtime/hired-roles.js#newDefinition@2989");
		const { role, card, addresses, watch, observeAll, actions } = spec;
		for (const action of actions) assertSameAction(this.#actions.get(action.name), action);
		const definition = {
			spec,
			as: hiredAs(role),
			listening: {
				addresses: [card.profile, ...addresses],
				watch,
				observeAll
			},
			remembers: this.#memories.enlist(role)
		};
		for (const action of actions) this.#actions.set(action.name, action);
		this.#definitions.set(spec, definition);
		return definition;
	}
};
function duplicate(name) {globalThis.__t?.("runtime/hired-roles.js#duplicate@3494");
	return new UsageError("ROLE_DUPLICATE", `Expected roles of different names, got a second "${name}". Hire it under another: addRole(role, { name }).`);
}
const descriptions = /* @__PURE__ */ new WeakMap();
/** A role as a run records it when it starts. */
function hiredRole(role, name) {globalThis.__t?.("runtime/hired-roles.js#hiredRole@3777");
	return {
		name,
		...hiredAs(role)
	};
}
/** The same apart from the name: made once for each definition. */
function hiredAs(role) {globalThis.__t?.("runtime/hired-roles.js#hiredAs@3921");
	const spec = roleSpec(role);
	const known = descriptions.get(spec);
	if (known !== void 0) return known;
	const description = deepFreeze(describe(spec));
	descriptions.set(spec, description);
	return description;
}
function describe(spec) {globalThis.__t?.("runtime/hired-roles.js#describe@4162");
	const { card, watch, addresses, observeAll, mode, initialState, role } = spec;
	const reactions = spec.reactions.map((reaction) => ((globalThis.__t?.("runtime/hired-roles.js#reactions@4306"),({
		on: [...reaction.on],
		needs: reaction.needs,
		do: reaction.action.name
	}))));
	const actions = spec.actions.map((action) => (globalThis.__t?.("runtime/hired-roles.js#actions@4439"),(action.name)));
	const bound = role.mailbox === void 0 ? {} : { mailbox: role.mailbox };
	const traits = jsonRoundTrip({
		card,
		watch,
		addresses,
		observeAll,
		mode,
		actions,
		reactions,
		...bound
	});
	return {
		fingerprint: contentHash(traits).slice(0, 32),
		traits,
		state: initialState,
		...role.memoryLimit === void 0 ? {} : { memoryLimit: role.memoryLimit },
		...bound
	};
}
const { observe, think, act, react } = Role.prototype;
/** True for a role whose reactions follow from its parts: it has no step function, and overrides none of observe, think, act and react. */
function livesByDefault({ mode, role }) {globalThis.__t?.("runtime/hired-roles.js#livesByDefault@5041");
	return mode !== "step" && role.observe === observe && role.think === think && role.act === act && role.react === react;
}
/** True for a role that only listens: it has nothing to do, and overrides nothing. */
function neverActs(spec) {globalThis.__t?.("runtime/hired-roles.js#neverActs@5293");
	return spec.actions.length === 0 && spec.mode !== "agent" && livesByDefault(spec);
}
export { HiredRoles, hiredAs, hiredRole, livesByDefault };
