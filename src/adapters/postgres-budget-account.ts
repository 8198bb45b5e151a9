import { randomUUID } from "node:crypto";
import type { BudgetAccount, BudgetHold } from "../kernel/budget.ts";
import type { Cancellation } from "../kernel/cancellation.ts";
import { endsWithin, type PostgresDatabase } from "./postgres-database.ts";

export interface AccountPool {
  readonly db: PostgresDatabase;
  readonly name: string;
  take(account: PostgresAccount, amount: number, ending: Cancellation, repeats: readonly string[]): Promise<string>;
  /** Lets others see that this process lives, until the returned function is called: it has a hold, or asks for one. */
  keep(): () => void;
  changed(): void;
  failed(error: unknown): void;
  closed(account: PostgresAccount): void;
}

interface LostAmount {
  readonly id: string;
  readonly amount: number;
}

interface OpenedAccount {
  readonly key: string;
  readonly opening: string;
  readonly spent: number;
  readonly lost: readonly LostAmount[];
  readonly letGo: (() => void) | undefined;
}

const MAX_SETTLED = 1_000;

export async function settledIn({ server }: PostgresDatabase, work: Iterable<Promise<void>>): Promise<void> {
  await endsWithin(server.clock, server.patience, () => Promise.all(work));
}

/**
 * The account of one spender with a pool in a database. It owns what the database does not know yet. PostgresAccount.A1 (`#sendOnce`) the database
 * gets the total spending of the account and the ids of settled holds, so a statement that is sent twice charges once. A hold is settled once; after
 * `close` no settlement counts. PostgresAccount.A3 (`reported`) a reservation is made after the settlements before it.
 */
export class PostgresAccount implements BudgetAccount {
  /** The name as JSON: Postgres cannot hold every string. */
  readonly key: string;
  readonly opening: string;
  readonly lost: readonly BudgetHold[];
  readonly #pool: AccountPool;
  readonly #open = new Map<string, () => void>();
  #total: number;
  #known: number;
  #settled: string[] = [];
  #losing: LostAmount[] = [];
  readonly #lostIds = new Map<BudgetHold, string>();
  /** Keeps this process visible until the first reservation: others wait for calls that are repeated. */
  #letGo: (() => void) | undefined;
  #ends: "open" | "done" | undefined;
  #isClosed = false;
  #sending: Promise<void> | undefined;
  #report: Promise<void> | undefined;

  constructor(pool: AccountPool, { key, opening, spent, lost, letGo }: OpenedAccount) {
    this.#pool = pool;
    this.key = key;
    this.opening = opening;
    this.#total = spent;
    this.#known = spent;
    this.lost = lost.map(({ id }) => this.#lostHold(id));
    this.#letGo = letGo;
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
    this.#send();
    return this.#lostHold(id);
  }

  charge(amount: number): void {
    if (this.#isClosed || amount === 0) return;
    this.#total += amount;
    this.#send();
  }

  async close(isDone: boolean): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hasAsked();
    for (const letGo of this.#open.values()) letGo();
    this.#open.clear();
    this.#ends = isDone ? "done" : "open";
    this.#send();
    void this.flushed().then(() => this.#pool.closed(this));
    await settledIn(this.#pool.db, [this.flushed()]);
  }

  /** Gives a hold back of which nothing was spent, also one of which it is unknown whether it was taken. */
  giveBack(id: string): void {
    this.#settle(id, 0);
  }

  async reported(): Promise<void> {
    await this.#report;
  }

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
    this.#send();
  }

  #send(): void {
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    let isOpen = true;
    do {
      let report = (): void => {};
      this.#report = new Promise((resolve) => (report = resolve));
      // Settlements of one turn are sent together.
      await Promise.resolve();
      isOpen = !this.#isBehind || (await this.#sendOnce(report));
      report();
    } while (isOpen && this.#isBehind);
    this.#sending = undefined;
  }

  get #isBehind(): boolean {
    return this.#settled.length + this.#losing.length > 0 || this.#known < this.#total || this.#ends !== undefined;
  }

  async #sendOnce(failed: () => void): Promise<boolean> {
    const { db, name } = this.#pool;
    const [settled, total, losing] = [this.#settled.slice(0, MAX_SETTLED), this.#total, [...this.#losing]];
    const ends = this.#settled.length === settled.length ? this.#ends : undefined;
    const isKnown = await db.eventually(
      { name: "budget state", text: `SELECT ${db.schema}.state_budget_account($1, $2, $3, $4, $5, $6, $7, $8)` },
      [name, this.key, this.opening, total, settled, ends ?? null, losing.map(({ id }) => id), losing.map(({ amount }) => amount)],
      (error) => {
        failed();
        this.#pool.failed(error);
      },
    );
    if (!isKnown) return false;
    if (ends !== undefined) this.#ends = undefined;
    this.#settled = this.#settled.slice(settled.length);
    this.#losing = this.#losing.slice(losing.length);
    this.#known = total;
    this.#pool.changed();
    return true;
  }
}
