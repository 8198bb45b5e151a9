import type { Logger } from "../kernel/emit.ts";
import { driverClosed, type Verdict } from "../team/run-driver.ts";

/** Milliseconds until a job whose handler rejected is delivered again: doubled each time. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

export function rejectedDelivery(logger: Logger, reason: string, attempt: number): Verdict {
  const after = Math.min(FIRST_PAUSE * 2 ** Math.min(attempt - 1, 10), LONGEST_PAUSE);
  logger.warn("A delivery failed, and comes again.", { reason, after });
  return { is: "again", after };
}

/**
 * The workers of a driver, from their start to their stop. It owns their list.
 *
 * DriverWorks.W1 (`close`) every worker is stopped, also one that is starting: its start is refused, and nothing of it is left.
 */
export class DriverWorks<W extends { stop(): Promise<void> }> {
  readonly #all = new Set<W>();
  readonly #starting = new Set<Promise<W>>();
  #closing: Promise<void> | undefined;

  assertOpen(): void {
    if (this.#closing !== undefined) throw driverClosed();
  }

  /** Starts a worker. @throws UsageError `DRIVER_CLOSED`, also when the driver is closed meanwhile; errors of the start */
  start(begin: () => Promise<W>): Promise<W> {
    this.assertOpen();
    const starting = begin().then(async (work) => {
      if (this.#closing === undefined) {
        this.#all.add(work);
        return work;
      }
      await work.stop();
      throw driverClosed();
    });
    this.#starting.add(starting);
    return starting.finally(() => this.#starting.delete(starting));
  }

  /** Stops all workers. Closing twice is no error. @param release ends what a starting worker waits for */
  close(release?: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(release);
    return this.#closing;
  }

  async #close(release?: () => Promise<void>): Promise<void> {
    await Promise.all([...this.#all].map((work) => work.stop()));
    await release?.();
    await Promise.allSettled(this.#starting);
  }
}
