import { randomUUID } from "node:crypto";
import { sleep } from "../kernel/clock.ts";
import type { BudgetAccount, BudgetHold } from "../kernel/budget.ts";
import type { Cancellation } from "../kernel/cancellation.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

/** The pool of an account. */
export interface AccountPool {
  readonly db: PostgresDatabase;
  readonly name: string;
  /** Takes an amount for an account. @param repeats ids of lost holds @throws BudgetError, ControlError */
  take(account: PostgresAccount, amount: number, ending: Cancellation, repeats: readonly string[]): Promise<string>;
  /** Lets others see that this process lives, until the returned function is called: it has a hold, or asks for one. */
  keep(): () => void;
  /** Must be called when there may be room. */
  changed(): void;
  /** Called when the database has had no answer for the account for too long; it is asked again. */
  failed(error: unknown): void;
}

/** The hold of a call whose end is unknown. */
export interface LostAmount {
  readonly id: string;
  /** Micro-dollars. */
  readonly amount: number;
}

/** An account that the database has opened. */
interface OpenedAccount {
  readonly key: string;
  readonly opening: string;
  readonly spent: number;
  readonly lost: readonly LostAmount[];
  /** Ends what lets this process be seen, where the account has lost holds. */
  readonly letGo: (() => void) | undefined;
}

/** Most holds that one statement settles. */
const MOST_SETTLED = 1_000;
/** Milliseconds between two tries after the patience of the database is over. */
const PAUSE = 1_000;

/**
 * The account of one spender with a pool in a database. It owns what the database does not know yet.
 *
 * PostgresAccount.A1 (`#sendOnce`) the database is told the sum that the account has spent in total, and the ids of settled holds: so a
 * statement that is sent twice charges once, and none is given up before the pool is closed. PostgresAccount.A2 (`#open`) a hold is settled
 * once, a lost one too; after `close` no settlement counts. Its end is awaited (`close`) for no longer than the patience of the database.
 * PostgresAccount.A3 (`reported`) a reservation is made after the settlements before it.
 */
export class PostgresAccount implements BudgetAccount {
  /** The name as the database has it: any text, also one that Postgres cannot hold. */
  readonly key: string;
  readonly opening: string;
  readonly lost: readonly BudgetHold[];
  readonly #pool: AccountPool;
  /** What lets this process be seen for each hold. */
  readonly #open = new Map<string, () => void>();
  /** Micro-dollars. */
  #total: number;
  /** The total that the database knows. */
  #known: number;
  #settled: string[] = [];
  /** Lost amounts that the database does not know. */
  #losing: LostAmount[] = [];
  /** The ids of lost holds. */
  readonly #lostIds = new Map<BudgetHold, string>();
  /** Lets this process be seen until the first reservation: others wait for calls that are repeated. */
  #letGo: (() => void) | undefined;
  #ends: "open" | "done" | undefined;
  #isClosed = false;
  #sending: Promise<void> | undefined;
  /** The last statement of the account. */
  #report: Promise<boolean> | undefined;

  constructor(pool: AccountPool, o: OpenedAccount) {
    this.#pool = pool;
    this.key = o.key;
    this.opening = o.opening;
    this.#total = o.spent;
    this.#known = o.spent;
    this.lost = o.lost.map(({ id }) => this.#lostHold(id));
    this.#letGo = o.letGo;
  }

  async reserve(amount: number, ending: Cancellation, repeats: readonly BudgetHold[] = []): Promise<BudgetHold> {
    const letGo = this.#pool.keep();
    const repeated = repeats.flatMap((hold) => this.#lostIds.get(hold) ?? []);
    const id = await this.#pool.take(this, amount, ending, repeated).catch((error: unknown) => {
      letGo();
      throw error;
    });
    this.#hasAsked();
    this.#open.set(id, letGo);
    return {
      settle: (cost) => {
        if (!this.#open.delete(id)) return;
        letGo();
        this.#settle(id, cost);
      },
    };
  }

  lose(amount: number): BudgetHold {
    const id = randomUUID();
    if (!this.#isClosed) this.#losing.push({ id, amount });
    this.#tell();
    return this.#lostHold(id);
  }

  charge(amount: number): void {
    if (this.#isClosed || amount === 0) return;
    this.#total += amount;
    this.#tell();
  }

  async close(isDone: boolean): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hasAsked();
    for (const letGo of this.#open.values()) letGo();
    this.#open.clear();
    this.#ends = isDone ? "done" : "open";
    this.#tell();
    const { clock, patience } = this.#pool.db.server;
    const over = new AbortController();
    await Promise.race([this.flushed(), sleep(clock, patience, over.signal).catch(() => undefined)]);
    over.abort();
  }

  /** Gives a hold back of which nothing was spent, also one of which it is unknown whether it was taken. */
  giveBack(id: string): void {
    this.#settle(id, 0);
  }

  /** Resolves when the database knows what was settled before, which may have cost more than was held, or has failed to answer. */
  async reported(): Promise<void> {
    await this.#report;
  }

  /** Resolves when the database knows everything, or the pool is closed. */
  async flushed(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  #hasAsked(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }

  #lostHold(id: string): BudgetHold {
    const hold: BudgetHold = {
      settle: (cost) => {
        if (!this.#isClosed && this.#lostIds.delete(hold)) this.#settle(id, cost);
      },
    };
    this.#lostIds.set(hold, id);
    return hold;
  }

  #settle(id: string, cost: number): void {
    this.#total += cost;
    this.#settled.push(id);
    this.#tell();
  }

  #tell(): void {
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    const { db } = this.#pool;
    do {
      this.#report = this.#sendOnce();
      if (!(await this.#report)) await sleep(db.server.clock, PAUSE, db.closing).catch(() => undefined);
    } while (this.#isBehind);
    this.#sending = undefined;
  }

  get #isBehind(): boolean {
    return (
      !this.#pool.db.closing.aborted &&
      (this.#settled.length + this.#losing.length > 0 || this.#known < this.#total || this.#ends !== undefined)
    );
  }

  /** @returns false when it failed, and is to be sent again after a pause */
  async #sendOnce(): Promise<boolean> {
    // Settlements of one turn are sent together.
    await Promise.resolve();
    if (!this.#isBehind) return true;
    const { db, name } = this.#pool;
    const [settled, total] = [this.#settled.slice(0, MOST_SETTLED), this.#total];
    const ends = this.#settled.length === settled.length ? this.#ends : undefined;
    const losing = [...this.#losing];
    try {
      await db.rows({ name: "budget state", text: `SELECT ${db.schema}.state_budget_account($1, $2, $3, $4, $5, $6, $7, $8)` }, [
        name,
        this.key,
        this.opening,
        total,
        settled,
        ends ?? null,
        losing.map(({ id }) => id),
        losing.map(({ amount }) => amount),
      ]);
    } catch (error) {
      if (db.closing.aborted) return true;
      this.#pool.failed(error);
      return false;
    }
    if (ends !== undefined) this.#ends = undefined;
    this.#settled = this.#settled.slice(settled.length);
    this.#losing = this.#losing.slice(losing.length);
    this.#known = total;
    this.#pool.changed();
    return true;
  }
}
