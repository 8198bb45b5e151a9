import { BudgetError, ControlError, StepError, stepErrorFrom } from "../../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../../kernel/json.ts";
import { type Mask, masked } from "../../kernel/mask.ts";
import type { Attempts, RecordedTry, StepDoor, StepPort } from "../../kernel/step.ts";
import { paidTwice } from "../../model/funds.ts";
import { maskedError } from "../record/masking.ts";
import type { AskedStep } from "./tries.ts";

/**
 * Lets the effect of a step happen as a step of what surrounds the run: of an activation of another run, or of a call of a tool. So both budgets
 * bind it, and when the run happens again inside the other one, its effects are answered from the record of that one.
 *
 * @param effect gets the door of the outer step
 * @throws BudgetError when a budget of this run refuses a call: that is the recorded failure of the outer step, whose run goes on
 */
export async function stepAround(
  outer: StepPort,
  { spec, request }: AskedStep,
  { tries, mask }: { readonly tries: Attempts; readonly mask: Mask },
  effect: (door: StepDoor) => Promise<unknown>,
): Promise<unknown> {
  let known: RecordedTry | undefined;
  const onRecorded = (given: RecordedTry): void => {
    known = given;
    spec.onRecorded?.(given);
  };
  const { shown: _shown, ...same } = spec;
  try {
    return await outer.step<unknown>({ ...same, request, onRecorded }, async (door) => {
      try {
        const value = await effect({ ...door, attempts: spec.metered === true ? paidTwice(door.attempts, tries) : door.attempts });
        // The record around this one does not know the secrets of this one.
        return masked(mask, jsonRoundTrip<unknown>(value) as Json);
      } catch (error) {
        throw error instanceof ControlError ? error : stepErrorFrom(maskedError(mask, error));
      }
    });
  } catch (error) {
    throw refusalIn(error) ?? error;
  } finally {
    if (known !== undefined) await repaid(tries, known);
  }
}

/** Counts what an answer from the record around this one had cost. */
async function repaid(tries: Attempts, { cost }: RecordedTry): Promise<void> {
  await tries.open(0, { unpriced: cost === undefined });
  tries.settle({ cost, basis: cost === 0 ? "none" : "usage" });
}

function refusalIn(error: unknown): BudgetError | undefined {
  if (!(error instanceof StepError) || error.code !== "BUDGET") return undefined;
  return new BudgetError(error.data as ConstructorParameters<typeof BudgetError>[0]);
}
