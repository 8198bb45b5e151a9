import type { AccountOptions, BudgetAccount, BudgetHold, BudgetPool } from "../../kernel/budget.ts";
import type { Cancellation } from "../../kernel/cancellation.ts";
import { UsageError } from "../../kernel/errors.ts";

/** The lender of a budget. */
export interface BudgetLender extends Pick<BudgetPool, "id" | "rank" | "accounts"> {
  /** True when the budget, or a pool above it, bounds spending. */
  readonly isBinding: boolean;
  /** Takes an amount as soon as it fits. @throws BudgetError, ControlError */
  take(amount: number, ending: Cancellation): Promise<void>;
  /** Adds to the lent amounts. Starts no waiting try. */
  lent(change: { readonly spent: number; readonly held: number }): void;
  /** Must be called when there may be room. */
  settled(): void;
  /** Charges the pools above with spending outside the gate. */
  charge(amount: number): void;
}

/**
 * The budget of a run, lent to the effect of one step for a run or an agent that it starts. It owns the amounts spent and held since the
 * step began; the step's own cost includes both when it ends (`close`).
 *
 * LentBudget.L1 (`open`) spending here is part of the cost of the step, once: earlier spending of a spender counts only as far as the
 * record of earlier tries of the step does not include it.
 * LentBudget.L2 (`close`) afterwards no amount can be taken, and a late settlement changes nothing.
 */
export class LentBudget implements BudgetPool {
  readonly id: string;
  readonly rank: number;
  readonly isBinding: boolean;
  readonly accounts: BudgetPool["accounts"];
  readonly #lender: BudgetLender;
  readonly #known = new Map<string, number>();
  /** Micro-dollars recorded with the step and not yet matched with the record of a spender. */
  #paid: number;
  #spent = 0;
  #held = 0;
  #isClosed = false;

  constructor(lender: BudgetLender, paid: number) {
    this.id = lender.id;
    this.rank = lender.rank;
    this.isBinding = lender.isBinding;
    this.accounts = lender.accounts;
    this.#lender = lender;
    this.#paid = paid;
  }

  open(account: string, { spent }: AccountOptions): Promise<BudgetAccount> {
    const news = Math.max(0, spent - (this.#known.get(account) ?? 0));
    this.#known.set(account, Math.max(spent, this.#known.get(account) ?? 0));
    const paid = Math.min(this.#paid, news);
    this.#paid -= paid;
    if (news > paid && !this.#isClosed) {
      this.#change(news - paid, 0);
      this.#lender.charge(news - paid);
    }
    return Promise.resolve(this.#account(account));
  }

  /** Closes the budget. @returns micro-dollars that were spent or are still held */
  close(): number {
    const all = this.#spent + this.#held;
    this.#isClosed = true;
    // No waiting try may start before the step has recorded its cost, so `settled` is not called.
    this.#lender.lent({ spent: -this.#spent, held: -this.#held });
    return all;
  }

  #account(name: string): BudgetAccount {
    const open = new Map<BudgetHold, number>();
    return {
      reserve: async (amount, ending) => {
        if (this.#isClosed) throw stepOver(this.id);
        await this.#lender.take(amount, ending);
        if (this.#isClosed) {
          this.#change(0, -amount);
          throw stepOver(this.id);
        }
        this.#held += amount;
        const hold: BudgetHold = {
          settle: (cost) => {
            if (!open.delete(hold) || this.#isClosed) return;
            this.#known.set(name, (this.#known.get(name) ?? 0) + cost);
            this.#change(cost, -amount);
          },
        };
        open.set(hold, amount);
        return hold;
      },
      // The accounts above are charged separately.
      charge: (amount) => this.#isClosed || this.#change(amount, 0),
      close: () => {
        for (const [hold, amount] of open) hold.settle(amount);
        return Promise.resolve();
      },
    };
  }

  #change(spent: number, held: number): void {
    if (!this.#isClosed) this.#spent += spent;
    if (!this.#isClosed) this.#held += held;
    this.#lender.lent({ spent, held });
    this.#lender.settled();
  }
}

function stepOver(run: string): UsageError {
  return new UsageError(
    "STEP_OVER",
    `Expected the budget of a step to be used while its effect runs, but the step of ${run} is over. Await what the effect starts before it returns.`,
  );
}
