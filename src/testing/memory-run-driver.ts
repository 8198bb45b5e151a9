import { type Clock, systemClock } from "../kernel/clock.ts";
import { AbortedError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import {
  checkListLimit,
  checkWork,
  type DeliveryHandler,
  driverClosed,
  type JobInfo,
  parseRunJob,
  type RunDriver,
  type RunJob,
  type Handled,
  type Working,
  type WorkOptions,
} from "../team/run-driver.ts";

export interface MemoryRunDriverOptions {
  /** Milliseconds until a job whose handler rejected is delivered again. Default 1000. */
  readonly pause?: number;
  readonly clock?: Clock;
}

const memoryRunDriverOptions: Known<MemoryRunDriverOptions> = { pause: kinds.milliseconds, clock: kinds.clock };

/** A driver in memory, with a way to lose a worker as its process would be lost. */
export interface MemoryRunDriver extends RunDriver {
  /** Ends a worker without a word: its deliveries go to others, and what its handlers return is ignored. */
  lose(worker: Working): void;
}

/** A driver of runs that ends with its process. */
export function memoryRunDriver(options: MemoryRunDriverOptions = {}): MemoryRunDriver {
  checkKnownOptions("memoryRunDriver", options, memoryRunDriverOptions);
  const { pause = 1000, clock = systemClock } = options;
  return new JobsInMemory({ pause, clock });
}

interface Row {
  job: RunJob;
  attempts: number;
  due: number;
  /** Undefined while it waits. */
  taken: { readonly by: MemoryWorker; readonly abort: AbortController } | undefined;
  /** Submitted while the job was delivered. */
  next: RunJob | undefined;
  isCancelled: boolean;
}

/**
 * The jobs of one process. JobsInMemory.J1 (`submit`) a run has at most one row. JobsInMemory.J2 (`#deliver`) one worker takes a row, within its
 * concurrency.
 */
class JobsInMemory implements MemoryRunDriver {
  readonly #pause: number;
  readonly #clock: Clock;
  readonly #rows = new Map<string, Row>();
  readonly #workers = new Set<MemoryWorker>();
  readonly #timers = new Set<() => void>();
  #isClosed = false;

  constructor({ pause, clock }: Required<MemoryRunDriverOptions>) {
    this.#pause = pause;
    this.#clock = clock;
  }

  async submit(given: RunJob): Promise<void> {
    this.#assertOpen();
    const job = parseRunJob(given);
    const known = this.#rows.get(job.runId);
    if (known?.taken !== undefined) {
      known.next = job;
      return;
    }
    this.#rows.set(job.runId, waiting(job, 0, this.#clock.now()));
    this.#deliver();
  }

  async work(handler: DeliveryHandler, o: WorkOptions): Promise<Working> {
    checkWork(handler, o);
    this.#assertOpen();
    const worker = new MemoryWorker(handler, o);
    this.#workers.add(worker);
    this.#deliver();
    return worker;
  }

  async cancel(runId: string): Promise<void> {
    const row = this.#rows.get(runId);
    if (row?.taken === undefined) this.#rows.delete(runId);
    else {
      row.isCancelled = true;
      row.next = undefined;
      row.taken.abort.abort(new AbortedError("the job of the run was cancelled"));
    }
  }

  async list({ limit }: { readonly limit: number }): Promise<readonly JobInfo[]> {
    checkListLimit(limit);
    return [...this.#rows.values()].slice(0, limit).map(({ job: { runId, team }, attempts, due, taken }) => ({
      runId,
      team,
      state: taken === undefined ? "waiting" : "delivered",
      attempts,
      ...(taken === undefined && due > this.#clock.now() ? { due } : {}),
    }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    await Promise.all([...this.#workers].map((worker) => worker.stop()));
  }

  lose(lost: Working): void {
    for (const worker of this.#workers) {
      if (worker !== lost) continue;
      this.#workers.delete(worker);
      worker.leave();
      for (const row of this.#rows.values()) if (row.taken?.by === worker) this.#settle(row, { is: "again", after: 0 });
    }
    this.#deliver();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw driverClosed();
  }

  #deliver(): void {
    if (this.#isClosed) return;
    const now = this.#clock.now();
    for (const row of this.#rows.values()) {
      if (row.taken !== undefined || row.due > now) continue;
      const worker = [...this.#workers].find((one) => one.takes(row.job.team));
      if (worker !== undefined) void this.#hand(row, worker);
    }
  }

  async #hand(row: Row, by: MemoryWorker): Promise<void> {
    const abort = new AbortController();
    const taken = { by, abort };
    row.taken = taken;
    row.attempts += 1;
    const delivery = { ...row.job, attempt: row.attempts, signal: abort.signal };
    const verdict = await by.handle(delivery).catch((): Handled => ({ is: "again", after: this.#pause }));
    // The worker may have been lost meanwhile, and another one has the job.
    if (row.taken === taken) this.#settle(row, verdict);
    this.#deliver();
  }

  #settle(row: Row, verdict: Handled): void {
    const { next, job } = row;
    row.taken = undefined;
    if (next !== undefined) this.#rows.set(job.runId, waiting(next, 0, this.#clock.now()));
    else if (row.isCancelled || verdict.is === "done") this.#rows.delete(job.runId);
    else this.#again(row, verdict);
  }

  #again(row: Row, { after, job, isUntried }: Handled & { readonly is: "again" }): void {
    if (isUntried === true) row.attempts -= 1;
    row.job = job === undefined ? row.job : parseRunJob(job);
    const due = this.#clock.now() + after;
    row.due = due;
    if (after === 0 || this.#isClosed) return;
    const cancel = this.#clock.timer(after, () => {
      this.#timers.delete(cancel);
      // A timer of Node.js may fire a millisecond before its time.
      if (row.due === due) row.due = this.#clock.now();
      this.#deliver();
    });
    this.#timers.add(cancel);
  }
}

function waiting(job: RunJob, attempts: number, due: number): Row {
  return { job, attempts, due, taken: undefined, next: undefined, isCancelled: false };
}

class MemoryWorker implements Working {
  readonly ended: Promise<void>;
  readonly #handler: DeliveryHandler;
  readonly #teams: ReadonlySet<string>;
  readonly #concurrency: number;
  readonly #inHand = new Set<Promise<unknown>>();
  #end: () => void = () => undefined;
  #isStopped = false;

  constructor(handler: DeliveryHandler, { teams, concurrency }: WorkOptions) {
    this.#handler = handler;
    this.#teams = new Set(teams);
    this.#concurrency = concurrency;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  takes(team: string): boolean {
    return !this.#isStopped && this.#teams.has(team) && this.#inHand.size < this.#concurrency;
  }

  handle(delivery: Parameters<DeliveryHandler>[0]): Promise<Handled> {
    // Begun in a later reaction: a handler may submit or stop.
    const work = Promise.resolve().then(() => this.#handler(delivery));
    this.#inHand.add(work);
    return work.finally(() => this.#inHand.delete(work));
  }

  leave(): void {
    this.#isStopped = true;
    this.#end();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled(this.#inHand);
    this.#end();
  }
}
