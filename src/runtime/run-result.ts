import { AbortedError, BudgetError, type ControlError, MovedError, type TroupeError, WaitingError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { lazyMembers } from "../kernel/lazily.ts";
import { Memory } from "../memory/memory.ts";
import type { Message } from "../message/message.ts";
import type { UsageSum, Spendings } from "../model/ledger.ts";
import type { Cost } from "../model/money.ts";
import type { FailedActivation } from "./record/run-summary.ts";
import { inOrderOfTicks, unreadIn } from "./record/delivery.ts";
import type { ForkPoint, RunStatus } from "./record/event.ts";
import type { ForkDifference } from "./replay/fork-answers.ts";
import { type PendingQuestion, pendingQuestions, plainQuestion } from "./record/questions.ts";
import { maskedError } from "./record/rewritten-event.ts";
import type { RunLog } from "./record/run-log.ts";
import { type DeadLetter, OUTSIDE, type Pending, roundsOf, type RunState, type FaultCounts } from "./record/run-state.ts";
import type { HeldStop } from "./stop-condition.ts";
import { rest } from "./record/turn-count.ts";
import { failureError, type RunFailure } from "./run-failure.ts";
import type { DriveEnd } from "./schedulers/drive.ts";

export interface RunBounds {
  readonly roundsLeft: () => number;
  /** The run ends before a later tick. */
  readonly lastTick?: (() => number) | undefined;
  readonly checkpoint: (() => boolean) | undefined;
  /** The stop condition that has ended the run. */
  readonly held?: () => HeldStop | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface RunEnd {
  readonly reason: DriveEnd;
  readonly failure: RunFailure | undefined;
  readonly control: ControlError | undefined;
  readonly held?: HeldStop | undefined;
}

/** The end of a run for this process. `moved` is never recorded, because the run continues elsewhere. */
export type ResultStatus = RunStatus | "moved";

/** The result of a run. */
export interface RunResult {
  readonly runId: string;
  readonly status: ResultStatus;
  /** The stop condition that ended it, such as `saidBy("Review")` or the name of a function. */
  readonly stoppedBy?: string;
  /** The rounds of all turns together; without rounds the most activations of one role. */
  readonly rounds: number;
  /** The time of the run's clock: rounds, simulated time, or activations that have ended. */
  readonly tick: number;
  /** Every message, the idea first; empty in an environment with `memory: false`. */
  readonly messages: readonly Message[];
  /** The last output or, if a role watches every message, the last message of a role. */
  readonly output: Message | undefined;
  /** Broadcasts of roles that no role watches. */
  readonly outputs: readonly Message[];
  readonly deadLetters: readonly DeadLetter[];
  /** The activations that failed, whatever their failure policy, in the order of their failures. */
  readonly failures: readonly FailedActivation[];
  /** Messages dropped from full mailboxes. Each is reported when dropped, and not kept. */
  readonly dropped: number;
  /** Messages that no role has read, in mailboxes or on their way, for each recipient. The state of a role does not reflect them. */
  readonly unread: number;
  /** Counts of edge faults, if the run has edge policies. */
  readonly faults?: FaultCounts;
  readonly usage: UsageSum;
  readonly cost: Cost;
  /** Spending by the name of the role. */
  readonly byRole: Spendings;
  /** Spending by the id of the model or embedder. Spending of a run or an agent that a step started is only in `byRole`. */
  readonly byModel: Spendings;
  /** The part of `cost`, in micro-dollars, of calls in flight at a crash: each as much as the call that repeats it, else its worst case. */
  readonly uncertain: number;
  /** Questions to people that wait for an answer. */
  readonly questions: readonly PendingQuestion[];
  /** The answers and costs that a fork took from its parent. */
  readonly fork?: ForkReport;
  readonly error?: TroupeError;
}

/** The cost of a fork compared with the run it came from. */
export interface ForkReport {
  readonly parent: ForkPoint;
  /** Answers taken from the parent, besides the shared past. */
  readonly reused: number;
  /** The reused answers that models gave. */
  readonly reusedCalls: number;
  /** Answers of models that were called in this run. */
  readonly paid: number;
  /** Micro-dollars that the shared past and the reused answers had cost the parent. */
  readonly saved: number;
  /** The first step that the parent could not answer, if this process reached it. */
  readonly difference?: ForkDifference;
}

/** Drives a run without a journal. No event records its end. */
export async function unrecordedRun(state: RunState, drive: () => Promise<RunEnd>, mask: Mask): Promise<RunResult> {
  const result = runResult(state, await drive(), mask);
  rest(state);
  return result;
}

/** Records the end of a run, if it has not moved and its journal still takes events, and returns the result. Never rejects. */
export async function recordedEnd(log: RunLog, mask: Mask, end: RunEnd): Promise<RunResult> {
  const { state } = log;
  const { status, error, stoppedBy } = statusOf(end, mask);
  if (status === "moved") return runResult(state, end, mask);
  try {
    log.record({
      type: "run.ended",
      status,
      ...(stoppedBy === undefined ? {} : { stoppedBy }),
      ...(error === undefined ? {} : { error: maskedError(mask, error) }),
    });
    await log.durable();
    if (status !== "stopped") await log.rest();
    return runResult(state, end, mask);
  } catch (broken) {
    if (broken instanceof MovedError) return runResult(state, { ...end, control: broken }, mask);
    return runResult(state, { ...end, failure: end.failure ?? { error: broken } }, mask);
  }
}

/** Returns the present result of a run, without secrets. Its lists are created when first read, with their present length. */
export function runResult(state: RunState, end: RunEnd, mask: Mask): RunResult {
  const { status, error, stoppedBy } = statusOf(end, mask);
  const { parent } = state;
  const result: RunResult = {
    runId: state.runId,
    status,
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
    rounds: roundsOf(state),
    tick: state.tick,
    messages: unseen,
    output: state.outputs.at(-1) ?? waitingWords(state).findLast(({ order }) => order !== OUTSIDE)?.sent.message ?? state.lastSaid,
    outputs: unseen,
    deadLetters: unseen,
    failures: [...state.failures.values()],
    dropped: state.dropped,
    unread: unreadIn(state),
    ...(state.edges.length === 0 ? {} : { faults: state.faults }),
    usage: state.ledger.usage,
    cost: state.ledger.cost(),
    byRole: state.byRole.record(),
    byModel: state.byModel.record(),
    uncertain: state.uncertain,
    questions: pendingQuestions(state).map(plainQuestion),
    ...(parent === undefined
      ? {}
      : { fork: { parent, reused: state.reused, reusedCalls: state.reusedCalls, paid: state.calls, saved: state.saved } }),
    ...(error === undefined ? {} : { error }),
  };
  return lazyMembers(result, {
    messages: saidSoFar(state),
    outputs: soFar(state.outputs),
    deadLetters: soFar(state.dead),
  });
}

/** Returns the messages of a round that has not ended, and the delayed ones, in the order of their delivery. */
function waitingWords(state: RunState): readonly Pending[] {
  const atBarrier = state.pending.toSorted((a, b) => a.order - b.order);
  return [...atBarrier, ...inOrderOfTicks(state)].filter(({ sent, part }) => sent.dropped !== true && part !== true);
}

/** A placeholder for a lazy list, to fix the order of the members of a result. */
const unseen: readonly never[] = Object.freeze([]);

function soFar<T>(grows: readonly T[]): () => readonly T[] {
  const { length } = grows;
  return () => grows.slice(0, length);
}

function saidSoFar(state: RunState): () => readonly Message[] {
  // Without a history, messages that wait for the end of the round are not kept either.
  if (!state.hasHistory) return () => [];
  const delivered = soFar(state.deliveries);
  const waiting = waitingWords(state).map(({ sent }) => sent.message);
  return () => {
    const history = new Memory();
    history.addBatch(delivered());
    return [...history.get(), ...waiting];
  };
}

function statusOf(end: RunEnd, mask: Mask): Pick<RunResult, "status" | "error" | "stoppedBy"> {
  if (end.control instanceof MovedError) return { status: "moved", error: end.control };
  if (end.failure !== undefined) return { status: "failed", error: failureError(end.failure, mask) };
  if (end.control !== undefined) return { status: statusOfControl(end.control), error: end.control };
  switch (end.reason) {
    case "idle":
      return { status: "finished" };
    case "rounds":
      return { status: "rounds" };
    case "checkpoint":
      // A limit on ticks is no condition.
      if (end.held === undefined) return { status: "stopped" };
      return { status: end.held.isBound ? "stopped" : "finished", stoppedBy: end.held.name };
    case "interrupted":
      return { status: "stopped", error: new AbortedError() };
  }
}

const FAILURES = /^(DIFFERENCE|(BUDGET|LIMITS)_\w+)$/;

function statusOfControl(control: ControlError): RunStatus {
  if (control instanceof BudgetError) return "budget";
  if (control instanceof WaitingError) return "waiting";
  return FAILURES.test(control.code) ? "failed" : "stopped";
}
