import type { Cancellation } from "./cancellation.ts";

/** Money that several spenders share: runs, agents, or other pools. One process keeps it in memory, many keep it in a database. */
export interface BudgetPool {
  /** Identifies the pool in every process that uses it. */
  readonly id: string;
  /** Every amount taken from this pool is taken from the parent too. */
  readonly parent?: BudgetPool | undefined;
  /** Reservations are made in falling order of rank, so that no two wait for each other: 0, or one more than the rank of `parent`. */
  readonly rank: number;
  /**
   * Opens the account of a spender, such as a run, under a name that never changes. The pool charges what it has not charged yet of the
   * spender's recorded spending. Holds of a former holder are over: they come as `lost`. A remote pool rejects with `BUDGET_UNREACHABLE`.
   */
  open(account: string, o: AccountOptions): Promise<BudgetAccount>;
  /** Sets the amount in micro-dollars. Left out where the amount is kept elsewhere. */
  invest?(amount: number): void;
  /** True for a pool that knows its spending after its process has ended. Default false: then runs of the past are charged again. */
  readonly isDurable?: boolean;
  /** False where nothing bounds spending, so that an unpriced model may be asked. Default true. @internal */
  readonly isBinding?: boolean;
  /** Of the budget that a step lends: its open accounts. */
  readonly accounts?: readonly OpenAccount[] | undefined;
}

/** Options of opening an account. */
export interface AccountOptions {
  /** Micro-dollars that the spender has spent by its own record, without those in `lost`. */
  readonly spent: number;
  /** Micro-dollars of each call whose end is unknown. They count as spent until their holds are settled. Default: none. */
  readonly lost?: readonly number[];
}

/** A spender's account with one pool. */
export interface BudgetAccount {
  /**
   * Takes an amount, and waits while it does not fit and open holds could make room.
   *
   * @param repeats lost holds of the same call: where no other room is left, theirs is taken. They are settled before the new one.
   * @throws BudgetError when no open hold could make room; ControlError when the spender is cancelled first, or `BUDGET_UNREACHABLE`
   */
  reserve(amount: number, ending: Cancellation, repeats?: readonly BudgetHold[]): Promise<BudgetHold>;
  readonly lost: readonly BudgetHold[];
  /** Counts an amount as spent, even above the budget, until the hold is settled. */
  lose(amount: number): BudgetHold;
  /** Charges spending without a hold, even above the budget. A pool that must send it several times charges it once. */
  charge(amount: number): void;
  /** Open holds count as spent. Resolves when the pool knows all, or gives up. @param isDone true when the spender never opens the account again */
  close(isDone: boolean): Promise<void>;
}

/** A reserved amount. */
export interface BudgetHold {
  /** Closes the hold with its actual cost, which may be higher. A second call does nothing. */
  settle(cost: number): void;
}

export interface OpenAccount {
  readonly pool: BudgetPool;
  readonly account: BudgetAccount;
}
