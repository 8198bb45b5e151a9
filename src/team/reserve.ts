import { UsageError } from "../kernel/errors.ts";
import { listed, valueText } from "../kernel/value-text.ts";
import type { Role } from "../role/role.ts";
import { rolesIn } from "../role/role-parts.ts";
import { roleSpec } from "../role/role-spec.ts";
import type { HiredRole } from "../runtime/record/event.ts";
import type { Crew } from "./crew.ts";

/** Limit on the names in an error. */
const MOST_NAMES = 20;

/** Limit on the runs whose definitions are kept. */
const MOST_RUNS = 1_000;

/**
 * The definitions of roles that runs hire on the way, by which these runs are resumed, forked and replayed. It owns the definitions of the
 * team's option `reserve`, and those that runs of this process were given. A record has no definition, because code cannot be recorded.
 *
 * Reserve.V1 (`find`): the definition that the run itself was given goes before one of the option, and that one before a role of the team.
 * Reserve.V2 (`keep`): definitions are kept for the last 1,000 runs that hired a role.
 */
export class Reserve {
  readonly #byName = new Map<string, Role>();
  readonly #ofRuns = new Map<string, Map<string, Role>>();
  readonly #team: () => Crew["roles"];

  /**
   * @param team the roles of the team, by their names there
   * @throws UsageError `OPTION_INVALID`, `ROLE_DUPLICATE`, and the errors of a role that cannot be hired
   */
  constructor(roles: Iterable<Role>, team: () => Crew["roles"] = () => []) {
    this.#team = team;
    for (const role of rolesIn(roles)) {
      const { name } = roleSpec(role as Role).card;
      if (this.#byName.has(name))
        throw new UsageError("ROLE_DUPLICATE", `Expected definitions of different names in reserve, got a second "${name}". Rename one.`);
      this.#byName.set(name, role as Role);
    }
  }

  /** The names of the definitions of the option. */
  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Keeps the definition of a role that a run has hired under a name. */
  keep(runId: string, name: string, role: Role): void {
    const roles = this.#ofRuns.get(runId) ?? new Map<string, Role>();
    this.#ofRuns.delete(runId);
    this.#ofRuns.set(runId, roles.set(name, role));
    const [oldest] = this.#ofRuns.keys();
    if (this.#ofRuns.size > MOST_RUNS && oldest !== undefined) this.#ofRuns.delete(oldest);
  }

  /** Keeps the definitions of a run for its fork. */
  inherit(runId: string, parentId: string): void {
    for (const [name, role] of this.#ofRuns.get(parentId) ?? []) this.keep(runId, name, role);
  }

  /** Returns the definition of a role of a run: by its name there, else by the definition's own name. */
  find(runId: string, { name, traits }: Pick<HiredRole, "name" | "traits">): Role | undefined {
    const { name: own } = (traits["card"] ?? {}) as { readonly name?: unknown };
    return this.#ofRuns.get(runId)?.get(name) ?? (typeof own === "string" ? this.#known(own) : undefined);
  }

  /** Returns a definition of the team by its own name, or by the name of a role of the team. @throws UsageError `ROLE_UNKNOWN` */
  named(name: string): Role {
    const role = this.#known(name) ?? this.#team().find(([alias]) => alias === name)?.[1];
    if (role !== undefined) return role;
    const names = [...new Set([...this.#byName.keys(), ...this.#team().map(([alias]) => alias)])];
    const known = names.length === 0 ? "It has none." : `There are: ${listed(names, MOST_NAMES)}.`;
    throw new UsageError("ROLE_UNKNOWN", `Expected the name of a role that this team defines, got ${valueText(name)}. ${known}`);
  }

  #known(own: string): Role | undefined {
    return this.#byName.get(own) ?? this.#team().find(([, role]) => role.name === own)?.[1];
  }
}
