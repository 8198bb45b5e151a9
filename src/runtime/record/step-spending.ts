import { isRecord } from "../../kernel/value-kind.ts";
import { addUsage, type Usage } from "../../model/chat-model.ts";
import type { StepOutcome, StepRecord, StepSpending } from "./role-state.ts";

const NOTHING: StepSpending = Object.freeze({ cost: 0 });

/** Returns what the steps inside others have used, by the keys of these. */
export function spentInside(steps: ReadonlyMap<string, StepRecord>): ReadonlyMap<string, StepSpending> {
  const inside = new Map<string, StepSpending>();
  for (const { started, paid, outcome } of steps.values()) {
    const spent = { cost: paid + (outcome?.saved ?? 0), ...tokensOf(started.kind, outcome) };
    let around = started.in;
    // A record that was imported may name a step as its own enclosing one.
    for (let level = 0; around !== undefined && level < steps.size; level += 1) {
      inside.set(around, together(inside.get(around), spent));
      around = steps.get(around)?.started.in;
    }
  }
  return inside;
}

interface Sourced {
  readonly started: { readonly kind: string };
  readonly outcome: StepOutcome;
  readonly saved: number;
  readonly within: readonly Sourced[];
}

export function spentThere(steps: readonly Sourced[]): StepSpending {
  return steps.reduce((sum, { started: { kind }, outcome, saved, within }) => {
    return together(together(sum, { cost: saved, ...tokensOf(kind, outcome) }), spentThere(within));
  }, NOTHING);
}

/**
 * Returns what a step with an answer had used, here or in the run that the answer came from.
 *
 * @param paid micro-dollars of the step itself
 * @param inside what the steps inside it had used, if these are not asked for again
 */
export function spentBefore(
  kind: string,
  outcome: StepOutcome,
  { paid, inside }: { readonly paid: number; readonly inside: StepSpending | undefined },
): StepSpending {
  return together({ cost: (outcome.saved ?? 0) + paid, ...tokensOf(kind, outcome) }, inside ?? NOTHING);
}

function together(one: StepSpending = NOTHING, other: StepSpending): StepSpending {
  const usage = one.usage === undefined ? other.usage : addUsage(one.usage, other.usage);
  return { cost: one.cost + other.cost, ...(usage === undefined ? {} : { usage }) };
}

function tokensOf(kind: string, outcome: StepOutcome | undefined): Pick<StepSpending, "usage"> {
  if (kind !== "model" || outcome?.ok !== true || !isRecord(outcome.value) || !isRecord(outcome.value["usage"])) return {};
  // The record has it as the model gave it.
  return { usage: outcome.value["usage"] as unknown as Usage };
}
