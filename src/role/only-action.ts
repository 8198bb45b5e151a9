import type { Action } from "./action.ts";
import { Role } from "./role.ts";
import type { RoleSpec } from "./role-spec.ts";

/** What a role does by default, as it was when this was loaded. */
const { observe, think, act, react } = Role.prototype;

/**
 * The action of a role that does nothing else: it takes what is new, and runs that action on it, once. There is none for a role that has to
 * think what to do, or that has changed a part of its life. What cannot change is looked at once. It is asked as well whether a role with
 * more to do has changed a part of its life.
 */
export class OnlyAction {
  readonly #role: Role;
  readonly #action: Action | undefined;
  /** Of a role that cannot change. */
  readonly #isDefault: boolean | undefined;

  constructor({ role, actions, reactions, mode, maxReactLoop }: RoleSpec) {
    const isThoughtOf = mode === "agent" || mode === "plan_and_act" || mode === "step" || reactions.length > 0 || maxReactLoop < 1;
    const isDefault = livesByDefault(role);
    this.#role = role;
    this.#action = !isThoughtOf && actions.length === 1 && isDefault ? actions[0] : undefined;
    this.#isDefault = Object.isFrozen(role) ? isDefault : undefined;
  }

  /** As the role is now: whoever has not frozen it may have changed its life since it was hired. */
  get now(): Action | undefined {
    return this.#action === undefined || (this.#isDefault ?? livesByDefault(this.#role)) ? this.#action : undefined;
  }

  /** Whether the role has changed no part of its life, whatever it has to do in it. */
  get isDefault(): boolean {
    return this.#isDefault ?? livesByDefault(this.#role);
  }
}

function livesByDefault(role: Role): boolean {
  return role.observe === observe && role.think === think && role.act === act && role.react === react;
}
