import { EventEmitter } from "node:events";
import type { JobHelpers, Logger as GraphileLogger, Runner, WorkerPool } from "graphile-worker";
import type { Pool, PoolClient } from "pg";
import { onAbort } from "../kernel/abort.ts";
import { TroupeError, AbortedError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { systemCode } from "../kernel/system-error.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { thrownText } from "../kernel/value-text.ts";
import { type DeliveryHandler, driverClosed, tried, type Working, type WorkOptions } from "../team/run-driver.ts";
import { rejectedDelivery, triedJob } from "./driver-works.ts";
import type { GraphileQueue } from "./graphile-queue.ts";
import { type Rows, endPool, endsWithin, KEEPALIVE, type PostgresDatabase } from "./postgres-database.ts";
import { PersistentConnection } from "./postgres-persistent-connection.ts";
import { postgresError } from "./postgres-server.ts";

/** Polling interval in milliseconds of an idle slot of the package. The session wakes them earlier. */
const POLL = 10_000;

/** Thrown to the package for a row that another worker may have: the package then changes nothing. */
const LOST = "DRIVER_JOB_LOST";
const STOPPED = "Expected the package graphile-worker to take jobs until it is stopped, but it stopped by itself. Start the worker again.";

interface Parts {
  readonly queue: GraphileQueue;
  readonly handler: DeliveryHandler;
  readonly pool: GraphilePool;
  readonly runner: Runner;
  readonly workers: WorkerPool;
  /** Resolves when the package takes no more jobs, asked or not. Jobs in hand may still run. */
  readonly halted: Promise<unknown>;
}

type Task = (payload: unknown, helpers: JobHelpers) => Promise<void>;

/**
 * A worker of `graphile-worker`. It owns the package's runner, a pool and the session that shows that it lives. A row is removed only when its job is
 * done, or given back in another row; no handler is called before the session holds its lock (`#deliver`), and the lock lasts until every handler has
 * ended (`stop`). GraphileWork.W4 (`start`) a worker that cannot start leaves nothing. GraphileWork.W5 (`ended`) reports at once that the package
 * stopped by itself.
 */
export class GraphileWork implements Working {
  readonly ended: Promise<void>;
  readonly drain: Promise<void>;
  readonly #parts: Parts;
  readonly #inHand = new JobsInHand();
  readonly #session: GraphileSession;
  #stopping: Promise<void> | undefined;

  static async start(queue: GraphileQueue, handler: DeliveryHandler, o: WorkOptions): Promise<GraphileWork> {
    await queue.migrated();
    const pool = await graphilePool(queue, o.concurrency);
    // The package waits for this pool, and knows no signal.
    const letGo = onAbort(queue.database.closing, () => void pool.close());
    let work: GraphileWork | undefined;
    let begin = (_work: GraphileWork): void => undefined;
    const begun = new Promise<GraphileWork>((resolve) => (begin = resolve));
    const task: Task = async (payload, helpers) => (await begun).#deliver(payload, helpers);
    try {
      work = new GraphileWork({ queue, handler, pool, ...(await startPackage(queue, pool, o, task)) }, o);
      begin(work);
      await work.#session.held;
      return work;
    } catch (error) {
      await (work === undefined ? pool.close() : work.stop());
      throw queue.database.closing.aborted ? driverClosed() : error;
    } finally {
      letGo();
    }
  }

  private constructor(parts: Parts, { teams, concurrency }: WorkOptions) {
    const { queue, runner, workers, halted } = parts;
    this.#parts = parts;
    let drain = (): void => undefined;
    this.drain = new Promise((resolve) => (drain = resolve));
    const due = (jobs: number): void => {
      if (this.#stopping === undefined) workers.nudge(jobs);
    };
    this.#session = new GraphileSession({ queue, worker: workers.id, teams, concurrency, inHand: this.#inHand, due, drain });
    // The package reports its own stop only after the longest handler, and delivers nothing new until then.
    this.ended = halted.then(() => {
      if (this.#stopping === undefined) throw new TroupeError("DRIVER_STOPPED", STOPPED);
      return runner.promise;
    });
    this.ended.catch(() => undefined);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { queue, runner, pool } = this.#parts;
    const { clock, patience } = queue.database.server;
    // It rejects when the runner has stopped by itself, which `ended` reports.
    const stopped = runner.stop().catch(() => undefined);
    // The package waits for ever when the database did not take the ends of several jobs.
    do await this.#inHand.ended();
    while (!(await endsWithin(clock, patience, () => stopped)) && this.#inHand.size > 0);
    await this.#session.close();
    await pool.close();
  }

  async #deliver(payload: unknown, { job: { id, attempts: deliveries } }: JobHelpers): Promise<void> {
    const { job, attempts: before } = triedJob(payload);
    const attempt = before + deliveries;
    const { queue, handler, workers } = this.#parts;
    const { logger, hide } = queue.database.server;
    const { signal, end } = this.#inHand.begin(id, job.runId);
    try {
      await this.#session.held;
      if (signal.aborted) return;
      const verdict = await handler({ ...job, attempt, signal }).catch((error: unknown) =>
        rejectedDelivery(logger, hide(thrownText(error)), attempt),
      );
      if (verdict.is === "done" || signal.aborted) return;
      const queued = { job: verdict.job ?? job, attempts: tried(verdict, attempt) };
      if (await queue.giveBack({ id, worker: workers.id }, queued, verdict.after)) return;
      throw new TroupeError(LOST, "Expected to have the job still, but another worker may have it. Nothing is to be done.");
    } finally {
      end();
    }
  }
}

async function startPackage(
  queue: GraphileQueue,
  { pool }: GraphilePool,
  o: WorkOptions,
  task: Task,
): Promise<Pick<Parts, "runner" | "workers" | "halted">> {
  const { run, Logger } = await queue.load();
  const events = new EventEmitter();
  let workers: WorkerPool | undefined;
  events.on("pool:create", (created: { readonly workerPool: WorkerPool }) => {
    workers = created.workerPool;
  });
  const shutDown = new Promise<void>((resolve) => void events.once("pool:gracefulShutdown", () => resolve()));
  const options = {
    ...{ pgPool: pool, schema: queue.schemaName, concurrency: o.concurrency, pollInterval: POLL, noHandleSignals: true, events },
    logger: new Logger(() => logOf(queue)) as GraphileLogger,
    // With a batch no one would handle the error of a job that cannot be ended.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  };
  const tasks = Object.fromEntries(o.teams.map((team) => [team, task]));
  const runner = await queue.database.patiently(() => run(options, tasks, []));
  if (workers !== undefined) return { runner, workers, halted: Promise.race([shutDown, runner.promise]) };
  await runner.stop();
  const text = "Expected the package graphile-worker to report its workers, but it did not. Install version 0.17.3.";
  throw new TroupeError("DRIVER_REFUSED", text);
}

/** Forwards the package's log. What the package retries by itself it logs as an error; here it is a warning. */
function logOf({ database: { server } }: GraphileQueue): (level: string, message: string) => void {
  const { logger, hide } = server;
  return (level, message) => {
    // Slots of a worker share connections, because a slot needs one only when a job begins or ends.
    if (message.includes(LOST) || message.includes("maxPoolSize")) return;
    logger[level === "error" || level === "warning" ? "warn" : "debug"](`graphile-worker: ${hide(message)}`);
  };
}

interface JobInHand {
  readonly signal: AbortSignal;
  end(): void;
}

/**
 * The deliveries of a worker that have not ended. JobsInHand.H1 (`begin`) a row that comes again while its former delivery works is in hand
 * until both have ended. JobsInHand.H2 (`ended`) resolves when no delivery is left.
 */
export class JobsInHand {
  readonly #all = new Set<{ readonly row: string; readonly runId: string; readonly abort: AbortController }>();
  #emptied: () => void = () => undefined;

  begin(row: string, runId: string): JobInHand {
    const one = { row, runId, abort: new AbortController() };
    this.#all.add(one);
    const end = (): void => {
      this.#all.delete(one);
      if (this.size === 0) this.#emptied();
    };
    return { signal: one.abort.signal, end };
  }

  get size(): number {
    return this.#all.size;
  }

  async ended(): Promise<void> {
    while (this.size > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
  }

  has(row: string): boolean {
    return [...this.#all].some((one) => one.row === row);
  }

  cancelRun(runId: string): void {
    for (const one of this.#all) if (one.runId === runId) one.abort.abort(new AbortedError("the job of the run was cancelled"));
  }

  cancelRow(row: string): void {
    for (const one of this.#all) if (one.row === row) this.cancelRun(one.runId);
  }
}

interface SessionParts {
  readonly queue: GraphileQueue;
  readonly worker: string;
  readonly teams: readonly string[];
  readonly concurrency: number;
  readonly inHand: JobsInHand;
  readonly due: (jobs: number) => void;
  readonly drain: () => void;
}

const LOOK = 1_000;
/** Looks in a row after which a job that is in the queue under this worker, and not in its hands, is free again. */
const LOOKS = 3;

/**
 * The connection by which a worker shows that it lives. It owns the lock of the worker, and the results of its last looks. A worker is dead when its
 * lock is free in two looks of one connection that holds its own lock, while the server has run for some seconds (`#look`): a restart of the server
 * frees no job of a living worker. A job whose answer was lost is free again within seconds (`#freeUnheard`). GraphileSession.S2
 * (`PersistentConnection`) until `close` a lost connection is opened again. GraphileSession.S5 (`#prepare`, `#look`) the next connection, or look,
 * finds a cancel that this worker missed.
 */
class GraphileSession {
  readonly #parts: SessionParts;
  readonly #connection: PersistentConnection;
  readonly held: Promise<void>;
  #suspects: readonly string[] = [];
  #unheard: ReadonlyMap<string, number> = new Map();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#connection = new PersistentConnection({
      db: parts.queue.database,
      prepare: (rows) => this.#prepare(rows),
      heard: (payload) => this.#hear(payload),
      // `#prepare` has asked already for the notifications that were missed.
      renewed: async () => undefined,
      question: { every: LOOK, ask: (rows) => this.#look(rows) },
    });
    this.#connection.keep();
    this.held = this.#connection.opened();
    this.held.catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #prepare(rows: Rows): Promise<void> {
    const { queue, worker, inHand } = this.#parts;
    this.#suspects = [];
    await rows("SELECT set_config('application_name', $1, false)", [`troupe ${worker} ${queue.schemaName}`]);
    await rows("SELECT pg_advisory_lock(hashtextextended($1, 0))", [worker]);
    await rows(`LISTEN "${queue.channel}"`);
    for (const id of await queue.cancelled(rows, worker)) inHand.cancelRow(id);
  }

  async #look(rows: Rows): Promise<void> {
    const { queue, worker, teams, concurrency, inHand, due } = this.#parts;
    const look = await queue.look(rows, worker, teams, concurrency);
    // A cancel may be heard before the answer that brings its job.
    for (const id of look.cancelled) inHand.cancelRow(id);
    const dead = look.isSettled && look.isHeld ? look.suspects.filter((one) => this.#suspects.includes(one)) : [];
    this.#suspects = look.suspects;
    if (dead.length > 0) {
      await queue.free(rows, dead);
      queue.database.server.logger.warn("Jobs of workers that are gone are free again.", { workers: dead.length });
    }
    await this.#freeUnheard(rows, look.mine);
    if (look.due > 0) due(look.due);
  }

  async #freeUnheard(rows: Rows, mine: readonly string[]): Promise<void> {
    const { queue, worker, inHand } = this.#parts;
    this.#unheard = new Map(mine.filter((id) => !inHand.has(id)).map((id) => [id, (this.#unheard.get(id) ?? 0) + 1]));
    const lost = [...this.#unheard].flatMap(([id, looks]) => (looks >= LOOKS ? [id] : []));
    if (lost.length > 0) await queue.freeRows(rows, worker, lost);
  }

  #hear(payload: string): void {
    const { worker, inHand, drain } = this.#parts;
    const heard = parsedJson(payload);
    if (!isRecord(heard)) return;
    if (typeof heard["cancel"] === "string") inHand.cancelRun(heard["cancel"]);
    if (heard["drain"] === worker || heard["drain"] === true) drain();
  }
}

const CONNECTIONS = 8;

const FETCH = /^get_job/;

type Asked = string | { readonly text: string; readonly values?: readonly unknown[]; readonly name?: string };

type Listener = (error: Error | undefined, client: PoolClient | undefined, release: (error?: boolean) => void) => void;

interface GraphilePool {
  readonly pool: Pool;
  close(): Promise<void>;
}

/**
 * Returns a pool whose statements wait for a database that is away: the package stops its worker when a job cannot be ended. Only fetching a job
 * is not repeated: an idle slot asks again by itself, and must be able to stop.
 */
async function graphilePool(queue: GraphileQueue, concurrency: number): Promise<GraphilePool> {
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
