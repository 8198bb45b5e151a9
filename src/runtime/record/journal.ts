import { having, type Shape } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import type { RunEvent } from "./event.ts";

/** A run in the list of a journal. */
export interface RunInfo {
  readonly runId: string;
  readonly events: number;
}

/** A part of the list of a journal. */
export interface RunsPage {
  /** Limit on the runs: a whole number of 1 or more. */
  readonly limit: number;
  /** Only runs that are older than this one. Default: all. */
  readonly before?: string;
  /** Only runs whose id begins with this text. Default: all. */
  readonly prefix?: string;
}

/**
 * Keeps the events of runs in their order. The port of every store.
 *
 * Contract: events are durable once their `append` has resolved, and an append takes effect as a whole or not at all. A reader sees the
 * first events of a run without gaps. An owner whose epoch is no longer the newest cannot append.
 */
export interface Journal {
  /** @throws JournalError `RUN_EXISTS` */
  create(runId: string): Promise<void>;
  /**
   * Makes the caller the owner of the run and returns its epoch. The owner before may be in this process; its epoch ends. An owner in
   * another living process keeps the run.
   *
   * @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`
   */
  claim(runId: string): Promise<number>;
  /**
   * Ends the epoch, so that another process can claim the run. Does nothing for an epoch that is not the newest.
   */
  release(runId: string, epoch: number): Promise<void>;
  /**
   * Adds events after the first `expectedSeq`.
   *
   * @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`, `SEQ_MISMATCH`, `JOURNAL_FULL`, `JOURNAL_UNWRITABLE`
   */
  append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void>;
  /**
   * The events from `from` on that are durable now.
   *
   * @throws JournalError `RUN_UNKNOWN`; `JOURNAL_DAMAGED` and `EVENT_NEWER` after the events before the damaged or newer one
   */
  read(runId: string, from: number): AsyncIterable<RunEvent>;
  /** All runs, in the order of their creation. */
  runs(): Promise<readonly RunInfo[]>;
  /**
   * A part of the list, the newest first. Optional: {@link newestRuns} takes the part from `runs` where a journal has no such method.
   *
   * @throws JournalError `RUN_UNKNOWN` when the journal does not have the run `before`
   */
  newest?(page: RunsPage): Promise<readonly RunInfo[]>;
  /** Removes a run. Does nothing for an unknown one. @throws JournalError `RUN_OWNED` */
  remove(runId: string): Promise<void>;
  close(): Promise<void>;
}

/** The shape of a journal that is given as an argument. */
export const aJournal: Shape = having("a journal", "create", "claim", "release", "append", "read", "runs", "remove");

/** The shape of a journal that is only read. */
export const aReadableJournal: Shape = having("a journal", "read", "runs");

/**
 * Returns a run in the list of a journal. Where the list lacks the run, `read` throws the reason.
 *
 * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`
 */
export async function runInfo(journal: Pick<Journal, "read" | "runs">, runId: string): Promise<RunInfo> {
  const info = (await journal.runs()).find((run) => run.runId === runId);
  if (info !== undefined) return info;
  for await (const _event of journal.read(runId, 0)) break;
  throw new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
}

/**
 * Returns a part of the list of a journal, the newest first.
 *
 * @throws JournalError `RUN_UNKNOWN` when the journal does not have the run `before`
 */
export async function newestRuns(journal: Pick<Journal, "newest" | "runs">, page: RunsPage): Promise<readonly RunInfo[]> {
  return journal.newest === undefined ? pageOf(await journal.runs(), page) : journal.newest(page);
}

/** Returns a part of a list of runs, the newest first. @param runs all runs, the oldest first @throws JournalError `RUN_UNKNOWN` */
export function pageOf(runs: readonly RunInfo[], { limit, before, prefix = "" }: RunsPage): readonly RunInfo[] {
  const end = before === undefined ? runs.length : runs.findIndex(({ runId }) => runId === before);
  if (end === -1) throw unknownBefore(before ?? "");
  const page: RunInfo[] = [];
  for (const info of runs.slice(0, end).reverse()) {
    if (page.length >= limit) break;
    if (info.runId.startsWith(prefix)) page.push(info);
  }
  return page;
}

export function unknownBefore(runId: string): JournalError {
  return new JournalError(
    "RUN_UNKNOWN",
    `Expected a run of this journal to list the runs before it, got ${runId}, which it does not have. List from the newest.`,
  );
}
