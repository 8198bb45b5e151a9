import { JournalError, MovedError, stepErrorFrom, WaitingError } from "../kernel/errors.ts";
import { onAbort } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import type { RunContext } from "../kernel/deps.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import { Funds, type Spender } from "../model/funds.ts";
import { defined } from "../kernel/value-kind.ts";
import { presentMeter } from "../model/meter.ts";
import { Environment } from "../runtime/environment.ts";
import { DEFAULT_ROUNDS, type RunBacking } from "../runtime/environment-options.ts";
import { holdKey } from "../runtime/record/apply-steps.ts";
import type { ForkPoint, RunEvent, RunEventBody } from "../runtime/record/event.ts";
import { type Claim, type Journal, readEvents } from "../runtime/record/journal.ts";
import { isFinished, roundsOf, type RunState } from "../runtime/record/run-state.ts";
import { isWait } from "../runtime/record/signals.ts";
import { turnCount } from "../runtime/record/turn-count.ts";
import type { ForkAnswers } from "../runtime/replay/fork-answers.ts";
import type { RunFailure } from "../runtime/run-failure.ts";
import { type RunEnd, type RunResult, runResult, type RunBounds } from "../runtime/run-result.ts";
import { EVENTS_BETWEEN } from "../runtime/snapshot/snapshot.ts";
import { checkpointOf, type StopCondition } from "../runtime/stop-condition.ts";
import { nothingLeft } from "./bounds.ts";
import { type Crew, unwatchedCauses } from "./crew.ts";
import { publishOnce, type RunChange } from "./publishing.ts";
import type { RunControls } from "./run.ts";
import type { TeamOptions } from "./team-options.ts";
import { keepWarm, type WarmRun } from "./warm-states.ts";

export interface TeamParts {
  readonly name: string;
  readonly options: TeamOptions;
  readonly journal: Journal;
  readonly mask: Mask;
}

export interface ClaimedRun extends Claim, WarmRun {
  /** Called once this owner has recorded that the run continues. Until then the next claim learns how the previous owner left the run. */
  readonly continued: () => void;
  /** Called before the run is released. @param error the reason for the end; undefined for a finished run */
  readonly conclude?: ((error: unknown) => Promise<void>) | undefined;
}

export interface TeamRun extends TeamParts, ClaimedRun {
  readonly controls: RunControls;
  readonly crew: Crew;
  /** The idea given with the id of a known run. The caller wants the outcome, so an old outcome is no error. */
  readonly idea?: Message;
  readonly context?: RunContext | undefined;
}

export interface Drive extends TeamRun {
  readonly stopWhen: StopCondition | undefined;
  /** Recorded first, together with the messages in `said`, so that no record lacks its idea. */
  readonly opening: readonly RunEventBody[];
  readonly said: readonly (Message | string)[];
  readonly news: readonly (Message | string)[];
  readonly past?: ForkAnswers | undefined;
  readonly warnings?: readonly string[];
  readonly waits?: boolean | undefined;
}

export async function drive(run: Drive): Promise<RunResult> {
  const { crew, state } = run;
  // A step in flight at the last stop is lost, as the record will show.
  const funds = await Funds.open(crew.pools, { ...spenderOf(state), paid: presentMeter()?.pools });
  for (const event of run.opening)
    if (event.type === "run.settled") for (const one of event.settles) funds?.settleLost(holdKey(one), one.cost ?? 0);
  let isOver = false;
  try {
    const { clock = systemClock, snapshotEvery = EVENTS_BETWEEN } = run.options;
    const snapshots = { clock, every: snapshotEvery, last: run.last };
    const environment = environmentOf(run, { funds, snapshots });
    const result = await driveOn(run, environment);
    isOver = isDone(state);
    if (state.phase.phase === "ended") keepState({ ...run, warmMemories: environment.memories.warm }, environment);
    return result;
  } finally {
    await funds?.close(isOver);
  }
}

function keepState({ journal, state, last, warmMemories }: TeamRun, { log }: Environment): void {
  if (log.latest !== undefined && log.isDurable) keepWarm(journal, { state, last: log.snapshot ?? last, warmMemories }, log.latest);
}

/** True for a spender that never returns; its lost calls may still be settled. */
export function isDone(state: RunState): boolean {
  return isFinished(state) && state.lost.length === 0;
}

