import type { Pool, PoolClient } from "pg";
import { systemCode } from "../kernel/system-error.ts";
import type { GraphileQueue } from "./graphile-queue.ts";
import { endPool, KEEPALIVE, type PostgresDatabase } from "./postgres-database.ts";
import { postgresError } from "./postgres-server.ts";

const CONNECTIONS = 8;

const FETCH = /^get_job/;

type Asked = string | { readonly text: string; readonly values?: readonly unknown[]; readonly name?: string };

type Listener = (error: Error | undefined, client: PoolClient | undefined, release: (error?: boolean) => void) => void;

export interface GraphilePool {
  readonly pool: Pool;
  close(): Promise<void>;
}

/**
 * Returns a pool for the package `graphile-worker` whose statements wait for a database that is away: the package asks once to end a job, and
 * stops its worker when that fails. Only fetching a job is not repeated: an idle slot asks again by itself, and must be able to stop.
 */
export async function graphilePool(queue: GraphileQueue, concurrency: number): Promise<GraphilePool> {
  const database = queue.databaseWith(Math.min(concurrency, CONNECTIONS));
  const listening = await listeningPool(database);
  const query = async (asked: Asked, values?: readonly unknown[]): Promise<{ readonly rows: readonly object[] }> => ({
    rows: await ask(database, asked, values),
  });
  // The package runs single statements, so a client needs no connection of its own.
  const client = { query, release: () => undefined };
  const connect = (listener?: Listener): unknown => (listener === undefined ? Promise.resolve(client) : listening.connect(listener));
  const pool = new Proxy(listening, {
    get: (target, name): unknown => (name === "connect" ? connect : name === "query" ? query : Reflect.get(target, name)),
  });
  let closing: Promise<void> | undefined;
  return { pool, close: () => (closing ??= database.close().then(() => endPool(listening, database.server))) };
}

async function ask(database: PostgresDatabase, asked: Asked, given: readonly unknown[] = []): Promise<readonly object[]> {
  const { text, values = given, name = "" } = typeof asked === "string" ? { text: asked } : asked;
  const statement = name === "" ? text : { name, text };
  if (!FETCH.test(name)) return database.rows(statement, values);
  try {
    return await database.once((rows) => rows(statement, values));
  } catch (error) {
    // The package waits for seconds after some codes of the server, and its slot with it.
    throw postgresError(database.part, database.server, error);
  }
}

async function listeningPool({ server }: PostgresDatabase): Promise<Pool> {
  const { Pool: PgPool } = await server.load();
  const { url, timeout, logger } = server;
  const limit = `SET statement_timeout = ${Math.ceil(timeout)}; ${KEEPALIVE}`;
  const pool = new PgPool({
    ...{ connectionString: url, application_name: "troupe queue", max: 1, connectionTimeoutMillis: timeout, query_timeout: timeout },
    ...{ keepAlive: true, allowExitOnIdle: true },
    // A pooler takes no time limit with the connection.
    verify: (client, done) => void client.query(limit).then(() => done(), done),
  });
  const ended = (error: Error): void => logger.debug("A connection of the queue ended.", { code: systemCode(error) });
  pool.on("error", ended);
  pool.on("connect", (client) => void client.on("error", ended));
  return pool;
}
