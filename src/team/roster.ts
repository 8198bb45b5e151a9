import { untilAborted } from "../kernel/abort.ts";
import { aText, takes } from "../kernel/argument.ts";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { listed, thrownText, valueText } from "../kernel/value-text.ts";
import { type Action, assertSameAction } from "../role/action.ts";
import type { Role } from "../role/role.ts";
import { assertIsRole, rolesIn } from "../role/role-parts.ts";
import { assertRoleName, roleSpec } from "../role/role-spec.ts";
import type { Crew } from "./crew.ts";

/** The run whose roles are needed. */
export interface RolesRequest {
  readonly runId: string;
  /** Aborts when the roles are no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Roles: a list that all runs share, or a function that returns the roles of one run, for runs with their own folders or connections. The
 * owner of the run calls the function each time the run begins, continues or is changed, after the `prepare` of `ResumeOptions`. It must always
 * return the same names with the same traits for one run; a fork is a separate run. A replay asks for the roles of the repeated run.
 */
export type TeamRoles = Iterable<Role> | RolesFunction;

/** Returns the roles of one run. */
export type RolesFunction = (run: RolesRequest) => Iterable<Role> | Promise<Iterable<Role>>;

export type RolesOfRun = (run: RolesRequest) => Promise<Crew["roles"]>;

/**
 * The roles of a team. It owns their names and the names of their actions.
 *
 * Roster.N1 (`hire`): a name has one role.
 * Roster.N2 (`hire`, `assertSameAction`): two actions of one name are the same action.
 * Roster.N3 (`present`): roles from a function belong to one run, and come before hired roles.
 */
export class Roster {
  readonly #roles = new Map<string, Role>();
  readonly #actions = new Map<string, Action>();
  readonly #make: RolesFunction | undefined;

  constructor(roles: TeamRoles = []) {
    if (typeof roles === "function") this.#make = roles;
    else for (const role of rolesIn(roles)) this.hire(role);
  }

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

  get present(): RolesOfRun {
    const hired = [...this.#roles];
    const make = this.#make;
    if (make === undefined) return () => Promise.resolve(hired);
    return async (run) => {
      const roster = new Roster(await rolesMade(make, run));
      for (const [name, role] of hired) roster.hire(role, name);
      if (roster.isEmpty) throw rolesNone();
      return [...roster.#roles];
    };
  }
}

async function rolesMade(make: RolesFunction, run: RolesRequest): Promise<Iterable<Role>> {
  const made = (async () => make(run))();
  const roles = await untilAborted(made, run.signal).catch((cause: unknown) => {
    if (TroupeError.isInstance(cause)) throw cause;
    const expected = `Expected the roles of run ${valueText(run.runId)}, but their function failed: ${thrownText(cause)}`;
    throw new UsageError("ROLES_FAILED", `${expected}. Repair it, and resume the run: nothing of it is lost.`, { cause });
  });
  return rolesIn(roles) as Iterable<Role>;
}

export function rolesNone(): UsageError {
  const expected = "Expected a team with roles, got none: no role would hear the idea";
  return new UsageError("ROLES_NONE", `${expected}. Hire some: new Team({ roles: [role] }).`);
}

const MAX_NAMES = 20;
const MAX_RUNS = 1_000;

/**
 * The definitions of roles that runs hire later. It owns the definitions of the option `reserve`, and those given to runs of this
 * process. A record has no definition, because code cannot be recorded.
 *
 * Reserve.V1 (`of`): a definition given to the run takes precedence over the option `reserve`, and that over a role of the team.
 * Reserve.V2 (`keep`): definitions are kept for the last 1,000 runs that hired a role.
 */
export class Reserve {
  readonly #byName: Definitions;
  readonly #make: RolesFunction | undefined;
  readonly #ofRuns = new Map<string, Map<string, Role>>();
  readonly #team: RolesOfRun;

  constructor(roles: TeamRoles, team: RolesOfRun) {
    this.#team = team;
    this.#make = typeof roles === "function" ? roles : undefined;
    this.#byName = byName(typeof roles === "function" ? [] : rolesIn(roles));
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get roles(): readonly Role[] {
    return [...this.#byName.values()];
  }

  keep(runId: string, name: string, role: Role): void {
    const roles = this.#ofRuns.get(runId) ?? new Map<string, Role>();
    this.#ofRuns.delete(runId);
    this.#ofRuns.set(runId, roles.set(name, role));
    const [oldest] = this.#ofRuns.keys();
    if (this.#ofRuns.size > MAX_RUNS && oldest !== undefined) this.#ofRuns.delete(oldest);
  }

  inherit(runId: string, parentId: string): void {
    takes("fork", "parentId", parentId, aText);
    for (const [name, role] of this.#ofRuns.get(parentId) ?? []) this.keep(runId, name, role);
  }

  async of(run: RolesRequest, team: Crew["roles"]): Promise<Required<Crew>["reserve"]> {
    const definitions = await this.#definitions(run);
    return ({ name, traits }) => {
      const { name: own } = (traits["card"] ?? {}) as { readonly name?: unknown };
      return this.#ofRuns.get(run.runId)?.get(name) ?? (typeof own === "string" ? known(own, definitions, team) : undefined);
    };
  }

  async named(name: string, run: RolesRequest): Promise<Role> {
    const [definitions, team] = [await this.#definitions(run), await this.#team(run)];
    const role = known(name, definitions, team) ?? team.find(([alias]) => alias === name)?.[1];
    if (role !== undefined) return role;
    const names = [...new Set([...definitions.keys(), ...team.map(([alias]) => alias)])];
    const others = names.length === 0 ? "It has none." : `There are: ${listed(names, MAX_NAMES)}.`;
    throw new UsageError("ROLE_UNKNOWN", `Expected the name of a role that this team defines, got ${valueText(name)}. ${others}`);
  }

  async #definitions(run: RolesRequest): Promise<Definitions> {
    return this.#make === undefined ? this.#byName : byName(await rolesMade(this.#make, run));
  }
}

type Definitions = ReadonlyMap<string, Role>;

function byName(roles: Iterable<unknown>): Definitions {
  const named = new Map<string, Role>();
  for (const role of roles as Iterable<Role>) {
    const { name } = roleSpec(role).card;
    if (named.has(name))
      throw new UsageError("ROLE_DUPLICATE", `Expected definitions of different names in reserve, got a second "${name}". Rename one.`);
    named.set(name, role);
  }
  return named;
}

function known(own: string, definitions: Definitions, team: Crew["roles"]): Role | undefined {
  return definitions.get(own) ?? team.find(([, role]) => role.name === own)?.[1];
}
