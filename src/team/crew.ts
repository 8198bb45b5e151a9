import type { BudgetPool } from "../kernel/budget.ts";
import { listed } from "../kernel/value-text.ts";
import { UserFeedback, UserRequirement } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import type { ModelLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import { hiredRole, reactsByDefault } from "../runtime/hired-roles.ts";
import type { HiredRole } from "../runtime/record/event.ts";
import type { RunState } from "../runtime/record/run-state.ts";

export interface Crew {
  readonly roles: readonly (readonly [name: string, role: Role])[];
  /** The recorded budget of this run. Before its bounds are known: the budget of each run of the team. */
  readonly budget: MicroUsd | undefined;
  readonly pools: readonly BudgetPool[];
  readonly limits: ModelLimits | undefined;
  /** Returns the definition of a role hired during the run. */
  readonly reserve?: (hired: Pick<HiredRole, "name" | "traits">) => Role | undefined;
}

export function hiredBy(crew: Crew): readonly HiredRole[] {
  return crew.roles.map(([name, role]) => hiredRole(role, name));
}

export function crewWith(hired: Iterable<Pick<HiredRole, "name" | "traits">>, crew: Crew): Crew {
  const roles = new Map(crew.roles);
  for (const one of hired) {
    const role = roles.has(one.name) ? undefined : crew.reserve?.(one);
    if (role !== undefined) roles.set(one.name, role);
  }
  return roles.size === crew.roles.length ? crew : { ...crew, roles: [...roles] };
}

export function presentCrew({ roles }: RunState, crew: Crew): Crew {
  return { ...crew, roles: crew.roles.filter(([name]) => roles.get(name)?.isHired !== false) };
}

/** Returns recorded roles with their present definitions; a role that the crew lacks stays as recorded. */
export function definedNow(recorded: readonly HiredRole[], crew: Crew): readonly HiredRole[] {
  const roles = new Map(crewWith(recorded, crew).roles);
  return recorded.map((role) => {
    const now = roles.get(role.name);
    return now === undefined ? role : hiredRole(now, role.name);
  });
}

/**
 * Returns the roles as a fork records them at its start: the roles of its parent in their order, then the new roles.
 *
 * @param later names of the roles hired during the shared past
 */
export function hiredInOrder(before: readonly HiredRole[], crew: Crew, later: ReadonlySet<string>): readonly HiredRole[] {
  const known = new Set([...before.map(({ name }) => name), ...later]);
  return [...definedNow(before, crew), ...hiredBy(crew).filter(({ name }) => !known.has(name))];
}

export function inOrderOf(state: RunState, crew: Crew): Crew["roles"] {
  const index = (name: string): number => state.roles.get(name)?.index ?? Number.MAX_SAFE_INTEGER;
  return crew.roles.toSorted(([a], [b]) => index(a) - index(b));
}

interface UnwatchedCause {
  readonly role: string;
  readonly cause: string;
  readonly warning: string;
}

const MAX_CAUSES = 10;

/**
 * Returns warnings of causes that a role watches and no role can cause: mostly mistyped names, but a message from outside may come later.
 * A crew with a handmade role gets no warning, because such a role may name any cause.
 */
export function unwatchedCauses(roles: Crew["roles"], said: readonly (Message | string)[]): readonly UnwatchedCause[] {
  const specs = roles.map(([name, role]) => ({ name, spec: roleSpec(role) }));
  if (!specs.every(({ spec }) => reactsByDefault(spec))) return [];
  const causes = new Set<string>([UserRequirement.name, UserFeedback.name]);
  for (const message of said) if (typeof message !== "string") causes.add(message.causeBy);
  for (const { name, spec } of specs) {
    for (const cause of [name, spec.card.name, ...spec.actions.map((action) => action.name)]) causes.add(cause);
  }
  return specs.flatMap(({ name, spec }) =>
    spec.watch
      .filter((cause) => !causes.has(cause))
      .map((cause) => ({
        role: name,
        cause,
        warning: `${name} watches "${cause}", which no role of this team can cause. They can cause: ${listed([...causes], MAX_CAUSES)}.`,
      })),
  );
}
