import { untilAborted } from "../kernel/abort.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { isObject } from "../kernel/value-kind.ts";
import { listed, thrownText, valueText } from "../kernel/value-text.ts";
import { UserFeedback, UserRequirement } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import type { ModelLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import { type Action, assertSameAction } from "../role/action.ts";
import type { Role } from "../role/role.ts";
import { assertIsRole, rolesIn } from "../role/role-parts.ts";
import { assertRoleName, roleSpec } from "../role/role-spec.ts";
import { hiredRole, reactsByDefault } from "../runtime/hired-roles.ts";
import type { HiredRole } from "../runtime/record/event.ts";
import type { RunState } from "../runtime/record/run-state.ts";

/** A run that needs its roles. */
export interface RolesRequest {
  readonly runId: string;
  /** Aborts when the roles are not needed any more. */
  readonly signal: AbortSignal;
}

/**
 * Roles: a list that all runs share, or a function that returns those of one run, where each has a folder or connections of its own. The
 * process that owns the run calls the function each time the run begins, continues or is changed there, after the `prepare` of
 * `ResumeOptions`. For one run it always returns the same names with the same traits; a fork is a run of its own. A replay asks for the roles
 * of the run that it repeats.
 */
export type TeamRoles = Iterable<Role> | RolesFunction;

/** Returns the roles of one run. */
export type RolesFunction = (run: RolesRequest) => Iterable<Role> | Promise<Iterable<Role>>;

/** Returns what the function makes for a run. @throws UsageError `ROLE_INVALID`, `ROLES_FAILED`; ControlError when the signal aborts */
export async function rolesMade(make: RolesFunction, run: RolesRequest): Promise<Iterable<Role>> {
  const made = (async () => make(run))();
  const roles = await untilAborted(made, run.signal).catch((cause: unknown) => {
    if (TroupeError.isInstance(cause)) throw cause;
    const expected = `Expected the roles of run ${valueText(run.runId)}, but their function failed: ${thrownText(cause)}`;
    throw new UsageError("ROLES_FAILED", `${expected}. Repair it, and resume the run: nothing of it is lost.`, { cause });
  });
  return rolesIn(roles) as Iterable<Role>;
}

export type RolesOfRun = (run: RolesRequest) => Promise<Crew["roles"]>;

/**
 * The roles of a team. It owns their names and the names of their actions.
 *
 * Roster.N1 (`hire`): a name has one role.
 * Roster.N2 (`hire`, `assertSameAction`): two actions of one name are the same action.
 * Roster.N3 (`present`): the roles that a function makes are of one run alone, and come before those that were hired.
 */
export class Roster {
  readonly #roles = new Map<string, Role>();
  readonly #actions = new Map<string, Action>();
  readonly #make: RolesFunction | undefined;

  constructor(roles: TeamRoles = []) {
    if (typeof roles === "function") this.#make = roles;
    else for (const role of rolesIn(roles)) this.hire(role);
  }

  /** @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID` */
  hire(role: unknown, alias?: string): void {
    assertIsRole(role);
    const name = alias ?? role.name;
    assertRoleName(name);
    if (this.#roles.has(name)) {
      throw new UsageError(
        "ROLE_DUPLICATE",
        `Expected roles of different names, got a second "${name}". Hire it under another name: hire(role, { name }).`,
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

  get roles(): readonly Role[] {
    return [...this.#roles.values()];
  }

  get isEmpty(): boolean {
    return this.#make === undefined && this.#roles.size === 0;
  }

  /** The roles of a run, with those that are hired now. */
  get present(): RolesOfRun {
    const hired = [...this.#roles];
    const make = this.#make;
    return make === undefined ? () => Promise.resolve(hired) : (run) => hiredWith(make, hired, run);
  }
}

async function hiredWith(make: RolesFunction, hired: Crew["roles"], run: RolesRequest): Promise<Crew["roles"]> {
  const roster = new Roster(await rolesMade(make, run));
  for (const [name, role] of hired) roster.hire(role, name);
  if (roster.isEmpty) throw rolesNone();
  return roster.present(run);
}

export function rolesNone(): UsageError {
  const expected = "Expected a team with roles, got none: no role would hear the idea";
  return new UsageError("ROLES_NONE", `${expected}. Hire some: new Team({ roles: [role] }).`);
}

export interface Crew {
  readonly roles: readonly (readonly [name: string, role: Role])[];
  /** The recorded budget of this run. Before its bounds are known: the budget of each run of the team. */
  readonly budget: MicroUsd | undefined;
  readonly pools: readonly BudgetPool[];
  readonly limits: ModelLimits | undefined;
  /** Returns the definition of a role that a run has hired on the way. */
  readonly reserve?: (hired: Pick<HiredRole, "name" | "traits">) => Role | undefined;
}

export function hiredBy(crew: Crew): readonly HiredRole[] {
  return crew.roles.map(([name, role]) => hiredRole(role, name));
}

/** Returns the crew with the definitions of recorded roles that were hired on the way. */
export function crewWith(hired: Iterable<Pick<HiredRole, "name" | "traits">>, crew: Crew): Crew {
  const names = new Set(crew.roles.map(([name]) => name));
  const found = [...hired].flatMap((one): Crew["roles"] => {
    const role = names.has(one.name) ? undefined : crew.reserve?.(one);
    if (role === undefined) return [];
    names.add(one.name);
    return [[one.name, role]];
  });
  return found.length === 0 ? crew : { ...crew, roles: [...crew.roles, ...found] };
}

export function presentCrew({ roles }: RunState, crew: Crew): Crew {
  return { ...crew, roles: crew.roles.filter(([name]) => roles.get(name)?.isHired !== false) };
}

/** Returns recorded roles as the crew defines them now; a role that the crew lacks stays as it was recorded. */
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
 * @param later names of the roles that the shared past hires on the way
 */
export function hiredInOrder(before: readonly HiredRole[], crew: Crew, later: ReadonlySet<string>): readonly HiredRole[] {
  const known = new Set([...before.map(({ name }) => name), ...later]);
  return [...definedNow(before, crew), ...hiredBy(crew).filter(({ name }) => !known.has(name))];
}

/** Returns the roles in the order in which the run hired them, which is the order of delivery. New roles come last. */
export function inOrderOf(state: RunState, crew: Crew): Crew["roles"] {
  const index = (name: string): number => state.roles.get(name)?.index ?? Number.MAX_SAFE_INTEGER;
  return crew.roles.toSorted(([a], [b]) => index(a) - index(b));
}

export interface UnwatchedCause {
  readonly role: string;
  readonly cause: string;
  readonly warning: string;
}

const MOST_CAUSES = 10;

/**
 * Returns warnings of causes that a role watches and no role can cause: mostly mistyped names, but a message from outside may come later.
 * There is none where a role is made by hand, because it may name any cause.
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
        warning: `${name} watches "${cause}", which no role of this team can cause. They can cause: ${listed([...causes], MOST_CAUSES)}.`,
      })),
  );
}

export function isAlias(given: unknown): given is { readonly name: string } {
  return isObject(given) && "name" in given && !("react" in given);
}
