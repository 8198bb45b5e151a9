import type { Cancellation } from "./cancellation.ts";

/** Money that several spenders share: runs, agents, or other pools. A port: one process keeps it in memory, many keep it in a database. */
export interface BudgetPool {
  /** The same in every process that uses the pool, and no other pool's. */
  readonly id: string;
  /** Every amount taken from this pool is taken from the parent too. */
  readonly parent?: BudgetPool | undefined;
  /** Reservations are made in falling order of rank, then by id, so that no two wait for each other. One more than that of `parent`; 0 without. */
  readonly rank: number;
  /**
   * Opens the account of a spender, such as a run, by a name that is always the same. The pool counts what the record of the spender tells
   * and the pool has not counted: so a spender that comes back is charged once. What a former holder of the account left open is closed.
   */
  open(account: string, o: AccountOptions): Promise<BudgetAccount>;
  /** Sets the amount of the pool in micro-dollars. Left out where the amount is kept elsewhere. */
  invest?(amount: number): void;
  /** False where nothing bounds what is spent, so that a model without a known price may be asked. Default true. @internal */
  readonly isBinding?: boolean;
  /** Accounts that are open already and come with this pool, in place of new ones in the same pools. @internal */
  readonly accounts?: readonly OpenAccount[] | undefined;
}

/** How an account is opened. */
export interface AccountOptions {
  /** Micro-dollars the spender has spent in all, by its own record. */
  readonly spent: number;
}

/** A spender's account with one pool. */
export interface BudgetAccount {
  /**
   * Takes an amount in the turn in which it fits, and waits for that while open holds could make room.
   *
   * @param amount whole micro-dollars
   * @throws BudgetError when nothing open could make room; ControlError when the spender is ended first.
   */
  reserve(amount: number, ending: Cancellation): Promise<BudgetHold>;
  /** Counts what was spent elsewhere, whether it fits or not. */
  charge(amount: number): void;
  /** Closes open holds at their full amount: nobody knows whether they were spent. @param isDone the spender never comes back */
  close(isDone: boolean): void;
}

/** A reserved amount. */
export interface BudgetHold {
  /** Closes the hold with what it cost, which may be more. A second call does nothing. */
  settle(cost: number): void;
}

/** An account and the pool it is with. */
export interface OpenAccount {
  readonly pool: BudgetPool;
  readonly account: BudgetAccount;
}
