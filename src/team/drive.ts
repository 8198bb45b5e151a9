import { Environment } from "../runtime/environment.ts";
import { type RunEnd, type RunResult, runResult } from "../runtime/run-result.ts";
import { DEFAULT_ROUNDS } from "../runtime/environment-options.ts";
import { progressOf, type StopCondition } from "../runtime/stop-condition.ts";
import type { RunBounds } from "../runtime/engine.ts";
import { Funds } from "../model/budget-pool.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import type { RunEventBody } from "../runtime/record/event.ts";
import type { ForkAnswers } from "../runtime/replay/fork-answers.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { roundsOf, type RunState } from "../runtime/record/run-state.ts";
import { nothingLeft } from "./bounds.ts";
import type { Crew } from "./crew.ts";
import { noteModels, otherModels, otherModelText } from "./known-models.ts";
import { rememberRecord } from "./remember.ts";
import type { RunControls } from "./run.ts";
import type { TeamOptions } from "./team-options.ts";
import { unheardCauses } from "./unheard-causes.ts";

/** What a run is driven with. */
export interface Drive {
  readonly options: TeamOptions;
  readonly journal: Journal;
  readonly mask: Mask;
  readonly crew: Crew;
  /** Asked after every round; what else bounds the run is recorded. */
  readonly stopWhen: StopCondition | undefined;
  readonly controls: RunControls;
  readonly state: RunState;
  /** The idea that a program gives again under the id of a known run. It asks for the run's outcome, which is no error because it is old. */
  readonly idea?: Message;
  /** The right to write. */
  readonly epoch: number;
  /** Recorded first, in this order, with what is said from outside: so that no run is found without its idea. */
  readonly opening: readonly RunEventBody[];
  readonly said: readonly (Message | string)[];
  /** The run it was forked from. */
  readonly past?: ForkAnswers | undefined;
  /** What could not be read of the run it was forked from. */
  readonly lost?: string | undefined;
}

/** Takes a run to its end, for now. */
export async function drive(parts: Drive): Promise<RunResult> {
  const funds = await fundsOf(parts);
  let isDone = false;
  try {
    const result = await driveOn(parts, environmentOf(parts, funds));
    isDone = isFinished(parts.state);
    return result;
  } finally {
    funds?.close(isDone);
  }
}

/** Whether a run needs nothing any more: it has finished, and no mail waits for a role that a later team may hire. */
export function isFinished({ phase, ready }: RunState): boolean {
  return phase.phase === "ended" && phase.status === "finished" && ready.size === 0;
}

/** What was under way when it last stopped counts at what it may have cost, as the record will tell it. */
function fundsOf({ crew, state: { runId, ledger } }: Drive): Promise<Funds | undefined> {
  return Funds.open(crew.pools, { name: runId, spent: ledger.spent + ledger.held });
}

async function driveOn(parts: Drive, environment: Environment): Promise<RunResult> {
  const { controls, crew, opening, said, past, lost, state } = parts;
  const { runId, parent, seq } = state;
  const stood = state.phase.phase === "ended" || parent !== undefined ? roundsOf(state) : undefined;
  for (const event of opening) environment.log.record(event);
  for (const [name, role] of crew.roles) environment.addRole(role, { name });
  for (const message of said) environment.publishMessage(message);
  await environment.log.durable();
  controls.started();
  await rememberRecord(environment, { journal: parts.journal, runId, parent, seq, signal: controls.signal });
  if (lost !== undefined) environment.warn(lost);
  compareModels(parts, environment);
  if (opening[0]?.type === "run.started") for (const warning of unheardCauses(crew.roles, said)) environment.warn(warning);
  const failure = environment.failPoisoned(state.bounds.poisonAfter ?? Infinity);
  const end: RunEnd =
    failure === undefined
      ? await environment.drive(state.bounds.rounds ?? DEFAULT_ROUNDS, boundsOf(parts))
      : { reason: "interrupted", failure, control: undefined };
  if (failure !== undefined) await environment.memories.rest();
  const result = withDifference(await environment.finish(end), past);
  const nothing = stood === roundsOf(state) && result.error === undefined ? nothingLeft(state, end.reason) : undefined;
  if (nothing === undefined) return result;
  // Not recorded: how often somebody asked in vain is no part of what the run did.
  environment.warn(nothing.message);
  return parts.idea === undefined ? { ...result, error: nothing } : result;
}

/** Who takes answers of another run should know when they are another model's. */
function compareModels({ journal, state: { runId, parent }, past, options, crew }: Drive, environment: Environment): void {
  const models = [options.model, ...crew.roles.map(([, role]) => role.model)].filter((model) => model !== undefined);
  noteModels(journal, runId, models);
  if (past === undefined || parent === undefined) return;
  for (const id of otherModels(journal, parent.runId, models)) environment.warn(otherModelText(parent.runId, id));
}

/** The result of a run that needs nothing any more. */
export function resultAtRest(state: RunState, mask: Mask): RunResult {
  return runResult(state, { reason: "idle", failure: undefined, control: undefined }, mask);
}

/** A run that needs nothing any more, but that its roles keep what they remember: it may have died before. */
export async function rest(parts: Omit<Drive, "opening" | "said" | "stopWhen">): Promise<RunResult> {
  const { state, mask, crew, journal, controls } = parts;
  const { runId, parent, seq } = state;
  const environment = environmentOf(parts);
  for (const [name, role] of crew.roles) environment.addRole(role, { name });
  await rememberRecord(environment, { journal, runId, parent, seq, signal: controls.signal });
  await environment.memories.rest();
  return resultAtRest(state, mask);
}

function environmentOf(
  { options, journal, controls, crew, state, past, epoch }: Omit<Drive, "opening" | "said" | "stopWhen">,
  funds?: Funds,
): Environment {
  const { limits } = crew;
  const isBound = (crew.budget ?? state.budget) !== undefined || funds?.isBinding === true;
  return new Environment(
    { ...options, ...(limits === undefined ? {} : { limits }), description: options.description ?? options.name ?? "" },
    {
      state,
      observers: controls.observers,
      owned: { journal, epoch },
      funds,
      requirePrice: isBound && options.allowUnpriced !== true,
      resumed: controls.resumed,
      grew: controls.grew,
      ...(past === undefined ? {} : { past }),
    },
  );
}

function withDifference(result: RunResult, past: ForkAnswers | undefined): RunResult {
  if (result.fork === undefined || past?.difference === undefined) return result;
  return { ...result, fork: { ...result.fork, difference: past.difference } };
}

function boundsOf({ stopWhen, controls: { signal }, state }: Drive): RunBounds {
  return { signal, checkpoint: stopWhen && ((): boolean => stopWhen(progressOf(state))) };
}
