import type { Client, Pool, PoolClient } from "pg";
import { untilAborted, withTimeout } from "../kernel/abort.ts";
import { sleep } from "../kernel/clock.ts";
import { AbortedError } from "../kernel/errors.ts";
import { succeeds } from "../kernel/system-error.ts";
import {
  isPassing,
  type PostgresPart,
  postgresClosed,
  postgresError,
  postgresForeign,
  postgresMissing,
  postgresNewer,
  postgresPooled,
} from "./postgres-errors.ts";
import type { LoadPostgres, PostgresServer } from "./postgres-server.ts";

/** A statement. One with a name is prepared once for each connection; no two statements have the same name. */
export type Statement = string | { readonly name: string; readonly text: string };

/** A connection that a piece of work has for itself. */
export interface PostgresConnection {
  /** Runs one statement, or several without values. @returns the rows of one statement */
  rows<R extends object>(statement: Statement, values?: readonly unknown[]): Promise<readonly R[]>;
}

/**
 * A client machine that disappears sends nothing, so the server probes it (TCP keepalive). Values: seconds to the first probe, seconds
 * between probes, failed probes until the connection is closed. Probes are sent only on a connection without unacknowledged data; with some,
 * such as a notification, the last value bounds the wait in milliseconds. Without these values the locks of the connection, and its place among
 * all connections, are held for two hours, or a quarter of an hour. Postgres 11 and other systems lack some of them.
 */
export const SEEN_GONE = `SELECT count(set_config(name, wanted, false)) FROM (VALUES
    ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '12000')
  ) AS settings (name, wanted) JOIN pg_settings USING (name)`;

/**
 * A stopped process, or a proxy that drops data, still acknowledges these probes. So the server closes a connection that has been idle for
 * 60 s. For connections on which the process asks something at least every ten seconds while it needs them. A time that the user has set for
 * the role or in the address stays. Postgres 13 does not have it.
 */
export const SEEN_STOPPED = `SELECT set_config(name, '60000', false) FROM pg_settings WHERE name = 'idle_session_timeout' AND setting = '0'`;

/** Milliseconds between two tries while the database is away: the first pause and the longest one. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

/**
 * The tables of one part in a schema of a Postgres database. It owns a pool of connections and the versions of its tables; the first piece
 * of work opens both.
 *
 * PostgresDatabase.P1 (`patiently`) work is done again on a new connection while the database is away, for `patience` milliseconds at most.
 * PostgresDatabase.P2 (`#connected`) a connection on which a statement failed in passing, or had no answer in time, is not used again.
 * PostgresDatabase.P3 (`#migrate`) tables are brought to their newest version in one transaction, by one process at a time; tables of a
 * newer version, or of another program, are not touched. PostgresDatabase.P4 (`postgresError`) no error has the password in it.
 * PostgresDatabase.P5 (`#opened`) there are at most `connections` connections in the pool. PostgresDatabase.P6 (`close`) after it, work that
 * waits ends with the error `closed`, and no connection is left unless the server stands still (`endPool`). PostgresDatabase.P7
 * (`#assertUnshared`) a connection outside the pool is not one that a pooler changes between statements.
 */
export class PostgresDatabase {
  readonly part: PostgresPart;
  readonly server: PostgresServer;
  /** The quoted name of the schema, for texts of statements. */
  readonly schema: string;
  readonly #closing = new AbortController();
  readonly #begun = new WeakSet<object>();
  #package: ReturnType<LoadPostgres> | undefined;
  #pool: Pool | undefined;
  #isReady = false;
  #isUnshared = false;
  #preparing: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #isAway = false;

  constructor(part: PostgresPart, server: PostgresServer) {
    this.part = part;
    this.server = server;
    this.schema = `"${server.schema}"`;
  }

  /** Aborts when the database is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Runs one statement that may be done twice. @throws errors of the part */
  rows<R extends object>(statement: Statement, values: readonly unknown[] = []): Promise<readonly R[]> {
    return this.patiently((connection) => connection.rows<R>(statement, values));
  }

