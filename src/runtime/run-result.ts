import { AbortedError, BudgetError, type ControlError, type TroupeError, WaitingError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { lazyMembers } from "../kernel/lazily.ts";
import type { Message } from "../message/message.ts";
import type { UsageSum, Spendings } from "../model/ledger.ts";
import type { Cost } from "../model/money.ts";
import type { ForkPoint, RunStatus } from "./record/event.ts";
import type { ForkDifference } from "./replay/fork-answers.ts";
import { type PendingQuestion, pendingQuestions } from "./record/questions.ts";
import { type DeadLetter, OUTSIDE, type Pending, roundsOf, type RunState } from "./record/run-state.ts";
import { failureError, type RunFailure } from "./run-failure.ts";
import type { DriveEnd } from "./schedulers/drive.ts";

/** Why a run stopped. */
export interface RunEnd {
  readonly reason: DriveEnd;
  readonly failure: RunFailure | undefined;
  readonly control: ControlError | undefined;
}

/** What came of a run. */
export interface RunResult {
  readonly runId: string;
  readonly status: RunStatus;
  readonly rounds: number;
  /** Everything that was said, the idea first; nothing in an environment with `memory: false`. */
  readonly messages: readonly Message[];
  /** The run's last word: the last of the outputs or, where somebody watches all that is said, what a role said last. */
  readonly output: Message | undefined;
  /** What roles said to everyone and nobody watches: the run's word to the outside. */
  readonly outputs: readonly Message[];
  readonly deadLetters: readonly DeadLetter[];
  /** Messages that left full mailboxes unread. They are told as they go, and not kept. */
  readonly dropped: number;
  readonly usage: UsageSum;
  readonly cost: Cost;
  /** The same by the name of the role. */
  readonly byRole: Spendings;
  /** The same by the id of the model or embedder. What a run or an agent spent that a step started is only in `byRole`. */
  readonly byModel: Spendings;
  /** Micro-dollars of calls that were in flight at a crash and are settled at their hold; part of `cost`. */
  readonly uncertain: number;
  /** Questions to people that wait for an answer. */
  readonly questions: readonly PendingQuestion[];
  /** What a fork took from its parent. */
  readonly fork?: ForkReport;
  readonly error?: TroupeError;
}

/** What a fork cost beside the run it came from. */
export interface ForkReport {
  readonly parent: ForkPoint;
  /** Answers taken from the parent, besides the past they share. */
  readonly reused: number;
  /** Those of them that models had given. */
  readonly reusedCalls: number;
  /** Answers of models that were called. */
  readonly paid: number;
  /** Micro-dollars that the shared past and the reused answers had cost the parent. */
  readonly saved: number;
  /** The first step that the parent could not answer, where this process came to it. */
  readonly difference?: ForkDifference;
}

/**
 * The result of a run as it stands, without secrets. It costs nothing that nobody looks at, and stays what it is while the run goes on: its
 * lists are told from those of the run, which only grow, by how long they were.
 */
export function runResult(state: RunState, end: RunEnd, mask: Mask): RunResult {
  const { status, error } = statusOf(end, mask);
  const result: RunResult = {
    runId: state.runId,
    status,
    rounds: roundsOf(state),
    messages: unseen,
    output: lastWord(state),
    outputs: unseen,
    deadLetters: unseen,
    dropped: state.dropped,
    usage: state.ledger.usage,
    cost: state.ledger.cost(),
    byRole: state.byRole.record(),
    byModel: state.byModel.record(),
    uncertain: state.uncertain,
    questions: pendingQuestions(state).map(({ id, role, text }) => ({ id, role, text })),
    ...(state.parent === undefined ? {} : { fork: forkReport(state, state.parent) }),
    ...(error === undefined ? {} : { error }),
  };
  return lazyMembers(result, {
    messages: saidSoFar(state),
    outputs: soFar(state.outputs),
    deadLetters: soFar(state.dead),
  });
}

function lastWord(state: RunState): Message | undefined {
  return state.outputs.at(-1) ?? waitingWords(state).findLast(({ order }) => order !== OUTSIDE)?.sent.message ?? state.lastSaid;
}

/** What was said in a round that has not ended, in the order in which it will be delivered. */
function waitingWords({ pending }: RunState): readonly Pending[] {
  return pending.filter(({ sent }) => sent.dropped !== true).toSorted((a, b) => a.order - b.order);
}

/** Stands where a list will: it says in which order the members of a result come. */
const unseen: readonly never[] = Object.freeze([]);

/** What a list that only grows holds now. */
function soFar<T>(grows: readonly T[]): () => readonly T[] {
  const { length } = grows;
  return () => grows.slice(0, length);
}

function saidSoFar(state: RunState): () => readonly Message[] {
  const { history, hasHistory } = state;
  // What waits for the end of a round is no more kept than what was heard.
  if (!hasHistory) return () => [];
  const { size } = history;
  const waiting = waitingWords(state).map(({ sent }) => sent.message);
  return () => [...history.get().slice(0, size), ...waiting];
}

function forkReport({ reused, reusedCalls, calls, saved }: RunState, parent: ForkPoint): ForkReport {
  return { parent, reused, reusedCalls, paid: calls, saved };
}

/** The status an end stands for, and the error that explains it. */
export function statusOf(end: RunEnd, mask: Mask): { readonly status: RunStatus; readonly error?: TroupeError } {
  if (end.failure !== undefined) return { status: "failed", error: failureError(end.failure, mask) };
  if (end.control !== undefined) return { status: statusOfControl(end.control), error: end.control };
  switch (end.reason) {
    case "idle":
      return { status: "finished" };
    case "rounds":
      return { status: "rounds" };
    case "checkpoint":
      return { status: "stopped" };
    case "interrupted":
      return { status: "stopped", error: new AbortedError() };
  }
}

function statusOfControl(control: ControlError): RunStatus {
  if (control instanceof BudgetError) return "budget";
  if (control instanceof WaitingError) return "waiting";
  return control.code === "DIFFERENCE" ? "failed" : "stopped";
}