/** Pools forget a finished spender, so a run that continues later is a new spender. */
export function spenderOf({ runId, done, ledger }: RunState): Spender {
  const { settled, holds: lost } = ledger;
  return done === undefined ? { name: runId, spent: settled, lost } : { name: `${runId}#${done.seq}`, spent: settled - done.spent, lost };
}

async function driveOn(run: Drive, environment: Environment): Promise<RunResult> {
  const { controls, crew, opening, said, news, past, warnings = [], state, mask } = run;
  const { parent, seq, team } = state;
  const roundsBefore = state.phase.phase === "ended" || parent !== undefined ? roundsOf(state) : undefined;
  for (const event of opening) environment.log.record(event);
  for (const [name, role] of crew.roles) environment.addRole(role, { name });
  if (opening.some((event) => event.type === "run.resumed" && event.roles !== undefined)) environment.engine.team.announceResumed(team);
  for (const message of said) environment.publishMessage(message);
  for (const message of news) publishOnce(environment, message, mask);
  await environment.log.durable();
  run.continued();
  controls.started();
  const entry = { isOver: false };
  controls.enter({ change: (change) => change.make(environment, { mask, isOver: () => entry.isOver }) });
  await rememberRecord(environment, run, seq);
  for (const warning of warnings) environment.warn(warning);
  if (opening[0]?.type === "run.started") for (const { warning } of unwatchedCauses(crew.roles, said)) environment.warn(warning);
  const end = await ended(run, environment, entry);
  const result = withDifference(await environment.finish(end), past);
  const nothing = roundsBefore === roundsOf(state) && result.error === undefined ? nothingLeft(state, end.reason) : undefined;
  if (nothing === undefined) return result;
  // A warning, not an event, because the run itself did nothing.
  environment.warn(nothing.message);
  return run.idea === undefined ? { ...result, error: nothing } : result;
}

async function ended(run: Drive, environment: Environment, entry: { isOver: boolean }): Promise<RunEnd> {
  const { state, controls } = run;
  const failure = environment.engine.failPoisoned(state.bounds.poisonAfter ?? Infinity) ?? stuckFailure(state);
  if (failure !== undefined) await environment.memories.rest();
  for (;;) {
    const end: RunEnd =
      failure === undefined ? await environment.drive(boundsOf(run)) : { reason: "interrupted", failure, control: undefined };
    const isWoken = end.control instanceof WaitingError && environment.engine.openRoles.some((role) => environment.engine.isWoken(role));
    if (end.failure === undefined && (isWoken || waitsForRetired(end, state))) continue;
    if (run.waits === true && end.failure === undefined && isWait(end.control)) {
      const isQuiet = ![...state.ready].some((role) => role.open === undefined && environment.engine.mayAct(role));
      if (isQuiet) await untilNews(run, environment);
      continue;
    }
    const isIdle = end.reason === "idle" && end.failure === undefined && end.control === undefined;
    entry.isOver = !isIdle;
    await run.conclude?.(await reasonOf(environment, end));
    if (isIdle && environment.engine.hasWork) continue;
    entry.isOver = true;
    controls.enter(undefined);
    return end;
  }
}

function untilNews({ controls: { signal } }: Drive, environment: Environment): Promise<void> {
  const { engine } = environment;
  return new Promise((resolve) => {
    const leave = (["message", "role.hired", "role.retired", "role.taken"] as const).map((type) => environment.on(type, () => left()));
    leave.push(
      onAbort(signal, () => left()),
      engine.whenDue(engine.openRoles, () => left()),
    );
    const left = (): void => {
      for (const stop of leave) stop();
      resolve();
    };
    if (signal.aborted) left();
  });
}

async function reasonOf({ log }: Environment, { failure, control }: RunEnd): Promise<unknown> {
  const broken = await log.durable().catch((error: unknown) => error);
  return [broken, control].find((error) => error instanceof MovedError) ?? failure?.error ?? broken ?? control;
}

function waitsForRetired({ control }: RunEnd, { roles }: RunState): boolean {
  if (!(control instanceof WaitingError)) return false;
  const { role } = control.data as { readonly role: string };
  const asker = roles.get(role);
  return asker !== undefined && !asker.isHired && asker.waiting === 0;
}

