import type { BudgetPool } from "../kernel/budget.ts";
import type { AttemptOutcome, Attempts, StepTry } from "../kernel/step.ts";

/** Told of every try of a call that is made, and not of an answer from a record. */
export interface CallMeter {
  /** @param hold micro-dollars; 0 where `isUnpriced`, for nobody knows what it costs */
  opened(hold: number, isUnpriced: boolean): void;
  settled(outcome: AttemptOutcome): void;
}

/** Tries that are told to a meter. */
export class MeteredAttempts implements Attempts {
  readonly #attempts: Attempts;
  readonly #meter: CallMeter;

  constructor(attempts: Attempts, meter: CallMeter) {
    this.#attempts = attempts;
    this.#meter = meter;
  }

  get current(): StepTry | undefined {
    return this.#attempts.current;
  }

  get budget(): BudgetPool | undefined {
    return this.#attempts.budget;
  }

  async open(hold: number, o: { readonly unpriced?: boolean } = {}): Promise<void> {
    await this.#attempts.open(hold, o);
    this.#meter.opened(hold, o.unpriced === true);
  }

  settle(outcome: AttemptOutcome): void {
    this.#attempts.settle(outcome);
    this.#meter.settled(outcome);
  }
}
