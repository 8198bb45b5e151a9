import { type Action, assertSameAction } from "../role/action.ts";
import { UsageError } from "../kernel/errors.ts";
import { assertIsRole } from "../role/role-parts.ts";
import type { Role } from "../role/role.ts";
import { assertRoleName, roleSpec } from "../role/role-spec.ts";

/**
 * Who is hired, by name. It owns the names of a team's roles and of their actions.
 *
 * N1 a name has one role. N2 two actions of one name are the same action.
 */
export class Roster {
  readonly #roles = new Map<string, Role>();
  readonly #actions = new Map<string, Action>();

  /** @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID` */
  hire(role: unknown, alias?: string): void {
    assertIsRole(role);
    const name = alias ?? role.name;
    assertRoleName(name);
    if (this.#roles.has(name)) {
      throw new UsageError(
        "ROLE_DUPLICATE",
        `Expected roles of different names, got a second "${name}". Hire it under another: hire(role, { name }).`,
      );
    }
    const { actions } = roleSpec(role);
    for (const action of actions) assertSameAction(this.#actions.get(action.name), action);
    for (const action of actions) this.#actions.set(action.name, action);
    this.#roles.set(name, role);
  }

  get names(): readonly string[] {
    return [...this.#roles.keys()];
  }

  /** In the order of hiring. */
  get roles(): readonly (readonly [name: string, role: Role])[] {
    return [...this.#roles];
  }
}
