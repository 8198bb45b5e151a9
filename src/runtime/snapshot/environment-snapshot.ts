import { UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isCount, isRecord, isText } from "../../kernel/value-kind.ts";
import { listed, valueText } from "../../kernel/value-text.ts";
import type { Role } from "../../role/role.ts";
import { rolesIn } from "../../role/role-parts.ts";
import { roleSpec } from "../../role/role-spec.ts";
import { assertSameEdges } from "../edges/edge-policy.ts";
import type { EnvironmentOptions, RestoreOptions } from "../environment-options.ts";
import { hiredRole } from "../hired-roles.ts";
import type { RunState } from "../record/run-state.ts";
import { recordedBy } from "../schedulers/scheduler.ts";
import { restored, snapshotOf } from "./snapshot.ts";

/** Limit on the names in an error. */
const MOST_NAMES = 20;

/** Returns the state of an environment as plain JSON. */
export function environmentSnapshot(state: RunState): Json {
  const { seq, state: json } = snapshotOf(state);
  return { runId: state.runId, seq, state: json };
}

/** The parts of an environment that is restored. */
export interface RestoredParts {
  readonly state: RunState;
  readonly options: EnvironmentOptions;
  /** Its roles by the names they were hired under, in the order of hiring. */
  readonly hired: readonly (readonly [name: string, role: Role])[];
}

/** @throws UsageError `SNAPSHOT_INVALID`, `TEAM_CHANGED`, `SCHEDULER_UNKNOWN`, `SCHEDULER_DIFFERS`, `EDGES_DIFFER` */
export function restoredParts(snapshot: unknown, { roles, ...options }: RestoreOptions): RestoredParts {
  const state = stateOfSnapshot(snapshot);
  recordedBy(state, options.scheduler);
  assertSameEdges(state.edges, options.edges);
  // A world that forgets is one whose roles remember nothing.
  return { state, options: state.hasHistory ? options : { ...options, memory: false }, hired: definitionsOf(state, roles) };
}

/** @throws UsageError `SNAPSHOT_INVALID` */
function stateOfSnapshot(snapshot: unknown): RunState {
  const { runId, seq, state: json } = isRecord(snapshot) ? snapshot : {};
  if (isText(runId) && isCount(seq) && json !== undefined) {
    // The checksum of the state covers all that is read of it.
    const found = restored(runId, { seq, state: json as Json });
    if (found !== undefined) return found.state;
  }
  const got = isRecord(snapshot) ? "one that is damaged, or of another version of this package" : valueText(snapshot);
  throw new UsageError("SNAPSHOT_INVALID", `Expected a snapshot of an environment, got ${got}. Take it by environment.snapshot().`);
}

/**
 * Returns the roles of a state with their definitions, in the order of hiring. A definition is found by its own name, under whatever name it was
 * hired.
 *
 * @throws UsageError `TEAM_CHANGED` for a role without a definition, or with one of other traits
 */
function definitionsOf(state: RunState, roles: unknown): readonly (readonly [name: string, role: Role])[] {
  const known = new Map<string, Role>();
  for (const role of rolesIn(roles)) known.set(roleSpec(role as Role).card.name, role as Role);
  const found: (readonly [string, Role])[] = [];
  const missing: string[] = [];
  for (const { name, traits, fingerprint, isHired, waiting } of state.roles.values()) {
    const { name: own } = (traits["card"] ?? {}) as { readonly name?: unknown };
    const role = isText(own) ? known.get(own) : undefined;
    if (role !== undefined && hiredRole(role, name).fingerprint === fingerprint) found.push([name, role]);
    else if (isHired || waiting > 0) missing.push(name);
  }
  if (missing.length === 0) return found;
  const names = listed(missing, MOST_NAMES);
  throw new UsageError(
    "TEAM_CHANGED",
    `Expected the definitions of all roles, as they were, but not those of ${names}. Give them in roles.`,
  );
}
