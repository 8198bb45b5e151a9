import {
  AbortedError,
  BudgetError,
  type ControlError,
  errorRecord,
  type ErrorRecord,
  stepErrorFrom,
  TroupeError,
  UsageError,
  WaitingError,
} from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import type { UsageSum } from "../model/ledger.ts";
import type { Cost } from "../model/money.ts";
import { masked } from "../run/masking.ts";
import type { RunStatus } from "../run/event.ts";
import type { DeadLetter, RunState } from "../run/run-state.ts";
import { roundsOf } from "./engine.ts";
import type { SchedulerEnd } from "./scheduler.ts";

/** What broke a run, and whose activation it was, if it was one's. */
export interface RunFailure {
  readonly error: unknown;
  readonly role?: string;
}

/** Why a run stopped. */
export interface RunEnd {
  readonly reason: SchedulerEnd;
  readonly failure: RunFailure | undefined;
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

/** The result of a run as it stands, without secrets. */
export function runResult(state: RunState, end: RunEnd, mask: Mask): RunResult {
  const { status, error } = statusOf(end, mask);
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
export function statusOf(end: RunEnd, mask: Mask): { readonly status: RunStatus; readonly error?: TroupeError } {
  if (end.failure !== undefined) return { status: "failed", error: withoutSecrets(asTroupeError(end.failure), mask) };
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

function asTroupeError({ error, role }: RunFailure): TroupeError {
  if (TroupeError.isInstance(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const who = role === undefined ? "Something" : `An action of ${role}`;
  const advice = "Mend it and resume the run, or say with onFailure what shall happen when an action fails.";
  return new UsageError("ACTION_FAILED", `${who} failed: ${message}${/[.!?]$/.test(message) ? "" : "."} ${advice}`, {
    cause: error,
    ...(role === undefined ? {} : { data: { role } }),
  });
}

/** The same error where nothing in it is secret; else one that says the same without, and without its cause. */
function withoutSecrets(error: TroupeError, mask: Mask): TroupeError {
  const plain = errorRecord(error);
  const safe = masked(mask, plain);
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return safe === plain && mask(cause) === cause ? error : errorFrom(safe);
}

function errorFrom(record: ErrorRecord): TroupeError {
  return record.name === "UsageError" ? new UsageError(record.code, record.message, { data: record.data }) : stepErrorFrom(record);
}
