import type { BudgetHold, BudgetPool } from "../kernel/budget.ts";
import type { AttemptOutcome, Attempts } from "../kernel/step.ts";
import type { Ending } from "../kernel/lifetime.ts";
import { Funds } from "./funds.ts";

/**
 * Somebody who spends from a pool and keeps no record, such as a run of an agent alone. It owns its accounts, which are opened with the
 * first call.
 */
export class PoolSpender {
  readonly #pool: BudgetPool;
  readonly #name: string;
  #funds: Promise<Funds | undefined> | undefined;

  /** @param name that nobody else has, for what it spends is never charged again */
  constructor(pool: BudgetPool, name: string) {
    this.#pool = pool;
    this.#name = name;
  }

  /** The tries of one step. */
  attempts(ending: Ending): Attempts {
    return new PoolAttempts(() => (this.#funds ??= Funds.open([this.#pool], { name: this.#name, spent: 0 })), this.#pool, ending);
  }

  /** Counts what is still open at its full amount. */
  close(): void {
    void this.#funds?.then(
      (funds) => funds?.close(true),
      () => {},
    );
  }
}

/** The tries of one step, of which each is held in the pool before it and settled after. It owns the hold that is open. */
class PoolAttempts implements Attempts {
  readonly budget: BudgetPool;
  readonly #open: () => Promise<Funds | undefined>;
  readonly #ending: Ending;
  #funds: Funds | undefined;
  #hold: BudgetHold | undefined;

  constructor(open: () => Promise<Funds | undefined>, budget: BudgetPool, ending: Ending) {
    this.#open = open;
    this.budget = budget;
    this.#ending = ending;
  }

  async open(hold: number): Promise<void> {
    this.#funds = await this.#open();
    if (hold > 0) this.#hold = await this.#funds?.reserve(hold, this.#ending);
  }

  settle({ cost = 0 }: AttemptOutcome): void {
    if (this.#hold !== undefined) this.#hold.settle(cost);
    else if (cost > 0) this.#funds?.charge(cost);
    this.#hold = undefined;
  }
}
