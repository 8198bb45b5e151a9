import { object, takes } from "../kernel/argument.ts";
import type { Json } from "../kernel/json.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import { freshSeed } from "../kernel/random.ts";
import { serializeMessage } from "../message/message.ts";
import { checkOptions } from "./check-options.ts";
import { recordedEdges } from "./edges/edge-policy.ts";
import { environmentOptions, type EnvironmentOptions, type RunBacking } from "./environment-options.ts";
import { measureMailboxes } from "./record/delivery.ts";
import { RunState, type ShardRange } from "./record/run-state.ts";
import { schedulerOf } from "./schedulers/scheduler.ts";
import { SnapshotWriter, type SnapshotWriterParts } from "./snapshot/snapshot-writer.ts";

/** A team, and a function that restores, have already checked the options that they pass on. */
export function checkOwnOptions(options: EnvironmentOptions, backing: RunBacking): void {
  takes("new Environment", "what a team gives it", backing, object("an object"));
  if (backing.state === undefined) checkKnownOptions("new Environment", options, environmentOptions);
  checkOptions(options);
}

/** Returns the state of an environment before its first event. */
export function freshState(options: EnvironmentOptions, shard?: ShardRange): RunState {
  const state = new RunState("environment", options.memory !== false);
  state.seed = String(options.seed ?? freshSeed());
  const scheduler = schedulerOf(options.scheduler ?? "rounds");
  state.scheduler = scheduler.name;
  state.parameters = scheduler.parameters ?? null;
  state.delivery = scheduler.delivery;
  if (options.mailbox !== undefined) state.bounds = { mailbox: options.mailbox };
  state.edges = recordedEdges(options.edges);
  state.shard = shard;
  measureMailboxes(state);
  return state;
}

/** Returns the writer of snapshots behind a run; undefined for a run that keeps none. */
export function writerOf({ owned, snapshots }: RunBacking, state: RunState, warn: SnapshotWriterParts["warn"]): SnapshotWriter | undefined {
  if (owned === undefined || snapshots === undefined || snapshots.every === 0) return undefined;
  return new SnapshotWriter({ ...snapshots, state, owned, warn });
}

/** Returns what an environment holds, in a form for people and programs that look at it. */
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
