import type { RecordedTry } from "../../kernel/step.ts";
import type { StepOutcome, StepSpending } from "../record/role-state.ts";
import { spentBefore, spentInside } from "../record/step-spending.ts";
import type { AskedStep, StepsParts } from "./tries.ts";

/** What the known steps of an activation had used, here or in the run that their answers came from. */
export class SpentBefore {
  readonly #parts: Pick<StepsParts, "recorded" | "paid">;
  #inside: ReadonlyMap<string, StepSpending> | undefined;

  constructor(parts: Pick<StepsParts, "recorded" | "paid">) {
    this.#parts = parts;
  }

  /** Without the steps inside one that happens again: these are asked for again, and tell it themselves. */
  of({ key, spec }: AskedStep, known: StepOutcome): Pick<RecordedTry, "cost" | "usage"> {
    const recorded = this.#parts.recorded?.get(key);
    const paid = recorded?.paid ?? this.#parts.paid.get(key) ?? 0;
    const inside = spec.again === true ? undefined : (known.inside ?? this.#insideOf(key));
    const { cost, usage } = spentBefore(spec.kind, known, { paid, inside });
    return {
      cost: cost === 0 && recorded?.started.unpriced === true ? undefined : cost,
      ...(usage === undefined ? {} : { usage: { ...usage } }),
    };
  }

  #insideOf(key: string): StepSpending | undefined {
    const { recorded } = this.#parts;
    return recorded && (this.#inside ??= spentInside(recorded)).get(key);
  }
}
