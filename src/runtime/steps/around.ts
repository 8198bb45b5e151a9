import {
  AbortedError,
  BudgetError,
  ControlError,
  type ErrorRecord,
  errorRecord,
  StepError,
  stepErrorFrom,
  TimeoutError,
} from "../../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../../kernel/json.ts";
import { masked } from "../../kernel/mask.ts";
import { type Attempts, attemptsWith, type RecordedTry, type StepDoor, type StepPort } from "../../kernel/step.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { paidTwice } from "../../model/funds.ts";
import { maskedError } from "../record/rewritten-event.ts";
import type { RoleTurn } from "../turn/turn.ts";
import type { AskedStep, Tries } from "./tries.ts";

interface Inner {
  readonly turn: RoleTurn;
  readonly tries: Tries;
  /** The first interruption of the steps of the activation. */
  readonly control: () => unknown;
}

/**
 * Runs the effect of a step as a step of the enclosing activation or tool call. So both budgets bind it, and the outer record answers a
 * repetition.
 *
 * `stepAround.A1` (`failureOf`) if only this run ends, by its budget or a stop, the outer step records a failure and its run continues. The
 * recorded failure ends this run again in a repetition (`endIn`).
 * `stepAround.A2` (`counted`) if an inner run or agent ends, its step fails here too, and no enclosing run ends.
 *
 * @param effect gets the door of the outer step
 * @throws BudgetError, AbortedError as above
 */
export async function stepAround(
  outer: StepPort,
  { spec, request, key }: AskedStep,
  inner: Inner,
  effect: (door: StepDoor) => Promise<unknown>,
): Promise<unknown> {
  const { tries, turn } = inner;
  let known: RecordedTry | undefined;
  const onRecorded = (given: RecordedTry): void => {
    known = given;
    spec.onRecorded?.(given);
  };
  const { shown: _shown, ...same } = spec;
  try {
    return await outer.step<unknown>({ ...same, request, origin: `${turn.started.act} ${key}`, onRecorded }, async (door) => {
      let isRefused = false;
      const attempts = attemptsOf(door, tries, { isPaid: spec.metered === true, refused: () => (isRefused = true) });
      try {
        // Work that the activation no longer awaits must not delay the enclosing activation.
        const value = await turn.scope.until(effect({ ...door, attempts }));
        // The outer record does not mask the secrets of this run.
        return masked(turn.tools.mask, jsonRoundTrip<unknown>(value) as Json);
      } catch (error) {
        throw failureOf(error, inner, isRefused);
      }
    });
  } catch (error) {
    throw endIn(error) ?? error;
  } finally {
    if (known !== undefined) await repaid(tries, known);
  }
}

/** Spending and loans of the effect belong to both runs. @param refused called when a budget of this or an enclosing run refuses */
function attemptsOf(
  { attempts }: StepDoor,
  tries: Tries,
  { isPaid, refused }: { readonly isPaid: boolean; readonly refused: () => void },
): Attempts {
  const paid = isPaid ? paidTwice(attempts, tries) : attempts;
  const open: Attempts["open"] = (hold, o) =>
    paid.open(hold, o).catch((error: unknown) => {
      if (error instanceof StepError && error.code === "BUDGET") refused();
      throw error;
    });
  const settle: Attempts["settle"] = (outcome) => paid.settle(outcome);
  return attemptsWith(attempts, { open, settle }, () => tries.lend(attempts.budget));
}

async function repaid(tries: Attempts, { cost, usage }: RecordedTry): Promise<void> {
  await tries.open(0, { unpriced: cost === undefined });
  tries.settle({ cost, basis: cost === 0 ? "none" : "usage", ...(usage === undefined ? {} : { usage }) });
}

function failureOf(error: unknown, { turn, control }: Inner, isRefused: boolean): unknown {
  const ended = error instanceof ControlError ? (turn.scope.ended?.reason ?? control()) : undefined;
  const isFailure = !(error instanceof ControlError) || error instanceof AbortedError || (error instanceof BudgetError && error === ended);
  if (!isFailure) return error;
  const record = maskedError(turn.tools.mask, ended instanceof TimeoutError ? ended : error);
  return stepErrorFrom(isRefused || ended !== undefined ? record : counted(record, 1));
}

const ENDS: ReadonlySet<string> = new Set(["BUDGET", "ABORTED"]);

/** Returns which run an answer of the outer step ends: this one, or one inside it. */
function endIn(error: unknown): Error | undefined {
  if (!(error instanceof StepError) || !ENDS.has(error.code)) return undefined;
  if (isRecord(error.data) && "through" in error.data) return stepErrorFrom(counted(errorRecord(error), -1));
  return error.code === "BUDGET" ? new BudgetError(error.data as ConstructorParameters<typeof BudgetError>[0]) : new AbortedError();
}

/** Counts the runs that continue after an inner run or agent ended. */
function counted(record: ErrorRecord, more: 1 | -1): ErrorRecord {
  if (!ENDS.has(record.code)) return record;
  const { through = 0, ...data } = isRecord(record.data) ? record.data : {};
  const runs = Number(through) + more;
  return { ...record, data: runs === 0 ? data : { ...data, through: runs } };
}
