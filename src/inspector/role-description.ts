import { object, takes } from "../kernel/argument.ts";
import type { Action } from "../role/action.ts";
import type { ReactMode, Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import { reactsByDefault } from "../runtime/hired-roles.ts";

/** A role with its defaults filled in and its names resolved, as routing uses it. */
export interface RoleDescription {
  readonly name: string;
  /** All addresses besides its name: its profile and further ones. */
  readonly addresses: readonly string[];
  readonly watch: readonly string[];
  readonly observeAll: boolean;
  /** `step`: it is one function over its state. */
  readonly mode: ReactMode | "step";
  readonly actions: readonly Action[];
  readonly reactions: readonly { readonly on: readonly string[]; readonly needs: readonly string[]; readonly do: Action }[];
  /** In mode `plan_and_act` undefined without an option: the plan decides. */
  readonly maxReactLoop: number | undefined;
  /** True when its behaviour follows from its parts: it overrides none of observe, think, act and react, and has no step function. */
  readonly isPlain: boolean;
}

/**
 * Returns what a role listens to and what it may do, without running it: for checks and drawings of a team.
 *
 * @throws UsageError `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID` for a role that could not be hired
 * @example
 * import { defineAction, defineRole } from "troupe";
 * import { describeRole } from "troupe/inspector";
 *
 * const Greet = defineAction({ name: "Greet" });
 * const { watch, mode } = describeRole(defineRole({ name: "Hana", reactions: [{ on: "Arrive", do: Greet }] }));
 * console.log(watch, mode); // [ 'Arrive' ] by_cause
 */
export function describeRole(role: Role): RoleDescription {
  takes("describeRole", "role", role, object("a role that defineRole made"));
  const spec = roleSpec(role);
  const { card, addresses, watch, observeAll, mode, actions, reactions, maxReactLoop } = spec;
  return {
    name: card.name,
    addresses: [card.profile, ...addresses].filter((address) => address !== ""),
    watch,
    observeAll,
    mode,
    actions,
    reactions: reactions.map(({ on, needs, action }) => ({ on: [...on], needs, do: action })),
    maxReactLoop: mode === "plan_and_act" ? role.maxReactLoop : maxReactLoop,
    isPlain: reactsByDefault(spec),
  };
}
