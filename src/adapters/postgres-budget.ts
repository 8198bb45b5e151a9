import { randomUUID } from "node:crypto";
import { interruptionBy } from "../kernel/abort.ts";
import type { AccountOptions, BudgetAccount, BudgetPool } from "../kernel/budget.ts";
import type { Cancellation } from "../kernel/cancellation.ts";
import { AbortedError, BudgetError, UsageError } from "../kernel/errors.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import { checkBudget, isBudgetPool } from "../model/budget-pool.ts";
import type { MicroUsd } from "../model/money.ts";
import { type AccountPool, PostgresAccount, settledIn } from "./postgres-budget-account.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import type { Presence } from "./postgres-persistent-connection.ts";
import { type PostgresOptions, postgresOptions, type PostgresServer, postgresServer } from "./postgres-server.ts";
import { sharedPart, sharedPresence } from "./postgres-shared-tables.ts";

/** Options of {@link postgresBudget}. */
export interface PostgresBudgetOptions extends PostgresOptions {
  /** Identifies the budget in its schema, for every process: 1 to 200 characters. */
  readonly name: string;
  /** Micro-dollars in all: see `usd`. The process that first uses the budget last decides. Default: as it is in the database, at first 0. */
  readonly amount?: MicroUsd;
  /** The pool that contains this one: an amount taken here is taken there too. Default: none. */
  readonly parent?: BudgetPool;
}

/** The amounts of a budget in a database, in micro-dollars. */
export interface PostgresBudgetAmounts {
  readonly amount: MicroUsd;
  /** Everything settled, and holds of processes that are gone. */
  readonly spent: MicroUsd;
  /** Reserved by calls in flight. */
  readonly held: MicroUsd;
}

/** A budget in a database. */
export interface PostgresBudget extends BudgetPool {
  /** Sets the amount in micro-dollars, for every process. Waiting reservations that fit then are made. @throws UsageError `OPTION_INVALID` */
  invest(amount: number): void;
  /** Reads the present amounts. @throws ControlError `BUDGET_UNREACHABLE` and others of its kind */
  amounts(): Promise<PostgresBudgetAmounts>;
  /** Waits until the database knows everything that was settled, for `patience` at most, and ends the connections. */
  close(): Promise<void>;
}

const budgetOptions: Known<PostgresBudgetOptions> = { ...postgresOptions, name: kinds.text, amount: kinds.count, parent: kinds.checked };

const LOOK = 1_000;

/**
 * A budget that processes and machines share: a pool in a Postgres database, over `pg`, which the first call loads. Give it as `budget` to
 * teams, runs, agents, and tenants of a server.
 *
 * The sum of what is spent and reserved does not exceed the amount, in all processes together, except for repeated calls after a crash. Open
 * reservations of a killed process count as spent five to seven seconds later, until the run resumes elsewhere and reports what its record
 * has. Accounts are named by the ids of runs, so runs of two journals that share a budget need different ids.
 *
 * A reservation waits while the database is away, for `patience` at most, and then fails with the ControlError `BUDGET_UNREACHABLE`, which
 * ends the run; it can be resumed. A settlement is sent again until the database has it.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `POSTGRES_URL_INVALID`
 * @example
 * import { Team, usd } from "troupe";
 * import { postgresBudget } from "troupe/postgres";
 *
 * const budget = postgresBudget({ url: "postgres://troupe@db.example/troupe", name: "acme", amount: usd(20) });
 * export const team = new Team({ name: "press", budget });
 */
export function postgresBudget(options: PostgresBudgetOptions): PostgresBudget {
  const server = postgresServer("postgresBudget", options, budgetOptions);
  const { name, amount, parent } = options;
  checkSharedName("postgresBudget", name);
  checkBudget(amount, "OPTION_INVALID");
  if (parent !== undefined && !isBudgetPool(parent)) throw invalid("the parent of postgresBudget to be a pool", parent);
  return new PostgresPool(server, options);
}

export function checkSharedName(what: string, name: unknown): void {
  if (typeof name === "string" && /^[^\u0000-\u001f\ud800-\udfff]{1,200}$/u.test(name)) return;
  throw invalid(`name of ${what} to be 1 to 200 characters without control characters`, name);
}

