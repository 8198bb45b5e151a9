import { termsOf } from "../runtime/schedulers/scheduler.ts";
import { Environment } from "../runtime/environment.ts";
import { Replay, type ReplayParts } from "../runtime/replay/replay.ts";
import { type RunResult, runResult } from "../runtime/run-result.ts";
import { systemClock } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import { assertNotErased } from "../runtime/record/erased-event.ts";
import type { HiredRole, RunStarted } from "../runtime/record/event.ts";
import { type Journal, readEvents } from "../runtime/record/journal.ts";
import { addRoleState, RunState } from "../runtime/record/run-state.ts";
import { type Crew, crewWith, inOrderOf, teamChanged, teamDifferences } from "./crew.ts";
import { recordedResult, type TeamParts, type TeamRun } from "./drive.ts";

export interface RecordedRun extends TeamParts, Pick<TeamRun, "context" | "crew" | "controls"> {
  readonly scratch: Journal;
}

export async function replayRun(parts: RecordedRun): Promise<RunResult> {
  const { scratch, controls, mask } = parts;
  const { opening, stretches, arrivals, mobile } = await outlineOf(parts);
  const crew = crewWith(arrivals, parts.crew);
  const isOurs = isTeamOf(crew, mobile);
  const others = stretches.filter(({ team }) => !isOurs(team));
  if (others.length === stretches.length) {
    const differences = teamDifferences(stretches.at(-1)?.team ?? [], crew);
    throw teamChanged(controls.id, differences, "Replay it with the team it was made with, or fork it.");
  }
  await scratch.create(controls.id);
  const state = new RunState(controls.id);
  Object.assign(state, termsOf(opening));
  state.seed = opening.seed;
  const environment = await environmentOf(parts, state, { sharedTo: opening.parent?.at, isOurs });
  environment.log.record(opening);
  // A role hired later keeps its index.
  for (const { isOnTheWay, ...role } of arrivals) {
    if (state.roles.has(role.name)) continue;
    const later = addRoleState(state, role.name, role);
    if (!isOnTheWay) continue;
    later.awaitHire();
    state.ready.delete(later);
  }
  for (const [name, role] of inOrderOf(state, crew)) environment.addRole(role, { name });
  controls.started();
  if (others.length > 0) environment.warn(othersText(controls.id, others));
  const end = await environment.drive({ roundsLeft: () => Infinity, checkpoint: undefined, signal: controls.signal });
  await environment.log.durable();
  const isAsRecorded = end.control === undefined && end.failure === undefined;
  return isAsRecorded ? recordedResult(state, mask) : runResult(state, end, mask);
}

async function environmentOf(
  { options, journal, scratch, controls, context }: RecordedRun,
  state: RunState,
  parts: Pick<ReplayParts, "sharedTo" | "isOurs">,
): Promise<Environment> {
  const { human: _human, ...rest } = options;
  const record = readEvents(journal, controls.id, { from: 1 });
  const replay = new Replay({ record, ...parts, log: () => environment.log });
  const environment: Environment = new Environment(
    { ...rest, clock: replay.clock(options.clock ?? systemClock), description: options.description ?? options.name ?? "" },
    {
      state,
      observers: controls.observers,
      owned: { journal: scratch, epoch: (await scratch.claim(controls.id)).epoch },
      filesOf: journal,
      grew: controls.grew,
      context,
      mode: "replay",
      past: replay,
      edges: replay,
      driver: replay,
    },
  );
  return environment;
}

interface Stretch {
  readonly from: number;
  readonly team: readonly HiredRole[];
}

interface Arrival extends HiredRole {
  readonly isOnTheWay: boolean;
}

async function outlineOf({ journal, controls: { id, signal } }: RecordedRun) {
  let opening: RunStarted | undefined;
  const stretches: Stretch[] = [];
  const arrivals: Arrival[] = [];
  const mobile = new Set<string>();
  const note = (from: number, team: readonly HiredRole[], isOnTheWay: boolean): void => {
    stretches.push({ from, team });
    arrivals.push(...team.map((role) => ({ ...role, isOnTheWay })));
  };
  for await (const event of readEvents(journal, id, { signal })) {
    if (event.seq === 0 && event.type !== "run.started") break;
    assertNotErased({ runId: id, erased: event.type === "run.erased" });
    const before = stretches.at(-1)?.team ?? [];
    if (event.type === "run.started") {
      const { v: _v, runId: _runId, seq: _seq, time: _time, ...body } = event;
      opening = body;
      note(event.seq, event.roles, false);
    } else if (event.type === "run.resumed" && event.roles !== undefined) note(event.seq, event.roles, false);
    else if (event.type === "role.hired") {
      for (const { name } of event.roles) mobile.add(name);
      note(event.seq, [...before, ...event.roles], true);
    } else if (event.type === "role.retired") {
      mobile.add(event.role);
      const team = before.filter(({ name }) => name !== event.role);
      note(event.seq, team, true);
    }
  }
  if (opening !== undefined) return { opening, stretches, arrivals, mobile };
  throw new JournalError("RUN_NOT_STARTED", `Expected a run with a record, but ${id} has none. Run it first.`);
}

/** True if a recorded team equals the crew, apart from mobile roles that the team does not have at that time. */
function isTeamOf(crew: Crew, mobile: ReadonlySet<string>): (team: readonly HiredRole[]) => boolean {
  // The same few teams are compared repeatedly.
  const known = new WeakMap<readonly HiredRole[], boolean>();
  return (team) => {
    const names = new Set(team.map(({ name }) => name));
    const roles = crew.roles.filter(([name]) => names.has(name) || !mobile.has(name));
    const isTeam = known.get(team) ?? teamDifferences(team, { ...crew, roles }).length === 0;
    known.set(team, isTeam);
    return isTeam;
  };
}

function othersText(runId: string, others: readonly Stretch[]): string {
  const starts = others.map(({ from }) => from).join(", ");
  return `Run ${runId} continued with another team: its events from event ${starts} on are copied as they are recorded, and are not replayed.`;
}
