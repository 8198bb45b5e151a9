import type { Cancellation } from "./cancellation.ts";

/** Money that several spenders share: runs, agents, or other pools. A port: one process keeps it in memory, many keep it in a database. */
export interface BudgetPool {
  /** Identifies the pool in every process that uses it. */
  readonly id: string;
  /** Every amount taken from this pool is taken from the parent too. */
  readonly parent?: BudgetPool | undefined;
  /**
   * Reservations are made in falling order of rank, then by id, so that no two wait for each other. One more than the rank of `parent`; 0
   * without.
   */
  readonly rank: number;
  /**
   * Opens the account of a spender, such as a run, under a name that never changes. The pool charges the part of the spender's recorded
   * spending that it has not charged yet: so a spender that is opened again is charged once. Open and lost holds of a former
   * holder, in another process or closed, are over: the record of the spender has them, and they come as `lost`. A pool elsewhere rejects with `BUDGET_UNREACHABLE` when
   * it cannot be reached.
   */
  open(account: string, o: AccountOptions): Promise<BudgetAccount>;
  /** Sets the amount of the pool in micro-dollars. Left out where the amount is kept elsewhere. */
  invest?(amount: number): void;
  /** True for a pool that still knows what was spent when its process has ended. Default false: then runs of the past are charged again. */
  readonly isDurable?: boolean;
  /** False where nothing bounds spending, so that a model without a known price may be asked. Default true. @internal */
  readonly isBinding?: boolean;
  /** Of the budget that a step lends: open accounts that come with it, in place of new ones in the same pools. @internal */
  readonly accounts?: readonly OpenAccount[] | undefined;
}

/** Options of opening an account. */
export interface AccountOptions {
  /** All micro-dollars the spender has spent, by its own record, without those in `lost`. */
  readonly spent: number;
  /** Micro-dollars of each call whose end is unknown. They count as spent until their holds are settled. Default: none. */
  readonly lost?: readonly number[];
}

/** A spender's account with one pool. */
export interface BudgetAccount {
  /**
   * Takes an amount in the turn in which it fits, and waits for that while open holds could make room.
   *
   * @param amount whole micro-dollars
   * @param repeats lost holds of the same call: where no room is left and none can come, their room is taken, so that a crash does not end
   * what has the money to go on. They are to be settled before the new one.
   * @throws BudgetError when no open hold could make room; ControlError when the spender is cancelled first, and with the code
   * `BUDGET_UNREACHABLE` when a pool elsewhere gave no answer for too long.
   */
  reserve(amount: number, ending: Cancellation, repeats?: readonly BudgetHold[]): Promise<BudgetHold>;
  /** The holds of the option `lost`, in its order. */
  readonly lost: readonly BudgetHold[];
  /** Counts an amount as spent, whether it fits or not, until the hold is settled. */
  lose(amount: number): BudgetHold;
  /** Charges spending without a hold, whether it fits or not. It is charged once, also by a pool that must send it several times. */
  charge(amount: number): void;
  /**
   * Closes the account. Open holds count as spent, like lost ones: it is unknown whether they were. Never rejects.
   *
   * @param isDone true when the spender never opens the account again
   * @returns when the pool knows all that was settled and charged, or when the pool gives up the wait for that
   */
  close(isDone: boolean): Promise<void>;
}

/** A reserved amount. */
export interface BudgetHold {
  /**
   * Closes the hold with its actual cost, which may be higher. A second call does nothing. A remote pool is told soon, and retried until it
   * answers.
   */
  settle(cost: number): void;
}

/** An account with its pool. */
export interface OpenAccount {
  readonly pool: BudgetPool;
  readonly account: BudgetAccount;
}
