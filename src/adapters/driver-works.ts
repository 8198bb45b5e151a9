import type { Logger } from "../kernel/emit.ts";
import { isCount, isRecord } from "../kernel/value-kind.ts";
import {
  checkListLimit,
  checkWork,
  type DeliveryHandler,
  driverClosed,
  type FleetDriver,
  type JobInfo,
  type Handled,
  parseRunJob,
  type RunJob,
  type Working,
  type WorkOptions,
} from "../team/run-driver.ts";

/** Milliseconds until a job whose handler rejected is delivered again: doubled each time. */
const FIRST_PAUSE = 1_000;
const MAX_PAUSE = 30_000;

export function rejectedDelivery(logger: Logger, reason: string, attempt: number): Handled {
  const after = Math.min(FIRST_PAUSE * 2 ** Math.min(attempt - 1, 10), MAX_PAUSE);
  logger.warn("A delivery failed, and comes again.", { reason, after });
  return { is: "again", after };
}

/** A job with the number of its deliveries. */
export interface TriedJob {
  readonly job: RunJob;
  readonly attempts: number;
}

export function triedJob(sent: unknown): TriedJob {
  const { job, attempts } = isRecord(sent) ? sent : {};
  return { job: parseRunJob(job), attempts: isCount(attempts) ? attempts : 0 };
}

/** The calls of an engine behind a driver. They are made after the checks of the arguments, while the driver is open. */
export interface Engine extends Pick<FleetDriver, "submit" | "cancel" | "workers" | "drain"> {
  start(handler: DeliveryHandler, o: WorkOptions): Promise<Working>;
  list(limit: number): Promise<readonly JobInfo[]>;
  /** Ends what a starting worker waits for. */
  release?(): Promise<void>;
}

/** The driver of an engine. DriverWorks.W1 (`close`) every worker is stopped, also one that is starting. */
export function engineDriver(engine: Engine): FleetDriver {
  const workers = new Set<Working>();
  const starting = new Set<Promise<Working>>();
  let closing: Promise<void> | undefined;
  const opened = (): Engine => {
    if (closing !== undefined) throw driverClosed();
    return engine;
  };
  const started = async (handler: DeliveryHandler, o: WorkOptions): Promise<Working> => {
    const work = await opened().start(handler, o);
    workers.add(work);
    if (closing === undefined) return work;
    await work.stop();
    throw driverClosed();
  };
  const close = async (): Promise<void> => {
    await Promise.all([...workers].map((work) => work.stop()));
    await engine.release?.();
    await Promise.allSettled(starting);
  };
  return {
    submit: async (job) => opened().submit(job),
    async work(handler, o) {
      checkWork(handler, o);
      const start = started(handler, o);
      starting.add(start);
      return start.finally(() => starting.delete(start));
    },
    cancel: async (runId) => opened().cancel(runId),
    async list({ limit }) {
      checkListLimit(limit);
      return opened().list(limit);
    },
    workers: async () => opened().workers(),
    drain: async (worker) => opened().drain(worker),
    close: () => (closing ??= close()),
  };
}
