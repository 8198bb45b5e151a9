import { aText, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { listed, valueText } from "../kernel/value-text.ts";
import type { Role } from "../role/role.ts";
import { rolesIn } from "../role/role-parts.ts";
import { roleSpec } from "../role/role-spec.ts";
import { type Crew, type RolesFunction, rolesMade, type RolesOfRun, type RolesRequest, type TeamRoles } from "./crew.ts";

const MOST_NAMES = 20;

const MOST_RUNS = 1_000;

/**
 * The definitions of roles that runs hire later. It owns those of the option `reserve`, and those that runs of this process were given. A
 * record has no definition, because code cannot be recorded.
 *
 * Reserve.V1 (`of`): the definition that the run itself was given takes precedence over the option, and that over a role of the team.
 * Reserve.V2 (`keep`): definitions are kept for the last 1,000 runs that hired a role.
 */
export class Reserve {
  readonly #byName: Definitions;
  readonly #make: RolesFunction | undefined;
  readonly #ofRuns = new Map<string, Map<string, Role>>();
  readonly #team: RolesOfRun;

  constructor(roles: TeamRoles, team: RolesOfRun = () => Promise.resolve([])) {
    this.#team = team;
    this.#make = typeof roles === "function" ? roles : undefined;
    this.#byName = typeof roles === "function" ? new Map() : byName(rolesIn(roles));
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
    if (this.#ofRuns.size > MOST_RUNS && oldest !== undefined) this.#ofRuns.delete(oldest);
  }

  inherit(runId: string, parentId: string): void {
    takes("fork", "parentId", parentId, aText);
    for (const [name, role] of this.#ofRuns.get(parentId) ?? []) this.keep(runId, name, role);
  }

  /** Returns what finds the definition of a role of a run: by its name there, else by the definition's own name. */
  async of(run: RolesRequest, team: Crew["roles"]): Promise<Required<Crew>["reserve"]> {
    const definitions = await this.#definitions(run);
    return ({ name, traits }) => {
      const { name: own } = (traits["card"] ?? {}) as { readonly name?: unknown };
      return this.#ofRuns.get(run.runId)?.get(name) ?? (typeof own === "string" ? known(own, definitions, team) : undefined);
    };
  }

  /** Returns a definition by its own name, or by the name of a role of the team. @throws UsageError `ROLE_UNKNOWN` */
  async named(name: string, run: RolesRequest): Promise<Role> {
    const [definitions, team] = [await this.#definitions(run), await this.#team(run)];
    const role = known(name, definitions, team) ?? team.find(([alias]) => alias === name)?.[1];
    if (role !== undefined) return role;
    const names = [...new Set([...definitions.keys(), ...team.map(([alias]) => alias)])];
    const reported = names.length === 0 ? "It has none." : `There are: ${listed(names, MOST_NAMES)}.`;
    throw new UsageError("ROLE_UNKNOWN", `Expected the name of a role that this team defines, got ${valueText(name)}. ${reported}`);
  }

  async #definitions(run: RolesRequest): Promise<Definitions> {
    return this.#make === undefined ? this.#byName : byName(await rolesMade(this.#make, run));
  }
}

type Definitions = ReadonlyMap<string, Role>;

function byName(roles: Iterable<unknown>): Definitions {
  const named = new Map<string, Role>();
  for (const role of roles) {
    const { name } = roleSpec(role as Role).card;
    if (named.has(name))
      throw new UsageError("ROLE_DUPLICATE", `Expected definitions of different names in reserve, got a second "${name}". Rename one.`);
    named.set(name, role as Role);
  }
  return named;
}

function known(own: string, definitions: Definitions, team: Crew["roles"]): Role | undefined {
  return definitions.get(own) ?? team.find(([, role]) => role.name === own)?.[1];
}
