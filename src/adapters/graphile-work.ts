import { EventEmitter } from "node:events";
import type { JobHelpers, Logger as GraphileLogger, Runner, WorkerPool } from "graphile-worker";
import { onAbort, withTimeout } from "../kernel/abort.ts";
import { TroupeError } from "../kernel/errors.ts";
import { succeeds } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { type DeliveryHandler, driverClosed, tried, type Working, type WorkOptions } from "../team/run-driver.ts";
import { rejectedDelivery } from "./driver-works.ts";
import { type GraphilePool, graphilePool } from "./graphile-pool.ts";
import { type GraphileQueue, queuedJob } from "./graphile-queue.ts";
import { GraphileSession, JobsInHand } from "./graphile-session.ts";

/** Milliseconds between two looks of an idle slot of the package. The session wakes them earlier. */
const POLL = 10_000;

/** Thrown to the package for a row that another worker may have: the package then changes nothing. */
const LOST = "DRIVER_JOB_LOST";
const STOPPED = "Expected the package graphile-worker to take jobs until it is stopped, but it stopped by itself. Start the worker again.";

interface PackageWorker {
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
  readonly #queue: GraphileQueue;
  readonly #handler: DeliveryHandler;
  readonly #inHand = new JobsInHand();
  readonly #session: GraphileSession;
  readonly #pool: GraphilePool;
  readonly #runner: Runner;
  readonly #worker: string;
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

  private constructor(
    parts: PackageWorker & { readonly queue: GraphileQueue; readonly handler: DeliveryHandler; readonly pool: GraphilePool },
    { teams, concurrency }: WorkOptions,
  ) {
    const { queue, handler, pool, runner, workers, halted } = parts;
    this.#queue = queue;
    this.#handler = handler;
    this.#pool = pool;
    this.#runner = runner;
    this.#worker = workers.id;
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
    const { clock, patience } = this.#queue.database.server;
    // It rejects when the runner has stopped by itself, which `ended` reports.
    const stopped = this.#runner.stop().catch(() => undefined);
    const isStopped = (): Promise<boolean> =>
      succeeds(withTimeout(clock, patience, "the stop of the queue", new AbortController().signal, () => stopped));
    // The package waits for ever when the database did not take the ends of several jobs.
    do await this.#inHand.ended();
    while (!(await isStopped()) && this.#inHand.size > 0);
    await this.#session.close();
    await this.#pool.close();
  }

  async #deliver(payload: unknown, { job: { id, attempts: deliveries } }: JobHelpers): Promise<void> {
    const { job, attempts: before } = queuedJob(payload);
    const attempt = before + deliveries;
    const { logger, hide } = this.#queue.database.server;
    const { signal, end } = this.#inHand.begin(id, job.runId);
    try {
      await this.#session.held;
      if (signal.aborted) return;
      const verdict = await this.#handler({ ...job, attempt, signal }).catch((error: unknown) =>
        rejectedDelivery(logger, hide(thrownText(error)), attempt),
      );
      if (verdict.is === "done" || signal.aborted) return;
      const queued = { job: verdict.job ?? job, attempts: tried(verdict, attempt) };
      if (await this.#queue.giveBack({ id, worker: this.#worker }, queued, verdict.after)) return;
      throw new TroupeError(LOST, "Expected to have the job still, but another worker may have it. Nothing is to be done.");
    } finally {
      end();
    }
  }
}

async function startPackage(queue: GraphileQueue, { pool }: GraphilePool, o: WorkOptions, task: Task): Promise<PackageWorker> {
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
