import type { Client, Pool, PoolClient } from "pg";
import { untilAborted, withTimeout } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import { AbortedError, type TroupeError } from "../kernel/errors.ts";
import { succeeds } from "../kernel/system-error.ts";
import { isPassing, type PostgresFault, type PostgresPart, postgresClosed, postgresError, type PostgresServer } from "./postgres-server.ts";

/** A statement. One with a name is prepared once for each connection; no two statements have the same name. */
export type Statement = string | { readonly name: string; readonly text: string };

/** Runs one statement, or several without values. Returns the rows of one statement. */
export type Rows = <R extends object>(statement: Statement, values?: readonly unknown[]) => Promise<readonly R[]>;

/**
 * Makes the server probe the connection. A client machine that disappears sends nothing, and its locks would be held for hours. The values are:
 * seconds to the first probe, seconds between probes, the number of failed probes, and milliseconds that sent data may stay unacknowledged. Not
 * every system supports all of them.
 */
export const KEEPALIVE = `SELECT count(set_config(name, wanted, false)) FROM (VALUES
    ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '12000')
  ) AS settings (name, wanted) JOIN pg_settings USING (name)`;

const FIRST_PAUSE = 50;
const MAX_PAUSE = 1_000;
/** Transactions at once, to find out whether a pooler shares connections. */
const HELD = 3;

interface RetryOptions {
  readonly isClosed: () => boolean;
  readonly pause: (tries: number) => number;
  readonly failed?: (error: unknown) => void;
}

export async function retried<T>(
  { part, server, pause }: Pick<PostgresDatabase, "part" | "server" | "pause">,
  o: RetryOptions,
  work: () => Promise<T>,
): Promise<T> {
  const until = server.clock.now() + server.patience;
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (o.isClosed()) throw postgresClosed(part, server);
      if (!isPassing(error) || server.clock.now() + o.pause(tries) > until) throw postgresError(part, server, error);
      o.failed?.(error);
    }
    await pause(o.pause(tries));
  }
}

/**
 * The tables of one part in a schema of a database. It owns a pool, which the first statement opens. PostgresDatabase.P1 (`patiently`) while the
 * database is away, work is repeated for `patience` milliseconds. PostgresDatabase.P2 (`#connected`) a connection whose statement failed for a passing
 * reason, or timed out, is not used again. PostgresDatabase.P3 (`#create`) one process makes the tables, in one transaction; tables of another version or
 * program are not touched. PostgresDatabase.P4 (`postgresError`) no error has the password in it. PostgresDatabase.P5 (`close`) afterwards waiting work fails with `closed`, and no connection is left unless the server hangs. A
 * connection outside the pool is refused behind a pooler that changes connections between statements (`#assertUnshared`).
 */
export class PostgresDatabase {
  readonly part: PostgresPart;
  readonly server: PostgresServer;
  readonly schema: string;
  readonly #closing = new AbortController();
  readonly #configured = new WeakSet<object>();
  #pool: Pool | undefined;
  #isReady = false;
  #checked: Promise<void> | undefined;
  #preparing: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #isAway = false;

  constructor(part: PostgresPart, server: PostgresServer) {
    this.part = part;
    this.server = server;
    this.schema = `"${server.schema}"`;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  readonly rows: Rows = (statement, values) => this.patiently((rows) => rows(statement, values));

  /** Runs work as one transaction. When the answer to COMMIT is lost, the work is repeated: it must recognize what an earlier try has written. */
  readonly transaction = <T>(work: (rows: Rows) => Promise<T>): Promise<T> =>
    this.patiently((rows) => inTransaction(rows, () => work(rows)));

  async once<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    await this.#prepared();
    return this.#connected(work);
  }

