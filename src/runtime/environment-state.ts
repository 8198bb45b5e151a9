import type { RunBounds } from "./run-result.ts";
import { object, takes } from "../kernel/argument.ts";
import type { Json } from "../kernel/json.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { isText } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { OwnRun } from "./own-run.ts";
import { aJournal } from "./record/journal.ts";
import type { OwnedRun } from "./record/run-log.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import { nextSeed, presentMeter } from "../model/meter.ts";
import { createMessage, type Message, serializeMessage } from "../message/message.ts";
import {
  checkOptions,
  DEFAULT_ROUNDS,
  environmentOptions,
  type EnvironmentOptions,
  environmentRunOptions,
  type EnvironmentRunOptions,
  type RunBacking,
} from "./environment-options.ts";
import { recordedEdges } from "./edges/edge-policy.ts";
import { maskedRules } from "./record/rewritten-event.ts";
import { measureMailboxes } from "./record/delivery.ts";
import { roundsLeftOf, RunState } from "./record/run-state.ts";
import { recordedScheduler, schedulerOf, termsOf } from "./schedulers/scheduler.ts";
import { checkpointOf } from "./stop-condition.ts";
import { EVENTS_BETWEEN, SnapshotWriter, type SnapshotWriterParts } from "./snapshot/snapshot.ts";
import type { ReadableMemory } from "../memory/message-memory.ts";
import { Plan } from "../role/plan.ts";
import type { Role } from "../role/role.ts";
import type { RoleState } from "./record/role-state.ts";

export function checkOwnOptions(options: EnvironmentOptions, backing: RunBacking): void {
  takes("new Environment", "what a team gives it", backing, object("an object"));
  // A team has checked the options of its runs.
  if (backing.state !== undefined) return;
  checkKnownOptions("new Environment", options, environmentOptions);
  checkOptions(options);
  checkRecord(options);
}

function checkRecord({ journal, id, memory }: EnvironmentOptions): void {
  if (journal !== undefined) takes("new Environment", "journal", journal, aJournal);
  if (id !== undefined && (!isText(id) || id === ""))
    throw invalid("the id of a run, a text", valueText(id), "Leave it out for a new one.");
  if (id !== undefined && journal === undefined)
    throw invalid("a journal for the run of that id", "none", "Write journal: memoryJournal().");
  if (memory === false && journal !== undefined)
    throw invalid("a journal of a world that keeps its history", "memory: false", "Leave the journal out, and take snapshots.");
}

function invalid(expected: string, came: string, todo: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${expected}, got ${came}. ${todo}`);
}

export function boundsOf(o: EnvironmentRunOptions, state: RunState): RunBounds {
  checkKnownOptions("run of an environment", o, environmentRunOptions);
  const { rounds = DEFAULT_ROUNDS, ticks, stopWhen, signal } = o;
  const from = state.tick;
  if (rounds === Infinity && signal === undefined)
    throw invalid(
      "a signal for a run without a limit on rounds",
      "none",
      "Write signal: AbortSignal.timeout(60_000), or give a number of rounds.",
    );
  const lastTick = ticks === undefined ? undefined : (): number => from + ticks;
  return { roundsLeft: roundsLeftOf(state, rounds), lastTick, ...checkpointOf(stopWhen, state), signal };
}

export function freshState(options: EnvironmentOptions): RunState {
  const { journal, id = journal === undefined ? "environment" : freshRunId((options.clock ?? systemClock).now()) } = options;
  const state = new RunState(id, options.memory !== false);
  state.seed = String(options.seed ?? nextSeed());
  const given = { ...recordedScheduler(schedulerOf(options.scheduler ?? "rounds")), edges: recordedEdges(options.edges) };
  const rules = maskedRules(maskSecrets(options.secrets ?? []), given);
  Object.assign(state, termsOf(rules));
  state.arrival = options.delivery ?? "hire";
  if (options.mailbox !== undefined) state.bounds = { mailbox: options.mailbox };
  state.edges = rules.edges;
  state.scope = presentMeter()?.scope;
  measureMailboxes(state);
  return state;
}

export function userMessage({ outside, fromOutside }: RunState, content: string, clock: Clock = systemClock): Message {
  let nth = outside + 1;
  while (fromOutside.has(`user#${nth}`)) nth += 1;
  return createMessage(content, { id: `user#${nth}`, timestamp: clock.now() });
}

export interface RunRecord {
  /** The record that the environment owns itself; undefined if a team owns it, or nothing is recorded. */
  readonly own: OwnRun | undefined;
  readonly owned: OwnedRun | undefined;
  readonly snapshots: RunBacking["snapshots"];
  readonly filesOf: RunBacking["filesOf"];
}

export function recordOf({ journal, clock = systemClock }: EnvironmentOptions, backing: RunBacking, state: RunState): RunRecord {
  const { owned, snapshots, filesOf } = backing;
  const isOwn = owned === undefined && backing.state === undefined && journal !== undefined;
  const own = backing.own ?? (isOwn ? new OwnRun(journal, state.runId) : undefined);
  if (own === undefined) return { own, owned, snapshots, filesOf };
  return { own, owned: own.owned, filesOf, snapshots: { clock, every: EVENTS_BETWEEN, last: own.last } };
}

export function writerOf({ owned, snapshots }: RunRecord, state: RunState, warn: SnapshotWriterParts["warn"]): SnapshotWriter | undefined {
  if (owned === undefined || snapshots === undefined || snapshots.every === 0) return undefined;
  return new SnapshotWriter({ ...snapshots, state, owned, warn });
}

export function assertAlias(o: unknown): void {
  if (typeof o === "object" && o !== null) return;
  throw new UsageError(
    "ROLE_INVALID",
    `Expected the other name of a role as { name }, got ${valueText(o)}. Write addRole(role, { name }).`,
  );
}

export function environmentJson(state: RunState, description: string): Json {
  return {
    description,
    seed: state.seed,
    scheduler: state.scheduler,
    round: state.round,
    history: state.history.get().map(serializeMessage) as unknown as Json,
    roles: [...state.roles.values()].map((role) => ({
      name: role.name,
      mailbox: role.mailbox.toJSON(),
      memory: role.memory.toJSON(),
      workingMemory: role.workingMemory.toJSON(),
      state: role.custom,
      plan: role.plan.toJSON(),
    })) as unknown as Json,
  };
}

/** A read-only view of a role's state. */
export interface RoleView {
  readonly role: Role;
  readonly name: string;
  readonly inbox: readonly Message[];
  readonly memory: ReadableMemory;
  readonly workingMemory: ReadableMemory;
  readonly state: { readonly [key: string]: Json };
  /** A copy: changes to it have no effect. */
  readonly plan: Plan;
  readonly isIdle: boolean;
}

export function roleView(role: Role, held: RoleState): RoleView {
  const { name, custom, plan, open, waiting } = held;
  return {
    role,
    name,
    inbox: held.news(waiting),
    state: custom,
    isIdle: waiting === 0 && open === undefined,
    get memory() {
      return held.memory;
    },
    get workingMemory() {
      return held.workingMemory;
    },
    get plan() {
      return Plan.fromJSON(plan.toJSON());
    },
  };
}
