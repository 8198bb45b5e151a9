import { AbortedError, BudgetError, type ControlError, TroupeError, UsageError, WaitingError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import type { UsageSum } from "../model/ledger.ts";
import type { Cost } from "../model/money.ts";
import type { RunStatus } from "../run/event.ts";
import type { DeadLetter, RunState } from "../run/run-state.ts";
import { roundsOf } from "./engine.ts";
import type { SchedulerEnd } from "./scheduler.ts";

/** Why a run stopped. */
export interface RunEnd {
  readonly reason: SchedulerEnd;
  readonly failure: { readonly error: unknown } | undefined;
  readonly control: ControlError | undefined;
}

/** What came of a run. */
export interface RunResult {
  readonly runId: string;
  readonly status: RunStatus;
  readonly rounds: number;
  /** Everything that was said, the idea first. */
  readonly messages: readonly Message[];
  /** The last of the outputs. */
  readonly output: Message | undefined;
  /** What roles said to everyone and nobody watches: the run's word to the outside. */
  readonly outputs: readonly Message[];
  readonly deadLetters: readonly DeadLetter[];
  readonly usage: UsageSum;
  readonly cost: Cost;
  /** Micro-dollars of calls that were in flight at a crash and are settled at their hold; part of `cost`. */
  readonly uncertain: number;
  readonly error?: TroupeError;
}

/** The result of a run as it stands. */
export function runResult(state: RunState, end: RunEnd): RunResult {
  const { status, error } = statusOf(end);
  const pending = state.pending.toSorted((a, b) => a.order - b.order).map((waiting) => waiting.sent.message);
  return {
    runId: state.runId,
    status,
    rounds: roundsOf(state),
    messages: [...state.history.get(), ...pending],
    output: state.outputs.at(-1),
    outputs: [...state.outputs],
    deadLetters: [...state.dead],
    usage: state.ledger.usage,
    cost: state.ledger.cost(),
    uncertain: state.uncertain,
    ...(error === undefined ? {} : { error }),
  };
}

/** The status an end stands for, and the error that explains it. */
export function statusOf(end: RunEnd): { readonly status: RunStatus; readonly error?: TroupeError } {
  if (end.failure !== undefined) return { status: "failed", error: asTroupeError(end.failure.error) };
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

function asTroupeError(error: unknown): TroupeError {
  if (TroupeError.isInstance(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new UsageError("ACTION_FAILED", `An action failed: ${message}`, { cause: error });
}
