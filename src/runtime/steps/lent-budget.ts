import type { AccountOptions, BudgetAccount, BudgetHold, BudgetPool } from "../../kernel/budget.ts";
import type { Cancellation } from "../../kernel/cancellation.ts";
import { UsageError } from "../../kernel/errors.ts";

export interface LentChange {
  readonly spent?: number;
  readonly held?: number;
  /** The part of the spent amount that is kept for lost calls of spenders without a request so far. */
  readonly unasked?: number;
}

export interface BudgetLender extends Pick<BudgetPool, "id" | "rank" | "accounts"> {
  /** True when the budget, or a pool above it, bounds spending. */
  readonly isBinding: boolean;
  /**
   * Takes an amount as soon as it fits. @param room the holds of the lost calls that this call repeats
   * @returns the amount taken: if it fits only by using `room`, at most the rest @throws BudgetError, ControlError
   */
  take(amount: number, ending: Cancellation, room: number): Promise<number>;
  lent(change: LentChange): void;
  settled(): void;
  charge(amount: number): void;
  /** Counts an amount as spent in the pools above until it is settled. */
  lose(amount: number): BudgetHold;
}

/**
 * The budget of a run, lent to the effect of one step for a run or an agent that it starts. It owns the amounts spent and held since the
 * step began, which are part of the step's cost when it ends.
 *
 * LentBudget.L1 (`open`) spending here is part of the cost of the step, once: earlier spending of a spender counts only as far as the
 * record of earlier tries of the step does not include it.
 * LentBudget.L2 (`close`) after `close`, no amount can be taken, and a late settlement changes nothing.
 * LentBudget.L3 (`lost`) a lost hold of a spender counts here and in the pools above until it is settled.
 */
export class LentBudget implements BudgetPool {
  readonly id: string;
  readonly rank: number;
  readonly isBinding: boolean;
  readonly accounts: BudgetPool["accounts"];
  readonly parent: BudgetPool | undefined;
  readonly lender: BudgetLender;
  readonly #known = new Map<string, number>();
  readonly #accounts = new Map<string, LentAccount>();
  /** Micro-dollars recorded with the step and not yet matched with the record of a spender. */
  #paid: number;
  #spent = 0;
  #held = 0;
  #unasked = 0;
  isClosed = false;

  constructor(lender: BudgetLender, paid: number, parent?: BudgetPool) {
    this.id = lender.id;
    this.parent = parent;
    this.rank = Math.max(lender.rank, parent === undefined ? 0 : parent.rank + 1);
    this.isBinding = lender.isBinding || (parent !== undefined && parent.isBinding !== false);
    this.accounts = lender.accounts;
    this.lender = lender;
    this.#paid = paid;
  }

