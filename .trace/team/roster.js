import { assertSameAction } from "../role/action.js";
import { UsageError } from "../kernel/errors.js";
import { assertIsRole } from "../role/role-parts.js";
import { assertRoleName, roleSpec } from "../role/role-spec.js";
// ../../work/wt/lead/src/team/roster.ts
/**
* Who is hired, by name. It owns the names of a team's roles and of their actions.
*
* N1 a name has one role. N2 two actions of one name are the same action.
*/
var Roster = class {
	#roles = /* @__PURE__ */ new Map();
	#actions = /* @__PURE__ */ new Map();
	/** @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID` */
	hire(role, alias) {globalThis.__t?.("team/roster.js#hire@644");
		assertIsRole(role);
		const name = alias ?? role.name;
		assertRoleName(name);
		if (this.#roles.has(name)) throw new UsageError("ROLE_DUPLICATE", `Expected roles of different names, got a second "${name}". Hire it under another: hire(role, { name }).`);
		const { actions } = roleSpec(role);
		for (const action of actions) assertSameAction(this.#actions.get(action.name), action);
		for (const action of actions) this.#actions.set(action.name, action);
		this.#roles.set(name, role);
	}
	get names() {globalThis.__t?.("team/roster.js#names get@1161");
		return [...this.#roles.keys()];
	}
	/** In the order of hiring. */
	get roles() {globalThis.__t?.("team/roster.js#roles get@1245");
		return [...this.#roles];
	}
};
export { Roster };
