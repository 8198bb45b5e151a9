import { aText, takes } from "../../kernel/argument.ts";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { maskSecrets } from "../../kernel/mask.ts";
import { isCount, isRecord, isText } from "../../kernel/value-kind.ts";
import { listed, valueText } from "../../kernel/value-text.ts";
import type { Role } from "../../role/role.ts";
import { rolesIn } from "../../role/role-parts.ts";
import { roleSpec } from "../../role/role-spec.ts";
import { checkOptions, type EnvironmentOptions, type RestoreOptions, type RunBacking } from "../environment-options.ts";
import { assertSameEdges } from "../edges/edge-policy.ts";
import type { Environment } from "../environment.ts";
import { hiredRole } from "../hired-roles.ts";
import { assertNotErased } from "../record/erased-event.ts";
import { aJournal, type Journal } from "../record/journal.ts";
import { OwnRun } from "../own-run.ts";
import type { RunState } from "../record/run-state.ts";
import { assertArrivalOrder, recordedBy } from "../schedulers/scheduler.ts";
import { restored as restoredState, snapshotOf, recordedState } from "./snapshot.ts";

const MAX_NAMES = 20;

export function environmentSnapshot(state: RunState): Json {
  return { runId: state.runId, ...snapshotOf(state) };
}

type MakeEnvironment = (options: EnvironmentOptions, backing: RunBacking) => Environment;

export async function restored(from: unknown, o: RestoreOptions, make: MakeEnvironment): Promise<Environment> {
  if (!isRecord(from) || from["journal"] === undefined) return environmentWith({ state: stateOfSnapshot(from) }, o, make);
  const { journal, id } = from;
  takes("Environment.restore", "journal", journal, aJournal);
  takes("Environment.restore", "id", id, aText);
  // Both were checked above.
  return fromRecord(journal as Journal, String(id), o, make);
}

async function fromRecord(journal: Journal, id: string, o: RestoreOptions, make: MakeEnvironment): Promise<Environment> {
  const claim = await journal.claim(id);
  try {
    const { state, last } = await recordedState(journal, id, (from) => journal.read(id, from));
    if (state.seq === 0)
      throw new JournalError("RUN_NOT_STARTED", `Expected a run that has begun, but ${id} has no events. Start it: new Environment.`);
    assertNotErased(state);
    const environment = environmentWith({ state, own: new OwnRun(journal, id, { claim, last }) }, o, make);
    // If the process died, stores may lack the last changes.
    if (environment.memories.isUsed) for await (const event of journal.read(id, 0)) environment.memories.learn(event);
    return environment;
  } catch (error) {
    await journal.release(id, claim.epoch, { former: claim.former }).catch(() => undefined);
    throw error;
  }
}

function environmentWith(
  backing: RunBacking & { readonly state: RunState },
  { roles, ...options }: RestoreOptions,
  make: MakeEnvironment,
): Environment {
  const { state } = backing;
  checkOptions(options);
  const mask = maskSecrets(options.secrets ?? []);
  recordedBy(state, options.scheduler, mask);
  assertSameEdges(state.edges, options.edges, mask);
  assertArrivalOrder(state, options.delivery);
  const hired = definitionsOf(state, roles);
  // The snapshot of an environment without memory has roles that remember nothing.
  const environment = make(state.hasHistory ? options : { ...options, memory: false }, { ...backing, opens: true });
  for (const [name, role] of hired) environment.addRole(role, { name });
  return environment;
}

function stateOfSnapshot(snapshot: unknown): RunState {
  const { runId, seq, state } = isRecord(snapshot) ? snapshot : {};
  if (isText(runId) && isCount(seq) && isText(state)) {
    // The checksum of the state covers every value read here.
    const found = restoredState(runId, { seq, state });
    if (found !== undefined) return found.state;
  }
  const got = isRecord(snapshot) ? "one that is damaged, or of another version of this package" : valueText(snapshot);
  throw new UsageError("SNAPSHOT_INVALID", `Expected a snapshot of an environment, got ${got}. Take it by environment.snapshot().`);
}

/** Returns roles with their definitions, found by their own names. @throws UsageError `TEAM_CHANGED` for a missing one, or one of other traits */
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
  const names = listed(missing, MAX_NAMES);
  throw new UsageError(
    "TEAM_CHANGED",
    `Expected the definitions of all roles, as they were, but not those of ${names}. Give them in roles.`,
  );
}