  open(name: string, { spent, lost = [] }: AccountOptions): Promise<BudgetAccount> {
    this.#accounts.get(name)?.end();
    const news = Math.max(0, spent - (this.#known.get(name) ?? 0));
    this.spends(name, news);
    const more = news - this.#matched(news);
    if (more > 0 && !this.isClosed) {
      this.change({ spent: more });
      this.lender.charge(more);
    }
    const account = new LentAccount(this, name);
    this.#accounts.set(name, account);
    account.lost = lost.map((amount) => account.lose(amount, this.#matched(amount)));
    account.notAsked();
    return Promise.resolve(account);
  }

  close(): number {
    const all = this.#spent + this.#held;
    this.isClosed = true;
    // No waiting try may start before the step has recorded its cost, so `settled` is not called.
    this.lender.lent({ spent: -this.#spent, held: -this.#held, unasked: -this.#unasked });
    return all;
  }

  spends(name: string, amount: number): void {
    this.#known.set(name, (this.#known.get(name) ?? 0) + amount);
  }

  takes(amount: number): void {
    this.#held += amount;
  }

  change(change: LentChange): void {
    if (this.isClosed) return;
    const { spent = 0, held = 0, unasked = 0 } = change;
    this.#spent += spent;
    this.#held += held;
    this.#unasked += unasked;
    this.lender.lent(change);
    this.lender.settled();
  }

  #matched(amount: number): number {
    const paid = Math.min(this.#paid, amount);
    this.#paid -= paid;
    return paid;
  }
}

interface LentHold {
  readonly amount: number;
  /** Lost holds count as spent until their calls are repeated. */
  isHeld: boolean;
  /** The amount of this hold in the pools above, if no other hold has it. */
  readonly above?: BudgetHold;
  /** The part that the step has recorded, which is final. */
  readonly paid: number;
}

class LentAccount implements BudgetAccount {
  lost: readonly BudgetHold[] = [];
  readonly #budget: LentBudget;
  readonly #name: string;
  readonly #holds = new Map<BudgetHold, LentHold>();
  #unasked = 0;
  #isClosed = false;

  constructor(budget: LentBudget, name: string) {
    this.#budget = budget;
    this.#name = name;
  }

  async reserve(amount: number, ending: Cancellation, repeats: readonly BudgetHold[] = []): Promise<BudgetHold> {
    if (this.#budget.isClosed) throw stepOver(this.#budget.id);
    const lost = repeats.flatMap((one) => this.#holds.get(one) ?? []).filter(({ isHeld }) => !isHeld);
    const room = lost.reduce((sum, one) => sum + one.amount, 0);
    const taken = this.#budget.lender.take(amount, ending, room);
    this.#asked();
    const more = await taken;
    if (this.#budget.isClosed) {
      this.#budget.lender.lent({ held: -more });
      this.#budget.lender.settled();
      throw stepOver(this.#budget.id);
    }
    this.#budget.takes(more);
    for (const one of lost) this.#move(one, true);
    return this.#hold({ amount: more, isHeld: true, paid: 0 }, () => {
      for (const one of lost) if ([...this.#holds.values()].includes(one)) this.#move(one, false);
    });
  }

  charge(amount: number): void {
    // The accounts above are charged separately.
    this.#budget.change({ spent: amount });
  }

  lose(amount: number, paid: number = 0): BudgetHold {
    const above = this.#budget.lender.lose(amount - paid);
    this.#budget.change({ spent: amount - paid });
    return this.#hold({ amount: amount - paid, isHeld: false, above, paid });
  }

  close(): Promise<void> {
    this.#asked();
    this.#isClosed = true;
    for (const kept of this.#holds.values()) this.#move(kept, false);
    return Promise.resolve();
  }

  /** A spender that may soon repeat its lost calls. */
  notAsked(): void {
    this.#unasked = [...this.#holds.values()].reduce((sum, { amount }) => sum + amount, 0);
    if (this.#unasked > 0) this.#budget.change({ unasked: this.#unasked });
  }

  /** Drops the holds of a closed account that is opened again: the record of its spender has them. */
  end(): void {
    if (!this.#isClosed) return;
    for (const { amount, above } of this.#holds.values()) {
      above?.settle(0);
      this.#budget.change({ spent: -amount });
    }
    this.#holds.clear();
  }

  #asked(): void {
    const unasked = this.#unasked;
    this.#unasked = 0;
    if (unasked > 0) this.#budget.change({ unasked: -unasked });
  }

  #move(kept: LentHold, isHeld: boolean): void {
    if (kept.isHeld === isHeld) return;
    kept.isHeld = isHeld;
    this.#budget.change(isHeld ? { spent: -kept.amount, held: kept.amount } : { spent: kept.amount, held: -kept.amount });
  }

  #hold(kept: LentHold, ended?: () => void): BudgetHold {
    const hold: BudgetHold = {
      settle: (cost) => {
        if (this.#isClosed || !this.#holds.delete(hold) || this.#budget.isClosed) return;
        ended?.();
        const { amount, isHeld, above, paid } = kept;
        const more = Math.max(0, cost - paid);
        this.#budget.spends(this.#name, cost);
        above?.settle(more);
        this.#budget.change(isHeld ? { spent: more, held: -amount } : { spent: more - amount });
      },
    };
    this.#holds.set(hold, kept);
    return hold;
  }
}

function stepOver(run: string): UsageError {
  return new UsageError(
    "STEP_OVER",
    `Expected the budget of a step to be used while its effect runs, but the step of ${run} is over. Await what the effect starts before it returns.`,
  );
}