export async function changeAlone<T>(run: TeamRun, change: RunChange<T>): Promise<T> {
  const environment = environmentOf(run);
  for (const [name, role] of run.crew.roles) environment.addRole(role, { name });
  environment.engine.team.announceNewest();
  const made = await change.make(environment, { mask: run.mask, isOver: () => true });
  keepState(run, environment);
  return made;
}

/** The memories of a finished run store changes that a death of the process may have prevented. */
export async function resultOfFinished(run: TeamRun): Promise<RunResult> {
  const { state, mask, crew } = run;
  const environment = environmentOf(run);
  for (const [name, role] of crew.roles) environment.addRole(role, { name });
  await rememberRecord(environment, run, state.seq);
  await environment.memories.rest();
  return idleResult(state, mask);
}

function idleResult(state: RunState, mask: Mask): RunResult {
  return runResult(state, { reason: "idle", failure: undefined, control: undefined }, mask);
}

export function recordedResult(state: RunState, mask: Mask): RunResult {
  const result = idleResult(state, mask);
  if (state.phase.phase === "running") return { ...result, status: "stopped" };
  const { status, error, stoppedBy } = state.phase;
  return { ...result, status, ...defined({ stoppedBy, error: error && stepErrorFrom(error) }) };
}

function environmentOf(
  { options, journal, controls, crew, state, past, epoch, context }: TeamRun & Pick<Drive, "past">,
  { funds, snapshots }: Pick<RunBacking, "funds" | "snapshots"> = {},
): Environment {
  const { limits } = crew;
  const isBound = (crew.budget ?? state.budget) !== undefined || funds?.isBinding === true;
  return new Environment(
    { ...options, ...defined({ limits }), description: options.description ?? options.name ?? "" },
    {
      state,
      observers: controls.observers,
      owned: { journal, epoch },
      funds,
      context,
      requirePrice: isBound && options.allowUnpriced !== true,
      resumed: controls.resumed,
      grew: controls.grew,
      ...defined({ past, snapshots }),
    },
  );
}

/** A run without progress fails after losing this many owners. Deploys and failing machines may interrupt a long call a few times. */
const STUCK_AFTER = 20;

function stuckFailure({ runId, takes }: RunState): RunFailure | undefined {
  if (takes < STUCK_AFTER) return undefined;
  const text = `Expected run ${runId} to progress, but its owner changed ${takes} times without an answer in between. Find out why its owners leave it, then resume it: no work is lost.`;
  return { error: new JournalError("RUN_STUCK", text, { data: { runId, takes } }) };
}

function withDifference(result: RunResult, past: ForkAnswers | undefined): RunResult {
  if (result.fork === undefined || past?.difference === undefined) return result;
  return { ...result, fork: { ...result.fork, difference: past.difference } };
}

function boundsOf({ stopWhen, controls: { signal }, state }: Drive): RunBounds {
  const { ticks } = state.bounds;
  const lastTick = ticks === undefined ? undefined : (): number => state.tick - turnCount(state).tick + ticks;
  const roundsLeft = (): number => (state.bounds.rounds ?? DEFAULT_ROUNDS) - turnCount(state).rounds;
  return { roundsLeft, lastTick, signal, ...checkpointOf(stopWhen, state) };
}

/** Gives the first `seq` events of a run to the memories of its roles, which store the missing changes. */
async function rememberRecord({ memories }: Environment, run: TeamRun, seq: number): Promise<void> {
  const { journal, state, controls, warmMemories } = run;
  if (seq === 0 || state.erased) return;
  // A role hired during the run may be the first with such a memory.
  memories.descendsFrom(await ancestorsOf(journal, state.parent));
  if (!memories.isUsed || memories.adopt(warmMemories)) return;
  for await (const event of readEvents(journal, state.runId)) {
    if (event.seq >= seq || controls.signal.aborted) return;
    memories.learn(event);
  }
}

async function ancestorsOf(journal: Journal, parent: ForkPoint | undefined): Promise<readonly ForkPoint[]> {
  const ancestors: ForkPoint[] = [];
  for (let next = parent; next !== undefined && !ancestors.some(({ runId }) => runId === next?.runId);) {
    ancestors.push(next);
    const first = await firstEvent(journal, next.runId);
    next = first?.type === "run.started" ? first.parent : undefined;
  }
  return ancestors;
}

async function firstEvent(journal: Journal, runId: string): Promise<RunEvent | undefined> {
  try {
    for await (const event of journal.read(runId, 0)) return event;
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
  }
  return undefined;
}
