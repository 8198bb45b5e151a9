import type { Action } from "../action/action.ts";
import { Role } from "./role.ts";
import type { RoleSpec } from "./role-spec.ts";

/**
 * The action of a role that does nothing else: it takes what is new, and runs that action on it, once. Undefined for a role that has to think
 * what to do, or whose definition has changed a part of its life.
 */
export function onlyAction({ role, actions, reactions, mode, maxReactLoop }: RoleSpec): Action | undefined {
  const isThoughtOf = mode === "agent" || mode === "plan_and_act" || mode === "step" || reactions.length > 0 || maxReactLoop < 1;
  return isThoughtOf || actions.length !== 1 || !livesByDefault(role) ? undefined : actions[0];
}

function livesByDefault(role: Role): boolean {
  const { observe, think, act, react } = Role.prototype;
  return role.observe === observe && role.think === think && role.act === act && role.react === react;
}
