import { JournalError, UsageError } from "../kernel/errors.ts";
import type { RunEvent } from "./event.ts";
import type { Journal, RunInfo } from "./journal.ts";

/** The default bound: about 100 MB of small events. */
const DEFAULT_LIMIT = 100_000;

const NOBODY = 0;

interface KeptRun {
  /** Of the present owner; {@link NOBODY} without one. */
  epoch: number;
  readonly events: RunEvent[];
}

/**
 * A journal that lives as long as the process.
 *
 * @param limit most events kept in all runs, default 100,000; when it is reached, whole runs that have ended are forgotten, oldest first
 * @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more.
 */
export function memoryJournal(options: { readonly limit?: number } = {}): Journal {
  const { limit = DEFAULT_LIMIT } = options;
  if (Number.isInteger(limit) && limit >= 1) return new MemoryJournal(limit);
  throw new UsageError("LIMIT_INVALID", `Expected the limit of a memory journal to be a whole number of 1 or more, got ${limit}.`);
}

/**
 * K1 the events of a run are dense from 0. K2 only the newest epoch appends. K3 no more than `limit` events are kept; what must go
 * are the oldest runs that have ended, never a part of a run, and none for an append that is refused all the same.
 */
class MemoryJournal implements Journal {
  readonly #limit: number;
  readonly #runs = new Map<string, KeptRun>();
  #count = 0;
  /** The last epoch given, to whatever run: the owner of a run that was removed owns no other of its name. */
  #lastEpoch = NOBODY;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async create(runId: string): Promise<void> {
    if (this.#runs.has(runId))
      throw new JournalError("RUN_EXISTS", `Expected a new run id, got ${runId}, which is taken. Resume it or choose another.`);
    this.#runs.set(runId, { epoch: NOBODY, events: [] });
  }

  async claim(runId: string): Promise<number> {
    const run = this.#run(runId);
    this.#lastEpoch += 1;
    run.epoch = this.#lastEpoch;
    return run.epoch;
  }

  async release(runId: string, epoch: number): Promise<void> {
    const run = this.#runs.get(runId);
    if (run?.epoch === epoch) run.epoch = NOBODY;
  }

  async append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void> {
    const run = this.#run(runId);
    if (run.epoch !== epoch || epoch === NOBODY) {
      const owner = run.epoch === NOBODY ? "it is nobody's now" : "somebody else has taken the run over";
      throw new JournalError("EPOCH_STALE", `Expected the epoch of run ${runId}'s owner, got ${epoch}: ${owner}. Claim the run first.`);
    }
    if (run.events.length !== expectedSeq) {
      throw new JournalError("SEQ_MISMATCH", `Expected event ${run.events.length} of run ${runId} next, got ${expectedSeq}.`);
    }
    this.#makeRoom(events.length, runId);
    for (const event of events) run.events.push(event);
    this.#count += events.length;
  }

  async *read(runId: string, from: number): AsyncIterable<RunEvent> {
    const { events } = this.#run(runId);
    for (let seq = from; seq < events.length; seq += 1) yield events[seq] as RunEvent;
  }

  async runs(): Promise<readonly RunInfo[]> {
    return [...this.#runs].map(([runId, run]) => ({ runId, events: run.events.length }));
  }

  async remove(runId: string): Promise<void> {
    this.#count -= this.#runs.get(runId)?.events.length ?? 0;
    this.#runs.delete(runId);
  }

  async close(): Promise<void> {
    this.#runs.clear();
    this.#count = 0;
  }

  #run(runId: string): KeptRun {
    const run = this.#runs.get(runId);
    if (run === undefined) throw new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
    return run;
  }

  /** Forgets nothing when that would not be enough. */
  #makeRoom(more: number, keep: string): void {
    let missing = this.#count + more - this.#limit;
    const forgotten: string[] = [];
    for (const [runId, { events }] of this.#runs) {
      if (missing <= 0) break;
      if (runId === keep || events.at(-1)?.type !== "run.ended") continue;
      missing -= events.length;
      forgotten.push(runId);
    }
    if (missing > 0) {
      throw new JournalError(
        "JOURNAL_FULL",
        `Expected room for ${more} events in a memory journal of at most ${this.#limit}. Raise its limit or use a journal on disk.`,
      );
    }
    for (const runId of forgotten) {
      this.#count -= this.#runs.get(runId)?.events.length ?? 0;
      this.#runs.delete(runId);
    }
  }
}
