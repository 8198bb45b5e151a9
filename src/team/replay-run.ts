import { Environment } from "../environment/environment.ts";
import { Replay } from "../environment/replay.ts";
import { type RunResult, runResult } from "../environment/run-result.ts";
import { systemClock } from "../kernel/clock.ts";
import { JournalError, stepErrorFrom } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import type { RunStarted } from "../run/event.ts";
import type { Journal } from "../run/journal.ts";
import { emptyRunState, type RunState } from "../run/run-state.ts";
import { assertSameTeam, type Crew, inOrderOf } from "./crew.ts";
import { resultAtRest } from "./drive.ts";
import type { RunControls } from "./run.ts";
import type { TeamOptions } from "./team-options.ts";

/** What a run is replayed with. */
export interface RecordedRun {
  readonly options: TeamOptions;
  /** Has the record. It is only read. */
  readonly journal: Journal;
  /** Gets what the replay records. */
  readonly scratch: Journal;
  readonly mask: Mask;
  readonly crew: Crew;
  readonly controls: RunControls;
}

/** Lets a recorded run happen again from its record alone: see {@link Replay}. */
export async function replayRun(parts: RecordedRun): Promise<RunResult> {
  const { journal, scratch, crew, controls, mask } = parts;
  const opening = await openingOf(journal, controls.id);
  await scratch.create(controls.id);
  const state: RunState = { ...emptyRunState(controls.id), scheduler: opening.scheduler, seed: opening.seed };
  const environment = await environmentOf(parts, state, opening.parent?.at);
  environment.log.record(opening);
  assertSameTeam(state, crew);
  for (const [name, role] of inOrderOf(state, crew)) environment.addRole(role, { name });
  controls.started();
  const end = await environment.drive(Infinity);
  await environment.log.durable();
  const isAsRecorded = end.control === undefined && end.failure === undefined;
  return isAsRecorded ? asRecorded(state, mask) : runResult(state, end, mask);
}

async function environmentOf(
  { options, journal, scratch, controls }: RecordedRun,
  state: RunState,
  sharedTo: number | undefined,
): Promise<Environment> {
  const { human: _human, ...rest } = options;
  const replay = new Replay({ record: journal.read(controls.id, 1), sharedTo, log: () => environment.log });
  const environment: Environment = new Environment(
    { ...rest, clock: replay.clock(options.clock ?? systemClock), description: options.description ?? options.name ?? "" },
    {
      state,
      emitter: controls.emitter,
      owned: { journal: scratch, epoch: await scratch.claim(controls.id) },
      signal: controls.signal,
      grew: controls.grew,
      mode: "replay",
      past: replay,
      scheduler: replay,
    },
  );
  return environment;
}

async function openingOf(journal: Journal, runId: string): Promise<RunStarted> {
  for await (const event of journal.read(runId, 0)) {
    if (event.type !== "run.started") break;
    const { v: _v, runId: _runId, seq: _seq, time: _time, ...opening } = event;
    return opening;
  }
  throw new JournalError("RUN_NOT_STARTED", `Expected a run with a record, but ${runId} has none. Run it first.`);
}

/** What came of the run then. A record that was cut off ends where it does. */
function asRecorded(state: RunState, mask: Mask): RunResult {
  const result = resultAtRest(state, mask);
  if (state.phase.phase === "running") return { ...result, status: "stopped" };
  const { status, error } = state.phase;
  return { ...result, status, ...(error === undefined ? {} : { error: stepErrorFrom(error) }) };
}
