import type { Logger } from "../kernel/emit.ts";
import {
  checkListLimit,
  checkWork,
  type ConnectedWorker,
  type DeliveryHandler,
  driverClosed,
  type FleetDriver,
  type JobInfo,
  type RunJob,
  type Handled,
  type Working,
  type WorkOptions,
} from "../team/run-driver.ts";

/** Milliseconds until a job whose handler rejected is delivered again: doubled each time. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

export function rejectedDelivery(logger: Logger, reason: string, attempt: number): Handled {
  const after = Math.min(FIRST_PAUSE * 2 ** Math.min(attempt - 1, 10), LONGEST_PAUSE);
  logger.warn("A delivery failed, and comes again.", { reason, after });
  return { is: "again", after };
}

/** The calls of an engine behind a driver. They are made after the checks of the arguments, while the driver is open. */
export interface Engine extends Pick<FleetDriver, "submit" | "cancel" | "workers" | "drain"> {
  start(handler: DeliveryHandler, o: WorkOptions): Promise<Working>;
  list(limit: number): Promise<readonly JobInfo[]>;
  release?(): Promise<void>;
}

/**
 * The driver of an engine. It owns its workers, from their start to their stop.
 *
 * DriverWorks.W1 (`close`) every worker is stopped, also one that is starting: its start is refused, and nothing of it is left.
 */
export class EngineDriver implements FleetDriver {
  readonly #engine: Engine;
  readonly #all = new Set<Working>();
  readonly #starting = new Set<Promise<Working>>();
  #closing: Promise<void> | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async submit(job: RunJob): Promise<void> {
    await this.#opened().submit(job);
  }

  async work(handler: DeliveryHandler, o: WorkOptions): Promise<Working> {
    checkWork(handler, o);
    const starting = this.#opened()
      .start(handler, o)
      .then(async (work) => {
        this.#all.add(work);
        if (this.#closing === undefined) return work;
        await work.stop();
        throw driverClosed();
      });
    this.#starting.add(starting);
    return starting.finally(() => this.#starting.delete(starting));
  }

  async cancel(runId: string): Promise<void> {
    await this.#opened().cancel(runId);
  }

  async list({ limit }: { readonly limit: number }): Promise<readonly JobInfo[]> {
    checkListLimit(limit);
    return this.#opened().list(limit);
  }

  async workers(): Promise<readonly ConnectedWorker[]> {
    return this.#opened().workers();
  }

  async drain(worker?: string): Promise<void> {
    await this.#opened().drain(worker);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#all].map((work) => work.stop()));
    await this.#engine.release?.();
    await Promise.allSettled(this.#starting);
  }

  #opened(): Engine {
    if (this.#closing !== undefined) throw driverClosed();
    return this.#engine;
  }
}
