import type { AccountOptions, BudgetAccount, BudgetHold, BudgetPool } from "../../kernel/budget.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { Cancellation } from "../../kernel/cancellation.ts";

/** Whose budget is lent. */
export interface Lender extends Pick<BudgetPool, "id" | "rank" | "accounts"> {
  /** Whether the budget, or a pool above it, bounds what is spent. */
  readonly isBinding: boolean;
  /** Takes an amount as soon as it fits. @throws BudgetError, ControlError */
  take(amount: number, ending: Cancellation): Promise<void>;
  /** Told how what is lent has changed. Lets nobody in. */
  lent(change: { readonly spent: number; readonly held: number }): void;
  /** To be called when there may be room. */
  settled(): void;
  /** Counts what was spent elsewhere with the pools above. */
  charge(amount: number): void;
}

/**
 * The budget of a run as the effect of one step has it, for a run or an agent that it starts. It owns what was spent of it and is held since
 * the step began; the step's own cost tells both when it ends (`close`).
 *
 * LentBudget.L1 what is spent here is part of the cost of the step, once: what a spender had spent before counts only as far as earlier
 * tries of the step do not tell it (`open`). LentBudget.L2 after `close` nothing is taken, and what is settled late changes nothing.
 */
export class LentBudget implements BudgetPool {
  readonly id: string;
  readonly rank: number;
  readonly isBinding: boolean;
  readonly accounts: BudgetPool["accounts"];
  readonly #lender: Lender;
  readonly #known = new Map<string, number>();
  /** Recorded with the step, and not yet found in the record of a spender. */
  #paid: number;
  #spent = 0;
  #held = 0;
  #isClosed = false;

  constructor(lender: Lender, paid: number) {
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

  /** Ends it. @returns micro-dollars that were spent, with those that may have been */
  close(): number {
    const all = this.#spent + this.#held;
    this.#isClosed = true;
    // Nobody may be let in before the step has told its cost.
    this.#lender.lent({ spent: -this.#spent, held: -this.#held });
    return all;
  }

  #account(name: string): BudgetAccount {
    const open = new Map<BudgetHold, number>();
    return {
      reserve: async (amount, ending) => {
        if (this.#isClosed) throw over(this.id);
        await this.#lender.take(amount, ending);
        if (this.#isClosed) {
          this.#change(0, -amount);
          throw over(this.id);
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
      // The accounts above are charged beside this one.
      charge: (amount) => this.#isClosed || this.#change(amount, 0),
      close: () => {
        for (const [hold, amount] of open) hold.settle(amount);
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

function over(run: string): UsageError {
  return new UsageError(
    "STEP_OVER",
    `Expected the budget of a step to be used while its effect runs, but the step of ${run} is over. Await what the effect starts before it returns.`,
  );
}