  async patiently<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    const o: RetryOptions = {
      isClosed: () => this.closing.aborted,
      pause: (tries) => Math.min(FIRST_PAUSE * 2 ** tries, MAX_PAUSE),
      failed: (error) => this.#report(true, error),
    };
    const result = await retried(this, o, () => this.once(work));
    this.#report(false);
    return result;
  }

  /** Repeats a statement until it succeeds. @param failed called after each wait of `patience` milliseconds @returns false when the database was closed first */
  async eventually(statement: Statement, values: readonly unknown[], failed: (error: unknown) => void): Promise<boolean> {
    while (!this.closing.aborted) {
      try {
        await this.rows(statement, values);
        return true;
      } catch (error) {
        if (!this.closing.aborted) failed(error);
      }
      await this.pause(MAX_PAUSE);
    }
    return false;
  }

  /** Overwrites removed rows. The database does so by itself later, so a failure does not matter. */
  async vacuum(...tables: readonly string[]): Promise<void> {
    for (const table of tables) await succeeds(this.once((rows) => rows(`VACUUM ${this.schema}.${table}`)));
  }

  /** Opens a connection outside the pool, which the caller ends. @throws errors of `pg`; error of the part `refused` behind a pooler */
  async connection(): Promise<{ readonly client: Client; readonly rows: Rows }> {
    await this.#prepared();
    const { Client } = await this.server.load();
    const client = new Client({ ...this.#config(), keepAlive: true });
    // Without a listener a lost connection would end the process.
    client.on("error", () => undefined);
    try {
      await this.#within("connecting to Postgres", () => client.connect());
      await this.#configure(client);
      const rows = this.#rowsOf(client);
      await this.#assertUnshared(rows);
      return { client, rows };
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  }

  readonly pause = async (ms: number): Promise<void> => {
    await untilAborted(sleep(this.server.clock, ms), this.closing).catch(() => undefined);
  };

  close(): Promise<void> {
    this.#closing.abort(new AbortedError(`the ${this.part.name} was closed`));
    this.#ending ??= this.#pool === undefined ? Promise.resolve() : endPool(this.#pool, this.server);
    return this.#ending;
  }

  #prepared(): Promise<void> {
    if (this.closing.aborted) return Promise.reject(postgresClosed(this.part, this.server));
    if (this.#isReady) return Promise.resolve();
    this.#preparing ??= this.#connected((rows) => this.#create(rows))
      .then(() => void (this.#isReady = true))
      .finally(() => (this.#preparing = undefined));
    return this.#preparing;
  }

  async #connected<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    const client = await (await this.#opened()).connect();
    try {
      await this.#configure(client);
      const result = await work(this.#rowsOf(client));
      client.release();
      return result;
    } catch (error) {
      client.release(isPassing(error) || this.closing.aborted);
      throw error;
    }
  }

  async #opened(): Promise<Pool> {
    const { connections, timeout, load } = this.server;
    const { Pool } = await load();
    if (this.closing.aborted) throw postgresClosed(this.part, this.server);
    if (this.#pool !== undefined) return this.#pool;
    const pool = new Pool({ ...this.#config(), max: connections, connectionTimeoutMillis: timeout, allowExitOnIdle: true });
    pool.on("error", () => undefined);
    pool.on("connect", (client: PoolClient) => void client.on("error", () => undefined));
    this.#pool = pool;
    return pool;
  }

  #config(): { readonly connectionString: string; readonly application_name: string } {
    return { connectionString: this.server.url, application_name: `troupe ${this.part.name}` };
  }

  /** Sets, once for each connection, the time limit of statements, which a pooler refuses at connect, and that a commit waits for the disk. */
  async #configure(client: Client | PoolClient): Promise<void> {
    if (this.#configured.has(client)) return;
    const answer = await this.#rowsOf(client)(
      `SELECT set_config('statement_timeout', $1, false),
         set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false),
         (${KEEPALIVE})`,
      [String(Math.ceil(this.server.timeout))],
    );
    // PgBouncer may answer before the first statement. Every later statement would then get the answer of the one before.
    if (answer.length === 0) throw new Error("Connection terminated: its first statement got the answer of another one");
    this.#configured.add(client);
  }

  /** Checks, once, that two clients have two server processes: behind a pooler, locks and notifications belong to no one. */
  #assertUnshared(rows: Rows): Promise<void> {
    this.#checked ??= this.#checkedUnshared(rows).catch((error: unknown) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  async #checkedUnshared(rows: Rows): Promise<void> {
    if (!(await this.#isLent(rows, await backendOf(rows), Math.min(HELD, this.server.connections)))) return;
    throw this.#failure(
      "refused",
      `Expected a connection to Postgres at ${this.server.shown} that belongs to the ${this.part.name} alone, got one that a pooler gives to several clients. Set the pooler to its mode session, or use the address of the server.`,
    );
  }

  /** True if others get the server process of a client that asks nothing: each transaction that is held takes a free one. */
  #isLent(rows: Rows, own: number | undefined, held: number): Promise<boolean> {
    return this.#connected((other) =>
      inTransaction(other, async () => {
        if ((await backendOf(other)) === own || (await backendOf(rows)) !== own) return true;
        return held > 1 && this.#isLent(rows, own, held - 1);
      }),
    );
  }

  #rowsOf(client: Client | PoolClient): Rows {
    return async <R extends object>(statement: Statement, values: readonly unknown[] = []): Promise<readonly R[]> => {
      const query = typeof statement === "string" ? { text: statement } : statement;
      // A string without values may be several statements.
      const asked = values.length === 0 ? query : { ...query, values: [...values] };
      return (await this.#within("a statement in Postgres", () => client.query<R & { [column: string]: unknown }>(asked))).rows;
    };
  }

  #within<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { clock, timeout, shown } = this.server;
    return withTimeout(clock, timeout, `${what} at ${shown}`, this.closing, work);
  }

  #report(isAway: boolean, error?: unknown): void {
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    const { logger, shown, mask } = this.server;
    if (isAway) logger.warn(`Postgres at ${shown} does not answer; the ${this.part.name} waits for it: ${mask(String(error))}`);
    else logger.info(`Postgres at ${shown} answers again.`);
  }

  async #create(rows: Rows): Promise<void> {
    const { name, version, tables } = this.part;
    if (await this.#hasTables(rows)) return;
    await inTransaction(rows, async () => {
      await rows("SELECT pg_advisory_xact_lock(hashtext($1), 0)", [`troupe schema ${this.server.schema}`]);
      if (await this.#hasTables(rows)) return;
      await this.#createSchema(rows);
      await rows(tables(this.schema));
      await rows(`INSERT INTO ${this.schema}.troupe_parts (part, version) VALUES ($1, $2)`, [name, version]);
    });
  }

  async #hasTables(rows: Rows): Promise<boolean> {
    const { name, version } = this.part;
    if (!(await this.#hasTable(rows, "troupe_parts"))) return false;
    const [row] = await rows<{ version: number }>(`SELECT version FROM ${this.schema}.troupe_parts WHERE part = $1`, [name]);
    if (row === undefined || row.version === version) return row !== undefined;
    throw this.#failure(
      "newer",
      `Expected tables of version ${version} for the ${name} in schema ${this.server.schema} of ${this.server.shown}, got ${row.version}. Use a program of that version, or another schema; nothing was changed.`,
    );
  }

  async #createSchema(rows: Rows): Promise<void> {
    if (await this.#hasTable(rows, "troupe_parts")) return;
    const [found] = await rows<{ encoding: string; has_schema: boolean }>(
      "SELECT current_setting('server_encoding') AS encoding, EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS has_schema",
      [this.server.schema],
    );
    if (found?.encoding !== "UTF8") throw this.#foreign(`a database in ${String(found?.encoding)}, not in UTF8`);
    if (await this.#hasTable(rows)) throw this.#foreign("the tables of another program");
    if (!found.has_schema) await rows(`CREATE SCHEMA ${this.schema}`);
    await rows(`CREATE TABLE ${this.schema}.troupe_parts (part text PRIMARY KEY, version integer NOT NULL)`);
  }

  /** True if the schema has the table `name`; without a name, if it has any table. A look-up by to_regclass may be answered from before the lock. */
  async #hasTable(rows: Rows, name?: string): Promise<boolean> {
    const [found] = await rows<{ has: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = $1 AND c.relname = coalesce($2, c.relname)) AS has`,
      [this.server.schema, name ?? null],
    );
    return found?.has === true;
  }

  #foreign(came: string): TroupeError {
    const { shown, schema } = this.server;
    const message = `Expected an empty place for the ${this.part.name} in schema ${schema} of ${shown}, got ${came}. Choose another; nothing was changed.`;
    return this.#failure("foreign", message);
  }

  #failure(fault: PostgresFault, message: string): TroupeError {
    return this.part.error(fault, message, { data: { database: this.server.shown, schema: this.server.schema } });
  }
}

/** Ends a pool. A server that hangs ends no connection, so the wait is limited. */
export async function endPool(pool: Pool, { clock, timeout }: PostgresServer): Promise<void> {
  await endsWithin(clock, timeout, () => pool.end());
}

/** Returns false for work that fails, or has no end in time. */
export function endsWithin(clock: Clock, ms: number, work: () => Promise<unknown>): Promise<boolean> {
  return succeeds(withTimeout(clock, ms, "an end in Postgres", new AbortController().signal, work));
}

async function backendOf(rows: Rows): Promise<number | undefined> {
  const [found] = await rows<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return found?.pid;
}

async function inTransaction<T>(rows: Rows, work: () => Promise<T>): Promise<T> {
  await rows("BEGIN");
  try {
    const result = await work();
    await rows("COMMIT");
    return result;
  } catch (error) {
    // A lost connection has rolled back already.
    if (!isPassing(error)) await rows("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
