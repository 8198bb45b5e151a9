import { Environment } from "../environment/environment.ts";
import { type RunEnd, type RunResult, runResult } from "../environment/run-result.ts";
import { roundsOf } from "../environment/engine.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import type { RunEventBody } from "../run/event.ts";
import type { ForkPast } from "../run/fork-past.ts";
import type { Journal } from "../run/journal.ts";
import type { RunState } from "../run/run-state.ts";
import type { Crew } from "./crew.ts";
import { rememberRecord } from "./remember.ts";
import type { RunControls } from "./run.ts";
import type { RunProgress } from "./stop-condition.ts";
import type { TeamOptions } from "./team-options.ts";

/** Deaths of the process under one activation, unless said otherwise. */
const DEFAULT_POISON_AFTER = 3;

/** What a run is driven with. */
export interface Drive {
  readonly options: TeamOptions;
  readonly journal: Journal;
  readonly mask: Mask;
  readonly crew: Crew;
  readonly controls: RunControls;
  readonly state: RunState;
  /** The right to write. */
  readonly epoch: number;
  /** Recorded first, in this order, with what is said from outside: so that no run is found without its idea. */
  readonly opening: readonly RunEventBody[];
  readonly said: readonly (Message | string)[];
  /** The run it was forked from. */
  readonly past?: ForkPast | undefined;
  /** What could not be read of the run it was forked from. */
  readonly lost?: string | undefined;
}

/** Takes a run to its end, for now. */
export async function drive(parts: Drive): Promise<RunResult> {
  const { controls, crew, opening, said, options, past, lost } = parts;
  const environment = environmentOf(parts);
  const { runId, parent, seq } = parts.state;
  for (const event of opening) environment.log.record(event);
  for (const [name, role] of crew.roles) environment.addRole(role, { name });
  for (const message of said) environment.publishMessage(message);
  await environment.log.durable();
  controls.started();
  await rememberRecord(environment, { journal: parts.journal, runId, parent, seq, signal: controls.signal });
  if (lost !== undefined) environment.warn(lost);
  const failure = environment.failPoisoned(options.poisonAfter ?? DEFAULT_POISON_AFTER);
  const end: RunEnd = failure === undefined ? await environment.drive(crew.rounds) : { reason: "interrupted", failure, control: undefined };
  if (failure !== undefined) await environment.memories.rest();
  return withDifference(await environment.finish(end), past);
}

/** The result of a run that needs nothing any more. */
export function resultAtRest(state: RunState, mask: Mask): RunResult {
  return runResult(state, { reason: "idle", failure: undefined, control: undefined }, mask);
}

/** A run that needs nothing any more, but that its roles keep what they remember: it may have died before. */
export async function rest(parts: Omit<Drive, "opening" | "said">): Promise<RunResult> {
  const { state, mask, crew, journal, controls } = parts;
  const { runId, parent, seq } = state;
  const environment = environmentOf(parts);
  for (const [name, role] of crew.roles) environment.addRole(role, { name });
  await rememberRecord(environment, { journal, runId, parent, seq, signal: controls.signal });
  await environment.memories.rest();
  return resultAtRest(state, mask);
}

function environmentOf({ options, journal, controls, crew, state, past, epoch }: Omit<Drive, "opening" | "said">): Environment {
  const { stopWhen } = crew;
  return new Environment(
    { ...options, description: options.description ?? options.name ?? "" },
    {
      state,
      ears: controls.ears,
      owned: { journal, epoch },
      requirePrice: (crew.budget ?? state.budget) !== undefined && options.allowUnpriced !== true,
      ...(stopWhen === undefined ? {} : { checkpoint: () => stopWhen(progressOf(state)) }),
      resumed: controls.resumed,
      signal: controls.signal,
      grew: controls.grew,
      ...(past === undefined ? {} : { past }),
    },
  );
}

function withDifference(result: RunResult, past: ForkPast | undefined): RunResult {
  if (result.fork === undefined || past?.difference === undefined) return result;
  return { ...result, fork: { ...result.fork, difference: past.difference } };
}

/** Looked at only where a condition looks. */
function progressOf(state: RunState): RunProgress {
  return {
    rounds: roundsOf(state),
    spent: state.ledger.spent,
    said: (cause) => state.history.newestBy(cause) !== undefined,
    get messages() {
      return state.history.get();
    },
    get outputs() {
      return [...state.outputs];
    },
  };
}