function invalid(expected: string, got: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${expected}, got ${valueText(got)}.`);
}

interface Waiter {
  readonly amount: number;
  readonly ask: () => Promise<boolean>;
  readonly reject: (error: Error) => void;
}

type Amounts = { readonly [Name in "amount" | "spent" | "held"]: string };
type Answer = Amounts & { readonly state: "held" | "waits" | "refused" | "taken" };

/**
 * See {@link postgresBudget}. It owns the connections, the open accounts of this process, and the waiting reservations. PostgresPool.G1
 * (`reserve_budget`) no reservation lets spent + held exceed the amount: a hold is written under the lock of the budget's row. PostgresPool.G2
 * (`#admit`) waiting reservations are repeated, in order, after each change and each second; one is refused when no open hold could make room.
 * PostgresPool.G3 (`lose_budget_holds`) holds of a process whose lock was free for seconds count as spent; a process with one holds its lock
 * (`keep`). PostgresPool.G4 (`open_budget_account`) an account that is opened again is charged with its record, and former holders take nothing more.
 * PostgresPool.G5 (`close`) what was settled before is known, unless the database stays away. PostgresPool.G6 (`reserve_budget`) a call that repeats
 * lost ones takes their room where it would be refused otherwise.
 */
class PostgresPool implements PostgresBudget, AccountPool {
  readonly id: string;
  readonly parent: BudgetPool | undefined;
  readonly rank: number;
  readonly isDurable = true;
  readonly name: string;
  readonly db: PostgresDatabase;
  readonly #amount: MicroUsd | undefined;
  readonly #presence: Presence;
  readonly #accounts = new Set<PostgresAccount>();
  #investing: Promise<void> = Promise.resolve();
  #made: Promise<void> | undefined;
  #queue: Waiter[] = [];
  #isAdmitting = false;
  #hasNews = false;
  #stopLook: (() => void) | undefined;

  constructor(server: PostgresServer, { name, amount, parent }: PostgresBudgetOptions) {
    this.name = name;
    this.parent = parent;
    this.rank = parent === undefined ? 0 : parent.rank + 1;
    this.id = `postgres ${server.shown} ${server.schema} ${name}`;
    this.#amount = amount;
    this.db = new PostgresDatabase(sharedPart("BUDGET"), server);
    this.#presence = sharedPresence(this.db, (named = name) => {
      if (named === name) this.changed();
    });
  }

  invest(amount: number): void {
    if (!Number.isSafeInteger(amount) || amount < 0) throw invalid("the amount of a budget to be whole micro-dollars of 0 or more", amount);
    this.#investing = this.#investing
      .then(() => this.#ready())
      .then(() => this.#setAmount(amount))
      .catch((error: unknown) => this.failed(error));
  }

  async amounts(): Promise<PostgresBudgetAmounts> {
    await this.#ready();
    await this.#investing;
    return this.#look();
  }

  async open(account: string, { spent, lost: amounts = [] }: AccountOptions): Promise<BudgetAccount> {
    await this.#ready();
    const [key, opening] = [JSON.stringify(account), randomUUID()];
    const lost = amounts.map((amount) => ({ id: randomUUID(), amount }));
    const letGo = lost.length === 0 ? undefined : this.keep();
    let row: { readonly known: string } | undefined;
    try {
      if (letGo !== undefined) await this.#presence.connection.opened();
      [row] = await this.db.rows<{ known: string }>(
        { name: "budget open", text: `SELECT ${this.db.schema}.open_budget_account($1, $2, $3, $4, $5, $6, $7) AS known` },
        [this.name, key, opening, spent, lost.map(({ id }) => id), amounts, letGo === undefined ? 0 : this.#presence.holder],
      );
    } catch (error) {
      letGo?.();
      throw error;
    }
    const opened = new PostgresAccount(this, { key, opening, spent: Number(row?.known ?? spent), lost, letGo });
    this.#accounts.add(opened);
    return opened;
  }

  closed(account: PostgresAccount): void {
    this.#accounts.delete(account);
  }

  take(account: PostgresAccount, amount: number, ending: Cancellation, repeats: readonly string[]): Promise<string> {
    if (ending.ended !== undefined) return Promise.reject(interruptionBy(ending.ended.reason));
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      let isOver = false;
      const over = (then: () => void): boolean => {
        unsubscribe();
        this.#queue = this.#queue.filter((other) => other !== waiter);
        if (!isOver) then();
        isOver = true;
        return true;
      };
      const unsubscribe = ending.onEnd((reason) => over(() => reject(interruptionBy(reason))));
      const ask = async (): Promise<boolean> => {
        if (isOver) return true;
        try {
          const answer = await this.#reserve(account, [id, amount, repeats]);
          if (answer.state === "held" && isOver) account.giveBack(id);
          if (answer.state === "waits") return isOver;
          const refusal = this.#refusal(answer, amount);
          return over(() => (refusal === undefined ? resolve(id) : reject(refusal)));
        } catch (error) {
          // It is unknown whether the hold was taken.
          account.giveBack(id);
          return over(() => reject(error as Error));
        }
      };
      const waiter: Waiter = { amount, ask, reject: (error) => over(() => reject(error)) };
      if (this.#queue.length > 0) this.#wait(waiter);
      else void ask().then((isDone) => isDone || this.#wait(waiter));
    });
  }

  keep(): () => void {
    return this.#presence.connection.keep();
  }

  changed(): void {
    this.#hasNews = true;
    if (this.#queue.length > 0 && !this.#isAdmitting) void this.#admit();
  }

  failed(error: unknown): void {
    const text = `Sending the spending of budget "${this.name}" failed, and is retried: ${thrownText(error)}`;
    this.db.server.logger.warn(text);
  }

  async close(): Promise<void> {
    await settledIn(this.db, [this.#investing, ...[...this.#accounts].map((account) => account.flushed())]);
    this.#stopLook?.();
    await this.#presence.connection.close();
    await this.db.close();
    // Waiting reservations get the error of a closed budget.
    this.changed();
  }

  #ready(): Promise<void> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  async #make(): Promise<void> {
    await this.db.rows(`INSERT INTO ${this.db.schema}.budgets (name, amount) VALUES ($1, 0) ON CONFLICT DO NOTHING`, [this.name]);
    if (this.#amount !== undefined) await this.#setAmount(this.#amount);
  }

  async #setAmount(amount: number): Promise<void> {
    await this.db.rows(
      `WITH changed AS (UPDATE ${this.db.schema}.budgets SET amount = $2 WHERE name = $1 AND amount <> $2 RETURNING name)
       SELECT ${this.db.schema}.tell_of(name) FROM changed`,
      [this.name, amount],
    );
    this.changed();
  }

  async #reserve(account: PostgresAccount, asked: readonly [id: string, amount: number, repeats: readonly string[]]): Promise<Answer> {
    await account.reported();
    // The lock must be held before others see the hold.
    await this.#presence.connection.opened();
    const [answer] = await this.db.rows<Answer>(
      { name: "budget reserve", text: `SELECT * FROM ${this.db.schema}.reserve_budget($1, $2, $3, $4, $5, $6, $7)` },
      [this.name, account.key, account.opening, this.#presence.holder, ...asked],
    );
    return answer ?? { state: "taken", amount: "0", spent: "0", held: "0" };
  }

  #refusal({ state, amount, spent }: Answer, needed: number): Error | undefined {
    if (state === "held") return undefined;
    if (state === "taken") return new AbortedError("another process has the account of this run");
    const [budget, used] = [Number(amount), Number(spent)];
    return new BudgetError({ needed, left: Math.max(0, budget - used), budget, of: `shared budget "${this.name}"` });
  }

  #wait(waiter: Waiter): void {
    this.#queue.push(waiter);
    this.changed();
  }

  async #admit(): Promise<void> {
    this.#isAdmitting = true;
    this.#stopLook?.();
    while (this.#hasNews && this.#queue.length > 0) {
      this.#hasNews = false;
      const look = await this.#look().catch((error: unknown) => error as Error);
      if (look instanceof Error) {
        for (const { reject } of this.#queue) reject(look);
        break;
      }
      let room = look.amount - look.spent - look.held;
      for (const { amount, ask } of this.#queue) {
        const isRefused = look.spent + amount > look.amount;
        if (!isRefused && amount > room) continue;
        if ((await ask()) && !isRefused) room -= amount;
      }
    }
    this.#isAdmitting = false;
    if (this.#queue.length > 0) this.#stopLook = this.db.server.clock.timer(LOOK, () => void this.#lookAgain());
  }

  /** The end of a process notifies no one. */
  async #lookAgain(): Promise<void> {
    if (this.db.closing.aborted) return;
    await this.db.rows(`SELECT ${this.db.schema}.lose_budget_holds($1)`, [this.name]).catch(() => undefined);
    this.changed();
  }

  async #look(): Promise<PostgresBudgetAmounts> {
    const text = `SELECT amount, spent, held FROM ${this.db.schema}.budgets WHERE name = $1`;
    const [row] = await this.db.rows<Amounts>({ name: "budget look", text }, [this.name]);
    const { amount = 0, spent = 0, held = 0 } = row ?? {};
    return { amount: Number(amount) as MicroUsd, spent: Number(spent) as MicroUsd, held: Number(held) as MicroUsd };
  }
}
