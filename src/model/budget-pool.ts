import { isObject } from "../kernel/value-kind.ts";
import type { AccountOptions, BudgetAccount, BudgetHold, BudgetPool } from "../kernel/budget.ts";
import { BudgetError, UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
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

const poolOptions: Known<BudgetPoolOptions> = { parent: kinds.checked, name: kinds.text };

/** A pool of this process, with its amounts in micro-dollars. */
export interface LocalBudgetPool extends BudgetPool {
  readonly amount: MicroUsd;
  /** Everything settled, and lost calls. */
  readonly spent: MicroUsd;
  /** Reserved by calls in flight. */
  readonly held: MicroUsd;
  /** Waiting reservations that fit now are made. @throws UsageError `OPTION_INVALID` */
  invest(amount: number): void;
}

/**
 * A budget that runs, teams and agents of this process share: give the same pool to each as `budget`.
 *
 * @param amount micro-dollars: see `usd`
 * @throws UsageError `OPTION_INVALID`
 * @example
 * import { Team, usd } from "troupe";
 * import { budgetPool } from "troupe";
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

export function unboundedPool(): BudgetPool {
  return Object.assign(budgetPool(Number.MAX_SAFE_INTEGER as MicroUsd), { isBinding: false });
}

export function isBudgetPool(budget: unknown): budget is BudgetPool {
  return isObject(budget) && "open" in budget && typeof budget.open === "function";
}

/** @throws UsageError with that code, unless the value is an amount of micro-dollars, a pool, or left out */
export function checkBudget(budget: unknown, code: "OPTION_INVALID" | "AGENT_INVALID"): void {
  if (budget === undefined || isBudgetPool(budget) || (Number.isSafeInteger(budget) && Number(budget) >= 0)) return;
  const todo =
    typeof budget === "number" && budget > 0 ? `For $${budget} write usd(${budget}).` : "Write usd(3), or leave it out for no bound.";
  throw new UsageError(code, `Expected budget to be a whole number of micro-dollars or a pool of them, got ${valueText(budget)}. ${todo}`);
}

export function investIn(pool: BudgetPool, amount: MicroUsd): void {
  if (pool.invest !== undefined) return pool.invest(amount);
  throw new UsageError("OPTION_INVALID", `Expected a pool whose amount can be set here, got ${pool.id}. Set it where it is kept.`);
}

interface Waiter {
  readonly account: LocalAccount;
  readonly amount: number;
  readonly repeats: readonly BudgetHold[];
  readonly ending: Cancellation;
  readonly resolve: (hold: BudgetHold) => void;
  readonly reject: (error: Error) => void;
}

let made = 0;

/**
 * A pool in memory. It owns its amount, its spending, its accounts, and the queue of waiting reservations, which the calls in flight bound.
 *
 * LocalPool.P1 (`#take`) no reservation lets spent + held exceed the amount: a hold is taken in the same turn as the check that it fits.
 * LocalPool.P2 (`admit`) a reservation that does not fit waits while it could fit if the open holds cost nothing, and the lost ones whose
 * calls may be about to be repeated. It is refused otherwise, so none waits if nothing is open.
 * LocalPool.P3 (`LocalAccount.#hold`) held is the sum of open holds, and spent has the lost ones; every one is settled once, or kept as
 * lost by its closed account.
 * LocalPool.P4 (`open`) an account is charged up to its record, never twice: its former holds are over.
 * LocalPool.P5 (`admit`) a call that repeats lost ones uses their holds if it would be refused otherwise.
 */
class LocalPool implements LocalBudgetPool {
  readonly id: string;
  readonly parent: BudgetPool | undefined;
  readonly rank: number;
  readonly #name: string;
  readonly #accounts = new Map<string, LocalAccount>();
  readonly #settledBy = new Map<string, number>();
  #amount: number;
  #settled = 0;
  #lost = 0;
  #held = 0;
  #queue: Waiter[] = [];

  constructor(amount: number, options: BudgetPoolOptions) {
    const { parent, name = "shared budget" } = options;
    this.#amount = wholeAmount(amount);
    if (parent !== undefined && !isBudgetPool(parent)) throw invalid("the parent of a budget pool to be a pool", parent);
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
    return (this.#settled + this.#lost) as MicroUsd;
  }
  get held(): MicroUsd {
    return this.#held as MicroUsd;
  }

  invest(amount: number): void {
    this.#amount = wholeAmount(amount);
    this.admit();
  }

  open(name: string, { spent, lost = [] }: AccountOptions): Promise<BudgetAccount> {
    const former = this.#accounts.get(name);
    if (former?.isClosed === true) former.end();
    this.settle(name, Math.max(spent - (this.#settledBy.get(name) ?? 0), 0));
    const account = new LocalAccount(this, name);
    account.lost = lost.map((amount) => account.lose(amount));
    this.#accounts.set(name, account);
    this.admit();
    return Promise.resolve(account);
  }

  isPresent(account: LocalAccount): boolean {
    return this.#accounts.get(account.name) === account;
  }

  forget(name: string): void {
    this.#accounts.delete(name);
    this.#settledBy.delete(name);
  }

  settle(name: string, cost: number): void {
    this.#settled += cost;
    this.#settledBy.set(name, (this.#settledBy.get(name) ?? 0) + cost);
  }

  count(lost: number, held: number): void {
    this.#lost += lost;
    this.#held += held;
  }

  reserve(account: LocalAccount, amount: number, ending: Cancellation, repeats: readonly BudgetHold[]): Promise<BudgetHold> {
    if (ending.ended !== undefined) return Promise.reject(interruptionBy(ending.ended.reason));
    if (this.#queue.length === 0 && this.#fits(amount)) return Promise.resolve(account.take(amount, repeats));
    return new Promise((resolve, reject) => {
      const last =
        <T>(end: (value: T) => void) =>
        (value: T): void => {
          unsubscribe();
          end(value);
        };
      const waiter: Waiter = { account, amount, repeats, ending, resolve: last(resolve), reject: last(reject) };
      const unsubscribe = ending.onEnd((reason) => {
        this.#queue = this.#queue.filter((other) => other !== waiter);
        reject(interruptionBy(reason));
      });
      this.#queue.push(waiter);
      this.admit();
    });
  }

  #fits(amount: number): boolean {
    return this.spent + this.#held + amount <= this.#amount;
  }

  #fitsBeside(amount: number, more: number): boolean {
    return this.#fits(more) || (more === 0 && this.#settled + this.#held + amount <= this.#amount);
  }

  /** Makes the waiting reservations that fit now, in their order, and refuses those that can never fit. */
  admit(): void {
    if (this.#queue.length === 0) return;
    const waiting = this.#queue;
    this.#queue = [];
    for (const waiter of waiting) {
      const { account, amount, repeats, ending } = waiter;
      const room = account.roomOf(repeats);
      const more = Math.max(0, amount - room);
      if (ending.ended !== undefined) waiter.reject(interruptionBy(ending.ended.reason));
      else if (this.#fits(amount)) waiter.resolve(account.take(amount, repeats));
      else if (this.spent + amount <= this.#amount) this.#queue.push(waiter);
      else if (room > 0 && this.#fitsBeside(amount, more)) waiter.resolve(account.take(more, repeats));
      else if (this.spent - this.#repeatable(waiting) + amount <= this.#amount && (room === 0 || this.#held > 0)) this.#queue.push(waiter);
      else
        waiter.reject(
          new BudgetError({ needed: amount, left: Math.max(0, this.#amount - this.spent), budget: this.#amount, of: this.#name }),
        );
    }
  }

  /** The lost holds whose calls wait to be repeated, or may be about to be: those of accounts that have not asked for anything yet. */
  #repeatable(waiting: readonly Waiter[]): number {
    const asked = waiting.reduce((sum, { account, repeats }) => sum + (account.unasked > 0 ? 0 : account.roomOf(repeats)), 0);
    return [...this.#accounts.values()].reduce((sum, { unasked }) => sum + unasked, asked);
  }
}

interface LocalHold {
  readonly amount: number;
  /** Lost holds are in `spent` until their calls are repeated. */
  isIn: "spent" | "held" | "none";
}

/** The account of one spender. It owns the open and lost holds. */
class LocalAccount implements BudgetAccount {
  readonly name: string;
  lost: readonly BudgetHold[] = [];
  isClosed = false;
  readonly #pool: LocalPool;
  readonly #holds = new Map<BudgetHold, LocalHold>();
  #hasAsked = false;

  constructor(pool: LocalPool, name: string) {
    this.#pool = pool;
    this.name = name;
  }

  reserve(amount: number, ending: Cancellation, repeats: readonly BudgetHold[] = []): Promise<BudgetHold> {
    const hold = this.#pool.reserve(this, amount, ending, repeats);
    if (!this.#hasAsked) {
      this.#hasAsked = true;
      this.#pool.admit();
    }
    return hold;
  }

  charge(amount: number): void {
    this.#pool.settle(this.name, amount);
    this.#pool.admit();
  }

  lose(amount: number): BudgetHold {
    return this.#hold(amount, "spent");
  }

  close(isDone: boolean): Promise<void> {
    this.isClosed = true;
    if (!this.#pool.isPresent(this)) this.end();
    else {
      for (const kept of this.#holds.values()) this.#move(kept, "spent");
      if (isDone) this.#pool.forget(this.name);
    }
    this.#pool.admit();
    return Promise.resolve();
  }

  /** The lost holds that its call repeats are held with it, so that others wait for their settlement too. */
  take(amount: number, repeats: readonly BudgetHold[]): BudgetHold {
    const lost = this.#lostOf(repeats);
    for (const kept of lost) this.#move(kept, "held");
    return this.#hold(amount, "held", () => {
      for (const kept of lost) if (kept.isIn === "held") this.#move(kept, "spent");
    });
  }

  roomOf(repeats: readonly BudgetHold[]): number {
    return this.#lostOf(repeats).reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Of lost holds while the spender has not asked for anything. */
  get unasked(): number {
    return this.#hasAsked || this.isClosed ? 0 : this.roomOf(this.lost);
  }

  /** The account was opened again: the record of its spender has the holds. */
  end(): void {
    for (const kept of this.#holds.values()) this.#move(kept, "none");
    this.#holds.clear();
  }

  #lostOf(holds: readonly BudgetHold[]): readonly LocalHold[] {
    return holds.flatMap((hold) => this.#holds.get(hold) ?? []).filter(({ isIn }) => isIn === "spent");
  }

  #hold(amount: number, isIn: "spent" | "held", ended?: () => void): BudgetHold {
    const kept: LocalHold = { amount, isIn: "none" };
    const hold: BudgetHold = {
      settle: (cost) => {
        if (this.isClosed || !this.#holds.delete(hold)) return;
        this.#move(kept, "none");
        ended?.();
        this.#pool.settle(this.name, cost);
        this.#pool.admit();
      },
    };
    this.#holds.set(hold, kept);
    this.#move(kept, isIn);
    return hold;
  }

  #move(kept: LocalHold, to: LocalHold["isIn"]): void {
    const { amount, isIn } = kept;
    const change = (sum: LocalHold["isIn"]): number => (to === sum ? amount : 0) - (isIn === sum ? amount : 0);
    this.#pool.count(change("spent"), change("held"));
    kept.isIn = to;
  }
}

function wholeAmount(amount: number): number {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw invalid("the amount of a budget pool to be a whole number of micro-dollars of 0 or more", amount);
}

function invalid(expected: string, got: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${expected}, got ${valueText(got)}. Write budgetPool(usd(5)).`);
}
