import { BudgetError, type ControlError } from "../kernel/errors.ts";
import type { Lifetime } from "../kernel/lifetime.ts";
import type { MicroUsd } from "../model/money.ts";
import type { RunState } from "./run-state.ts";

interface Waiter {
  readonly hold: number;
  readonly lifetime: Lifetime;
  readonly start: () => void;
  readonly resolve: () => void;
  readonly reject: (error: ControlError) => void;
}

/**
 * Lets a try start only when its hold fits into what is left of the budget. It owns the line of those that wait; spend and open
 * holds are the ledger's.
 *
 * B1 spent + held never exceeds the budget: a hold is recorded in the same turn in which it was found to fit. B2 a try that does
 * not fit waits while another is open. B3 only when none is open and none fits is the budget reached; from then on nothing that may
 * cost is let in, for the run is about to end and would pay for a call that it cuts off. The line is bounded by the calls that roles can
 * have in flight.
 */
export class BudgetGate {
  readonly #state: RunState;
  #line: Waiter[] = [];
  /** What the first that found it reached was told, and what all later ones are told: they might have fitted. */
  #reached: BudgetError | undefined;

  constructor(state: RunState) {
    this.#state = state;
  }

  /**
   * Calls `start`, which records the hold, as soon as it fits.
   *
   * @throws BudgetError
   */
  enter(hold: number, start: () => void, lifetime: Lifetime): Promise<void> {
    if (lifetime.ended !== undefined) return Promise.reject(lifetime.ended.reason);
    if (this.#reached !== undefined && hold > 0) return Promise.reject(this.#reached);
    if (this.#line.length === 0 && this.#fits(hold)) {
      start();
      return Promise.resolve();
    }
    const place = new Promise<void>((resolve, reject) => {
      this.#line.push({ hold, lifetime, start, resolve, reject });
      this.settled();
    });
    return lifetime.until(place).catch((error: unknown) => {
      this.#line = this.#line.filter((waiter) => waiter.start !== start);
      throw error;
    });
  }

  /** To be called when a hold was settled: lets in, in their order, those who fit now. */
  settled(): void {
    const waiting = this.#line;
    this.#line = [];
    for (const waiter of waiting) {
      // Who was aborted has been refused already, and must not hold money for a call that never comes.
      if (waiter.lifetime.ended !== undefined) continue;
      if (!this.#fits(waiter.hold)) {
        this.#line.push(waiter);
        continue;
      }
      waiter.start();
      waiter.resolve();
    }
    if (this.#line.length === 0 || this.#state.ledger.held > 0) return;
    const refused = this.#line;
    this.#line = [];
    for (const waiter of refused) {
      const refusal = this.#refusal(waiter.hold);
      this.#reached ??= refusal;
      waiter.reject(refusal);
    }
  }

  #fits(hold: number): boolean {
    return this.#state.budget === undefined || this.#state.ledger.fits(hold as MicroUsd, this.#state.budget as MicroUsd);
  }

  #refusal(needed: number): BudgetError {
    const budget = this.#state.budget ?? 0;
    return new BudgetError({ needed, left: budget - this.#state.ledger.spent, budget });
  }
}