  /**
   * Runs work as one transaction: all of it, or nothing. When the answer to its COMMIT is lost, the work is done again, so it must recognise
   * what an earlier try has written.
   *
   * @throws errors of the part and of `work`
   */
  transaction<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    return this.patiently((connection) => inTransaction(connection, () => work(connection)));
  }

  /** Does work on a connection of the pool without trying it again. @throws errors of `pg` and of `work` */
  async once<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    await this.#prepared();
    return this.#connected(work);
  }

  /**
   * Does work on a connection of the pool, and again on another one after a failure that may pass. So the work may be done twice.
   *
   * @throws errors of the part and of `work`; UsageError `PACKAGE_MISSING`
   */
  async patiently<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const { clock, patience } = this.server;
    const until = clock.now() + patience;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        await this.#prepared();
        const result = await this.#connected(work);
        this.#tell(false);
        return result;
      } catch (error) {
        if (this.closing.aborted) throw postgresClosed(this.part, this.server);
        if (!isPassing(error) || clock.now() + pause > until) throw postgresError(this.part, this.server, error);
        this.#tell(true, error);
      }
      await this.pause(pause);
    }
  }

  /** Lets the database overwrite removed rows. It does so by itself too, only later: so a failure, such as a limit of time, does not matter. */
  async vacuum(...tables: readonly string[]): Promise<void> {
    for (const table of tables) await succeeds(this.once(({ rows }) => rows(`VACUUM ${this.schema}.${table}`)));
  }

  /**
   * Opens a connection outside the pool, once; the caller ends it with `end`. Its tables are ready.
   *
   * @throws errors of `pg`, which {@link isPassing} tells apart; error of the part `refused` behind a pooler that changes connections
   */
  async connection(): Promise<{ readonly client: Client; readonly rows: PostgresConnection["rows"] }> {
    await this.#prepared();
    const { Client } = await this.#loaded();
    const client = new Client({ ...this.#config(), keepAlive: true });
    // Without a listener a lost connection would end the process.
    client.on("error", () => undefined);
    try {
      await this.#within("connecting to Postgres", () => client.connect());
      await this.#begin(client);
      const { rows } = this.#asking(client);
      await this.#assertUnshared(rows);
      return { client, rows };
    } catch (error) {
      // It may be broken: nobody waits for its end.
      client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Waits so many milliseconds, or until the database is closed. All waits share one listener of that. */
  async pause(ms: number): Promise<void> {
    await untilAborted(sleep(this.server.clock, ms), this.closing).catch(() => undefined);
  }

  /** Ends all connections. Closing twice is no error. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#closing.abort(new AbortedError(`the ${this.part.name} was closed`));
    if (this.#pool !== undefined) await endPool(this.#pool, this.server);
  }

  #prepared(): Promise<void> {
    if (this.closing.aborted) return Promise.reject(postgresClosed(this.part, this.server));
    if (this.#isReady) return Promise.resolve();
    this.#preparing ??= this.#connected((connection) => this.#migrate(connection)).then(
      () => {
        this.#isReady = true;
      },
      (error: unknown) => {
        this.#preparing = undefined;
        throw error;
      },
    );
    return this.#preparing;
  }

  async #connected<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const client = await (await this.#opened()).connect();
    try {
      await this.#begin(client);
      const result = await work(this.#asking(client));
      client.release();
      return result;
    } catch (error) {
      client.release(isPassing(error) || this.closing.aborted);
      throw error;
    }
  }

  async #opened(): Promise<Pool> {
    const { Pool } = await this.#loaded();
    if (this.closing.aborted) throw postgresClosed(this.part, this.server);
    if (this.#pool !== undefined) return this.#pool;
    const { connections, timeout } = this.server;
    const pool = new Pool({ ...this.#config(), max: connections, connectionTimeoutMillis: timeout, allowExitOnIdle: true });
    // An idle connection that is lost is not used again; nobody waits for it.
    pool.on("error", () => undefined);
    pool.on("connect", (client: PoolClient) => void client.on("error", () => undefined));
    this.#pool = pool;
    return pool;
  }

  #config(): { readonly connectionString: string; readonly application_name: string } {
    return { connectionString: this.server.url, application_name: `troupe ${this.part.name}` };
  }

  /**
   * Sets what statements need. A pooler takes no limit of time with the connection. A commit without a wait for the disk is not durable;
   * settings that wait for more stay.
   */
  async #begin(client: Client | PoolClient): Promise<void> {
    if (this.#begun.has(client)) return;
    const { rows } = this.#asking(client);
    const answer = await rows(
      `SELECT set_config('statement_timeout', $1, false),
         set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false),
         (${SEEN_GONE})`,
      [String(Math.ceil(this.server.timeout))],
    );
    // PgBouncer may end an exchange that nobody began. Each later statement would get the answer of the one before.
    if (answer.length === 0) throw new Error("Connection terminated: its first statement got the answer of another one");
    this.#begun.add(client);
  }

  /**
   * Looks whether the server has one process for two clients: then a pooler changes connections between statements, and locks and
   * notifications belong to nobody.
   *
   * @throws error of the part `refused`
   */
  async #assertUnshared(rows: PostgresConnection["rows"]): Promise<void> {
    if (this.#isUnshared) return;
    const own = await backendOf(rows);
    const other = await this.#connected((connection) => backendOf(connection.rows));
    if (own === other || own !== (await backendOf(rows))) throw postgresPooled(this.part, this.server);
    this.#isUnshared = true;
  }

  #loaded(): ReturnType<LoadPostgres> {
    this.#package ??= this.server.load().catch((cause: unknown) => {
      this.#package = undefined;
      throw postgresMissing(cause);
    });
    return this.#package;
  }

  #asking(client: Client | PoolClient): PostgresConnection {
    return {
      rows: async <R extends object>(statement: Statement, values: readonly unknown[] = []): Promise<readonly R[]> => {
        const query = typeof statement === "string" ? { text: statement } : statement;
        // A text without values may be several statements.
        const given = values.length === 0 ? query : { ...query, values: [...values] };
        const { rows } = await this.#within("a statement in Postgres", () => client.query<R & QueryRow>(given));
        return rows;
      },
    };
  }

  #within<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { clock, timeout, shown } = this.server;
    return withTimeout(clock, timeout, `${what} at ${shown}`, this.closing, work);
  }

  /** Tells once that the database is away, and once that it is back. */
  #tell(isAway: boolean, error?: unknown): void {
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    const { logger, shown, mask } = this.server;
    if (isAway) logger.warn(`Postgres at ${shown} does not answer; the ${this.part.name} waits for it: ${mask(String(error))}`);
    else logger.info(`Postgres at ${shown} answers again.`);
  }

  /** Brings the tables to their newest version. @throws errors of the part: `newer`, `foreign` */
  async #migrate(connection: PostgresConnection): Promise<void> {
    const { part } = this;
    if ((await this.#version(connection)) === part.steps.length) return;
    await inTransaction(connection, async () => {
      await connection.rows("SELECT pg_advisory_xact_lock(hashtext($1), 0)", [this.#lockName]);
      const version = await this.#version(connection);
      if (version === undefined) await this.#found(connection);
      for (const step of part.steps.slice(version ?? 0)) await connection.rows(step(this.schema));
      await connection.rows(
        `INSERT INTO ${this.schema}.troupe_parts (part, version) VALUES ($1, $2)
         ON CONFLICT (part) DO UPDATE SET version = excluded.version`,
        [part.name, part.steps.length],
      );
    });
  }

  get #lockName(): string {
    return `troupe schema ${this.server.schema}`;
  }

  /** The version of the tables; undefined without the table of versions. @throws error of the part `newer` */
  async #version(connection: PostgresConnection): Promise<number | undefined> {
    // A look-up by name, such as to_regclass, may be answered from before the lock.
    const [found] = await connection.rows<{ is_there: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = $1 AND c.relname = 'troupe_parts') AS is_there`,
      [this.server.schema],
    );
    if (found?.is_there !== true) return undefined;
    const [row] = await connection.rows<{ version: number }>(`SELECT version FROM ${this.schema}.troupe_parts WHERE part = $1`, [
      this.part.name,
    ]);
    const version = row?.version ?? 0;
    if (version > this.part.steps.length) throw postgresNewer(this.part, this.server, version);
    return version;
  }

  /** Makes the schema and its table of versions. @throws error of the part `foreign` */
  async #found(connection: PostgresConnection): Promise<void> {
    const [found] = await connection.rows<{ encoding: string; has_schema: boolean; has_tables: boolean }>(
      `SELECT current_setting('server_encoding') AS encoding,
         EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS has_schema,
         EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1) AS has_tables`,
      [this.server.schema],
    );
    if (found?.encoding !== "UTF8") throw postgresForeign(this.part, this.server, `a database in ${String(found?.encoding)}, not in UTF8`);
    if (found.has_tables) throw postgresForeign(this.part, this.server, "the tables of another program");
    if (!found.has_schema) await connection.rows(`CREATE SCHEMA ${this.schema}`);
    await connection.rows(`CREATE TABLE ${this.schema}.troupe_parts (part text PRIMARY KEY, version integer NOT NULL)`);
  }
}

/** Ends a pool. A server that stands still ends no connection, so nobody waits longer than for a statement. */
export async function endPool(pool: Pool, { clock, timeout }: PostgresServer): Promise<void> {
  await succeeds(withTimeout(clock, timeout, "the end of connections", new AbortController().signal, () => pool.end()));
}

/** A row as `pg` describes it. */
type QueryRow = { [column: string]: unknown };

/** Returns the id of the server's process that answers. */
async function backendOf(rows: PostgresConnection["rows"]): Promise<number | undefined> {
  const [found] = await rows<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return found?.pid;
}

async function inTransaction<T>(connection: PostgresConnection, work: () => Promise<T>): Promise<T> {
  await connection.rows("BEGIN");
  try {
    const result = await work();
    await connection.rows("COMMIT");
    return result;
  } catch (error) {
    // A lost connection has rolled back already.
    if (!isPassing(error)) await connection.rows("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
