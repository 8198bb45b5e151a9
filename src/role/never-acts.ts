import { OnlyAction } from "./only-action.ts";
import type { RoleSpec } from "./role-spec.ts";

/** Whether a role can only listen: it has nothing to do, and has changed no part of its life. */
export function neverActs(spec: RoleSpec): boolean {
  const { mode, actions } = spec;
  return actions.length === 0 && mode !== "step" && mode !== "agent" && livesByDefault(spec);
}

/** Whether all that a role does is known from its parts: it has no step function, and has changed no part of its life. */
export function livesByDefault(spec: RoleSpec): boolean {
  return spec.mode !== "step" && new OnlyAction(spec).isDefault;
}
