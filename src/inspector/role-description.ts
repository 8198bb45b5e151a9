import { object, takes } from "../kernel/argument.ts";
import type { Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import { reactsByDefault } from "../runtime/hired-roles.ts";

/** A role with its defaults filled in and its names resolved, as routing uses it. */
export type RoleDescription = ReturnType<typeof describeRole>;

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
export function describeRole(role: Role) {
  takes("describeRole", "role", role, object("a role that defineRole made"));
  const spec = roleSpec(role);
  const { card, addresses, watch, observeAll, mode, actions, reactions, maxReactLoop } = spec;
  return {
    name: card.name,
    /** All addresses besides its name: its profile and further ones. */
    addresses: [card.profile, ...addresses].filter((address) => address !== ""),
    watch,
    observeAll,
    mode,
    /** An agent has only those that are no reaction: the first names its message. */
    actions: mode === "agent" ? role.actions : actions,
    reactions: reactions.map(({ on, needs, action }) => ({ on: [...on], needs, do: action })),
    /** In mode `plan_and_act` undefined without an option: the plan decides. */
    maxReactLoop: mode === "plan_and_act" ? role.maxReactLoop : maxReactLoop,
    /** True when its behaviour follows from its parts: it overrides none of observe, think, act and react, and has no step function. */
    isPlain: reactsByDefault(spec),
  };
}
