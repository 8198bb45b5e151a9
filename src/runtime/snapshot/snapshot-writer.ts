import { withTimeout } from "../../kernel/abort.ts";
import type { Clock } from "../../kernel/clock.ts";
import { errorRecord, JournalError } from "../../kernel/errors.ts";
import type { RunEvent } from "../record/event.ts";
import type { OwnedRun } from "../record/run-log.ts";
import type { RunState } from "../record/run-state.ts";
import { writtenSnapshot } from "./snapshot.ts";

export interface LastSnapshot {
  readonly seq: number;
  readonly size: number;
}

export interface SnapshotWriterParts {
  readonly state: RunState;
  readonly owned: OwnedRun;
  /** The minimum of events between two snapshots, 1 or more. */
  readonly every: number;
  /** The snapshot from which the state was restored. Default: the state was folded from its first event. */
  readonly last?: LastSnapshot | undefined;
  readonly clock: Clock;
  readonly warn: (role: undefined, text: string) => void;
}

/** Folding this many events takes 30 to 60 ms. */
export const EVENTS_BETWEEN = 10_000;

/** Characters of a snapshot for each event since the last one: snapshots write no more than events do, however large the state is. */
const SIZE_OF_AN_EVENT = 500;

/** Limit on roles and messages in a snapshot: reading a larger one takes about as long as folding its events. */
const MAX_ITEMS = 100_000;

/** Milliseconds that the end of a run waits for a snapshot that is being written. */
const PATIENCE = 5_000;

/** Errors after the end of a run or of its journal, when the snapshot is no longer needed. */
const OVER: ReadonlySet<string> = new Set(["EPOCH_STALE", "RUN_UNKNOWN", "JOURNAL_CLOSED"]);

/**
 * Writes snapshots of a run's state behind the run. It owns the snapshot that is being written; the state belongs to the log.
 *
 * SnapshotWriter.W1 (`#write`) no turn waits for a snapshot: the state is copied at once, then deflated and stored in the background.
 * SnapshotWriter.W2 (`#write`) a snapshot is stored only after the events before it are durable, so it is never ahead of the record.
 * SnapshotWriter.W3 (`#due`) one snapshot is written at a time, and the next comes at least `every` events later; for a large state later.
 * SnapshotWriter.W4 (`#failed`) the first failure causes a warning; no failure ends the run.
 * SnapshotWriter.W5 (`rest`) the end of a run, unless it was stopped, waits a limited time for a snapshot that is being written.
 */
export class SnapshotWriter {
  readonly #parts: SnapshotWriterParts;
  #last: LastSnapshot;
  #work: Promise<void> | undefined;
  #durableTo = 0;
  #reached: (() => void) | undefined;
  #isOver = false;
  #hasWarned = false;

  constructor(parts: SnapshotWriterParts) {
    this.#parts = parts;
    this.#last = parts.last ?? { seq: 0, size: 0 };
    this.#isOver = parts.owned.journal.keepSnapshot === undefined;
  }

  get last(): LastSnapshot {
    return this.#last;
  }

  /** Called when the events before `to` are durable. @param latest the last event that the state has applied */
  durable(to: number, latest: RunEvent | undefined): void {
    this.#durableTo = to;
    this.#reached?.();
    if (this.#work !== undefined || this.#isOver || latest === undefined || this.#parts.state.seq < this.#due) return;
    const { state } = this.#parts;
    if (state.roles.size + state.deliveries.length > MAX_ITEMS) this.#isOver = true;
    else this.#work = this.#write(latest).finally(() => (this.#work = undefined));
  }

  stop(): void {
    this.#isOver = true;
    this.#reached?.();
  }

  /** Resolves when no snapshot is being written, or when that takes too long. */
  async rest(): Promise<void> {
    const work = this.#work;
    const forever = new AbortController().signal;
    // A late snapshot is stored all the same.
    if (work !== undefined) await withTimeout(this.#parts.clock, PATIENCE, "a snapshot", forever, () => work).catch(() => {});
  }

  get #due(): number {
    const { seq, size } = this.#last;
    return seq + Math.max(this.#parts.every, Math.ceil(size / SIZE_OF_AN_EVENT));
  }

  async #write(latest: RunEvent): Promise<void> {
    const { state, owned } = this.#parts;
    const { seq } = state;
    // A copy that cannot be written is not tried again at the next event.
    this.#last = { seq, size: this.#last.size };
    try {
      const snapshot = await writtenSnapshot(state, latest);
      this.#last = { seq, size: snapshot.state.length };
      await this.#durable(seq);
      if (!this.#isOver) await owned.journal.keepSnapshot?.(state.runId, owned.epoch, snapshot);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #durable(seq: number): Promise<void> {
    while (this.#durableTo < seq && !this.#isOver) await new Promise<void>((resolve) => (this.#reached = resolve));
  }

  #failed(error: unknown): void {
    if (error instanceof JournalError && OVER.has(error.code)) this.#isOver = true;
    else if (!this.#hasWarned) {
      this.#hasWarned = true;
      const { state, warn } = this.#parts;
      warn(undefined, `The state of run ${state.runId} could not be kept, so opening it reads more events: ${errorRecord(error).message}`);
    }
  }
}
