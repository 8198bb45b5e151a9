import type { RunEvent } from "./event.ts";

/** What a journal tells of a run without reading it. */
export interface RunInfo {
  readonly runId: string;
  readonly events: number;
}

/**
 * Where the events of runs are kept, in order. The port of every store.
 *
 * Contract: what `append` has resolved is durable, and an append is all there or not at all; a reader sees a dense prefix; a stale epoch cannot append.
 */
export interface Journal {
  /** @throws JournalError `RUN_EXISTS` */
  create(runId: string): Promise<void>;
  /**
   * Makes the caller the run's owner and fences the former one, who can be another in this process, but not in another living one.
   *
   * @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`
   */
  claim(runId: string): Promise<number>;
  /**
   * Gives the run back, so that another process can go on with it; the epoch ends. Who is not its owner any more gives back nothing, and is
   * told nothing.
   */
  release(runId: string, epoch: number): Promise<void>;
  /**
   * Adds events after the first `expectedSeq`.
   *
   * @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`, `SEQ_MISMATCH`, `JOURNAL_FULL`, `JOURNAL_UNWRITABLE`
   */
  append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void>;
  /**
   * Events from `from` on, as far as they are durable now.
   *
   * @throws JournalError `RUN_UNKNOWN`; `JOURNAL_DAMAGED` and `EVENT_NEWER` after everything that stands before the trouble
   */
  read(runId: string, from: number): AsyncIterable<RunEvent>;
  runs(): Promise<readonly RunInfo[]>;
  /** Forgets a run; an unknown one is no error. @throws JournalError `RUN_OWNED` */
  remove(runId: string): Promise<void>;
  close(): Promise<void>;
}
