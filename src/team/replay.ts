import { deliveryOf } from "../runtime/schedulers/scheduler.ts";
import { Environment } from "../runtime/environment.ts";
import { Replay } from "../runtime/replay/replay.ts";
import { type RunResult, runResult } from "../runtime/run-result.ts";
import { systemClock } from "../kernel/clock.ts";
import { JournalError, stepErrorFrom } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import type { HiredRole, RunStarted } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { addRoleState, RunState } from "../runtime/record/run-state.ts";
import { type Crew, inOrderOf } from "./crew.ts";
import { idleResult, type TeamParts } from "./drive.ts";
import type { RunControls } from "./run.ts";
import { readEvents } from "./runs.ts";
import { teamChanged, teamDifferences } from "./team-change.ts";

/** A run that is replayed. Its journal is only read. */
export interface RecordedRun extends TeamParts {
  /** Receives the events of the replay. */
  readonly scratch: Journal;
  readonly crew: Crew;
  readonly controls: RunControls;
}

/** Replays a run from its record alone: see {@link Replay}. */
export async function replayRun(parts: RecordedRun): Promise<RunResult> {
  const { scratch, crew, controls, mask } = parts;
  const { opening, stretches } = await outlineOf(parts);
  const others = stretches.filter(({ team }) => !isTeam(team, crew));
  assertHadTeam(parts, stretches, others);
  await scratch.create(controls.id);
  const state = new RunState(controls.id);
  state.scheduler = opening.scheduler;
  state.parameters = opening.parameters ?? null;
  state.delivery = opening.delivery ?? deliveryOf(opening.scheduler);
  state.seed = opening.seed;
  const environment = await environmentOf(parts, state, opening.parent?.at);
  environment.log.record(opening);
  // A role that was hired later keeps its place.
  for (const role of stretches.flatMap(({ team }) => team)) if (!state.roles.has(role.name)) addRoleState(state, role.name, role);
  for (const [name, role] of inOrderOf(state, crew)) environment.addRole(role, { name });
  controls.started();
  if (others.length > 0) environment.warn(othersText(controls.id, others));
  const end = await environment.drive(Infinity, { checkpoint: undefined, signal: controls.signal });
  await environment.log.durable();
  const isAsRecorded = end.control === undefined && end.failure === undefined;
  return isAsRecorded ? asRecorded(state, mask) : runResult(state, end, mask);
}

async function environmentOf(
  { options, journal, scratch, controls, crew }: RecordedRun,
  state: RunState,
  sharedTo: number | undefined,
): Promise<Environment> {
  const { human: _human, ...rest } = options;
  // The replay itself observes the signal.
  const record = readEvents(journal, controls.id, { from: 1 });
  const replay = new Replay({ record, sharedTo, isOurs: isTeamOf(crew), log: () => environment.log });
  const environment: Environment = new Environment(
    { ...rest, clock: replay.clock(options.clock ?? systemClock), description: options.description ?? options.name ?? "" },
    {
      state,
      observers: controls.observers,
      owned: { journal: scratch, epoch: await scratch.claim(controls.id) },
      grew: controls.grew,
      mode: "replay",
      past: replay,
      driver: replay,
    },
  );
  return environment;
}

/** A part of a run with one team. */
interface Stretch {
  readonly from: number;
  readonly team: readonly HiredRole[];
}

/** Returns the first event of a run, and its teams. @throws JournalError `RUN_NOT_STARTED` */
async function outlineOf({ journal, controls: { id, signal } }: RecordedRun): Promise<{
  readonly opening: RunStarted;
  readonly stretches: readonly Stretch[];
}> {
  let opening: RunStarted | undefined;
  const stretches: Stretch[] = [];
  for await (const event of readEvents(journal, id, { signal })) {
    if (event.seq === 0 && event.type !== "run.started") break;
    if (event.type === "run.started") {
      const { v: _v, runId: _runId, seq: _seq, time: _time, ...body } = event;
      opening = body;
    }
    if ((event.type === "run.started" || event.type === "run.resumed") && event.roles !== undefined)
      stretches.push({ from: event.seq, team: event.roles });
  }
  if (opening !== undefined) return { opening, stretches };
  throw new JournalError("RUN_NOT_STARTED", `Expected a run with a record, but ${id} has none. Run it first.`);
}

/** Refuses a team that no part of the run had. @throws JournalError `TEAM_CHANGED` */
function assertHadTeam({ crew, controls }: RecordedRun, stretches: readonly Stretch[], others: readonly Stretch[]): void {
  if (others.length < stretches.length) return;
  const differences = teamDifferences(stretches.at(-1)?.team ?? [], crew);
  throw teamChanged(controls.id, differences, "Replay it with the team it was made with, or fork it.");
}

/** Returns the recorded result of the run. A record without an end gives a stopped run. */
function asRecorded(state: RunState, mask: Mask): RunResult {
  const result = idleResult(state, mask);
  if (state.phase.phase === "running") return { ...result, status: "stopped" };
  const { status, error } = state.phase;
  return { ...result, status, ...(error === undefined ? {} : { error: stepErrorFrom(error) }) };
}

function isTeam(team: readonly HiredRole[], crew: Crew): boolean {
  return teamDifferences(team, crew).length === 0;
}

/** Returns `isTeam` with a cache, because the same few teams are compared repeatedly. */
function isTeamOf(crew: Crew): (team: readonly HiredRole[]) => boolean {
  const known = new WeakMap<readonly HiredRole[], boolean>();
  return (team) => {
    const answer = known.get(team) ?? isTeam(team, crew);
    known.set(team, answer);
    return answer;
  };
}

function othersText(runId: string, others: readonly Stretch[]): string {
  const places = others.map(({ from }) => from).join(", ");
  return `Run ${runId} went on with another team: its events from event ${places} on are copied as they are recorded, and are not replayed.`;
}
