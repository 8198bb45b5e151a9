import { isObject } from "../kernel/value-kind.ts";
import type { AccountOptions, BudgetAccount, BudgetHold, BudgetPool } from "../kernel/budget.ts";
import { BudgetError, UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import type { Cancellation } from "../kernel/cancellation.ts";
import { interruptionBy } from "../kernel/abort.ts";
import { valueText } from "../kernel/value-text.ts";
import type { MicroUsd } from "./money.ts";

/** Options of {@link budgetPool}. */
export interface BudgetPoolOptions {
  /** The pool that contains this one: an amount taken here is taken there too. Default: none. */
  readonly parent?: BudgetPool;
  /** Shown in errors. Default "shared budget". */
  readonly name?: string;
}

const poolOptions: Known<BudgetPoolOptions> = { parent: true, name: true };

/** A pool of this process, with its present amounts. */
export interface LocalBudgetPool extends BudgetPool {
  /** Micro-dollars in all. */
  readonly amount: MicroUsd;
  /** Micro-dollars of everything settled. */
  readonly spent: MicroUsd;
  /** Micro-dollars reserved by calls in flight. */
  readonly held: MicroUsd;
  /** Sets the amount in micro-dollars. Waiting reservations that fit now are made. @throws UsageError `OPTION_INVALID` */
  invest(amount: number): void;
}

/**
 * A budget that runs, teams and agents of this process share: give the same pool to each as `budget`.
 *
 * @param amount micro-dollars: see `usd`
 * @throws UsageError `OPTION_INVALID` for an amount that is no whole number of 0 or more, or a parent that is no pool
 * @example
 * import { Team, usd } from "troupe";
 * import { budgetPool } from "troupe/limits";
 *
 * const account = budgetPool(usd(5), { name: "account" });
 * export const one = new Team({ name: "one", budget: account });
 * export const other = new Team({ name: "other", budget: budgetPool(usd(2), { parent: account }) });
 * console.log(account.amount, account.spent); // 5000000 0
 */
export function budgetPool(amount: MicroUsd, options: BudgetPoolOptions = {}): LocalBudgetPool {
  checkKnownOptions("budgetPool", options, poolOptions);
  return new LocalPool(amount, options);
}

/** True when a budget is a pool and not an amount. */
export function isBudgetPool(budget: unknown): budget is BudgetPool {
  return isObject(budget) && "open" in budget && typeof budget.open === "function";
}

/**
 * Checks a budget.
 *
 * @throws UsageError with that code, unless the value is an amount of micro-dollars, a pool of them, or left out
 */
export function checkBudget(budget: unknown, code: "OPTION_INVALID" | "AGENT_INVALID"): void {
  if (budget === undefined || isBudgetPool(budget) || (Number.isSafeInteger(budget) && Number(budget) >= 0)) return;
  const todo =
    typeof budget === "number" && budget > 0 ? `For $${budget} write usd(${budget}).` : "Write usd(3), or leave it out for no bound.";
  throw new UsageError(code, `Expected budget to be a whole number of micro-dollars or a pool of them, got ${valueText(budget)}. ${todo}`);
}

interface Waiter {
  readonly account: LocalAccount;
  readonly amount: number;
  readonly ending: Cancellation;
  readonly resolve: (hold: BudgetHold) => void;
  readonly reject: (error: Error) => void;
}

let made = 0;

/**
 * A pool in memory. It owns its amount, its spending, its holds, and the queue of waiting reservations. The length of the queue is bounded
 * by the calls that spenders have in flight, the number of accounts by the spenders that may come back.
 *
 * LocalPool.P1 (`#take`) no reservation lets spent + held exceed the amount: a hold is taken in the turn in which it was found to fit.
 * LocalPool.P2 (`#admit`) a reservation that does not fit waits while it could fit if the open holds cost nothing, and is refused otherwise:
 * so none waits where nothing is open.
 * LocalPool.P3 (`LocalAccount.hold`) held is the sum of open holds; every one is settled once, or closed with its account.
 * LocalPool.P4 (`open`) an account is charged up to its record, never twice.
 */
class LocalPool implements LocalBudgetPool {
  readonly id: string;
  readonly parent: BudgetPool | undefined;
  readonly rank: number;
  readonly #name: string;
  /** Micro-dollars spent by account. */
  readonly #spentBy = new Map<string, number>();
  #amount: number;
  #spent = 0;
  #held = 0;
  #queue: Waiter[] = [];

  constructor(amount: number, options: BudgetPoolOptions) {
    const { parent, name = "shared budget" } = options;
    this.#amount = wholeAmount(amount);
    if (parent !== undefined && !isBudgetPool(parent)) throw noPool(parent);
    made += 1;
    this.id = `local ${String(made).padStart(12, "0")}`;
    this.parent = parent;
    this.rank = parent === undefined ? 0 : parent.rank + 1;
    this.#name = name;
  }

  get amount(): MicroUsd {
    return this.#amount as MicroUsd;
  }
  get spent(): MicroUsd {
    return this.#spent as MicroUsd;
  }
  get held(): MicroUsd {
    return this.#held as MicroUsd;
  }

  invest(amount: number): void {
    this.#amount = wholeAmount(amount);
    this.#admit();
  }

  open(account: string, { spent }: AccountOptions): Promise<BudgetAccount> {
    const known = this.#spentBy.get(account) ?? 0;
    if (spent > known) this.add(account, spent - known);
    return Promise.resolve(new LocalAccount(this, account));
  }

  /** Adds to the spending of an account. */
  add(account: string, cost: number): void {
    this.#spent += cost;
    this.#spentBy.set(account, (this.#spentBy.get(account) ?? 0) + cost);
    this.#admit();
  }

  forget(account: string): void {
    this.#spentBy.delete(account);
  }

  reserve(account: LocalAccount, amount: number, ending: Cancellation): Promise<BudgetHold> {
    if (ending.ended !== undefined) return Promise.reject(interruptionBy(ending.ended.reason));
    if (this.#queue.length === 0 && this.#fits(amount)) return Promise.resolve(this.#take(account, amount));
    return new Promise((resolve, reject) => {
      const unsubscribe = ending.onEnd((reason) => {
        this.#queue = this.#queue.filter((other) => other !== waiter);
        reject(interruptionBy(reason));
      });
      const waiter: Waiter = {
        ...{ account, amount, ending },
        resolve: (hold) => {
          unsubscribe();
          resolve(hold);
        },
        reject: (error) => {
          unsubscribe();
          reject(error);
        },
      };
      this.#queue.push(waiter);
      this.#admit();
    });
  }

  settle(account: string, hold: number, cost: number): void {
    this.#held -= hold;
    this.add(account, cost);
  }

  #fits(amount: number): boolean {
    return this.#spent + this.#held + amount <= this.#amount;
  }

  #take(account: LocalAccount, amount: number): BudgetHold {
    this.#held += amount;
    return account.hold(amount);
  }

  /** Makes the waiting reservations that fit now, in their order, and refuses those that can never fit. */
  #admit(): void {
    if (this.#queue.length === 0) return;
    const waiting = this.#queue;
    this.#queue = [];
    for (const waiter of waiting) {
      const { account, amount, ending } = waiter;
      if (ending.ended !== undefined) waiter.reject(interruptionBy(ending.ended.reason));
      else if (this.#fits(amount)) waiter.resolve(this.#take(account, amount));
      else if (this.#spent + amount > this.#amount) waiter.reject(this.#refusal(amount));
      else this.#queue.push(waiter);
    }
  }

  #refusal(needed: number): BudgetError {
    return new BudgetError({ needed, left: Math.max(0, this.#amount - this.#spent), budget: this.#amount, of: this.#name });
  }
}

/** The account of one spender with a pool of this process. It owns the open holds of the spender. */
class LocalAccount implements BudgetAccount {
  readonly #pool: LocalPool;
  readonly #name: string;
  readonly #open = new Map<BudgetHold, number>();

  constructor(pool: LocalPool, name: string) {
    this.#pool = pool;
    this.#name = name;
  }

  reserve(amount: number, ending: Cancellation): Promise<BudgetHold> {
    return this.#pool.reserve(this, amount, ending);
  }

  charge(amount: number): void {
    this.#pool.add(this.#name, amount);
  }

  close(isDone: boolean): Promise<void> {
    for (const [hold, amount] of this.#open) hold.settle(amount);
    if (isDone) this.#pool.forget(this.#name);
    return Promise.resolve();
  }

  /** A hold that the pool has taken. */
  hold(amount: number): BudgetHold {
    const hold: BudgetHold = {
      settle: (cost) => {
        if (this.#open.delete(hold)) this.#pool.settle(this.#name, amount, cost);
      },
    };
    this.#open.set(hold, amount);
    return hold;
  }
}

function wholeAmount(amount: number): number {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the amount of a budget pool to be a whole number of micro-dollars of 0 or more, got ${valueText(amount)}. Write budgetPool(usd(5)).`,
  );
}

function noPool(parent: unknown): UsageError {
  return new UsageError(
    "OPTION_INVALID",
    `Expected the parent of a budget pool to be a pool, got ${valueText(parent)}. Make it by budgetPool(usd(5)).`,
  );
}

/** Sets the amount of a pool. @throws UsageError `OPTION_INVALID` for one whose amount is kept elsewhere */
export function investIn(pool: BudgetPool, amount: MicroUsd): void {
  if (pool.invest !== undefined) return pool.invest(amount);
  throw new UsageError("OPTION_INVALID", `Expected a pool whose amount can be set here, got ${pool.id}. Set it where it is kept.`);
}
