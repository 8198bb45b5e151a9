import { kinds } from "../../kernel/option-kinds.ts";
import { aNumber, aText, having, object, type Shape, takes } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { RunEvent } from "./event.ts";
import type { RunTally } from "./run-summary.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { nextMacrotask } from "../../kernel/clock.ts";

/** A run in the list of a journal. */
export interface RunInfo {
  readonly runId: string;
  readonly events: number;
  /** The kept part of the run's summary: the fold of its first events, at most `events` of them. */
  readonly tally?: RunTally;
}

/** A part of the list of a journal. */
export interface RunsPage {
  /** Limit on the runs, 1 or more. */
  readonly limit: number;
  /** Only runs that are older than this one. */
  readonly before?: string;
  /** Only runs whose id begins with this string. */
  readonly prefix?: string;
  /** Adds the tally of each run, if the journal keeps one. Default false. */
  readonly tallies?: boolean;
}

/**
 * The end of the epoch before a claim: `none` for the first claim, or if the last owner claimed through this journal object and has not
 * released the run; `released` and `drained` by the owner; `moved` from an owner that lives, by this claim; `died` if it is proven that
 * the owner's process is gone while its machine runs. A claim that adds no event passes `died` to the next one. `taken`: unknown.
 */
export type FormerOwner = "none" | "released" | "drained" | "died" | "moved" | "taken";

/** The right to write a run. */
export interface Claim {
  /** Greater than every earlier epoch of the run. */
  readonly epoch: number;
  readonly former: FormerOwner;
}

/** Options of a claim. */
export interface ClaimOptions {
  /** Takes the run also from a living owner in another process. SQLite, which cannot fence one, throws `RUN_OWNED` all the same. Default false. */
  readonly take?: boolean;
  /** Throws `RUN_OWNED` also if the owner claimed through this journal object. Default false. */
  readonly ifFree?: boolean;
  /** Called at most once, when another owner has the run or it was removed: later appends throw `EPOCH_STALE`. It must not throw. */
  readonly lost?: () => void;
  /** Receives the commands that others give for the run, see {@link Journal.command}. Its result, or its error, goes back to the sender. */
  readonly command?: (command: Json) => Promise<Json>;
}

/** Options of a release. */
export interface ReleaseOptions {
  /** The owner gives a run under way back, so that another process continues it. Default false. */
  readonly drained?: boolean;
  /** The `former` of the next claim, from an owner that only made a change: how the previous owner left, so that a death stays visible. */
  readonly former?: FormerOwner;
}

/** Returns the `former` of the next claim. */
export function leftAs({ drained = false, former = "none" }: ReleaseOptions): Exclude<FormerOwner, "none"> {
  if (drained) return "drained";
  return former === "none" ? "released" : former;
}

/** Options of a command. */
export interface CommandOptions {
  readonly signal?: AbortSignal;
  /** Limit on the time until the answer, in milliseconds. Default 30,000. */
  readonly timeout?: number;
}

/** Default limit on the milliseconds until the answer to a command. */
export const COMMAND_TIMEOUT = 30_000;

/** The state of a run after its first events. */
export interface RunSnapshot {
  /** The number of events that are folded into the state. */
  readonly seq: number;
  /** A string that only the runtime reads, without the character U+0000. */
  readonly state: string;
}

/**
 * Keeps the events of runs in their order. The port of every store.
 *
 * Contract: events are durable once their `append` has resolved, and an append takes effect as a whole or not at all. A reader sees the
 * first events of a run without gaps. An owner whose epoch is no longer the newest cannot append.
 *
 * A journal may keep the JSON of a tally (`TallyFold`) beside each run, so that a list of runs is fast. A tally may lack the newest events (`readTally`), and never has an event that the run lacks.
 */
export interface Journal {
  /** @throws JournalError `RUN_EXISTS` */
  create(runId: string): Promise<void>;
  /** Makes the caller the owner of the run. A living owner in another process keeps it without `take`. @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED` */
  claim(runId: string, o?: ClaimOptions): Promise<Claim>;
  /** Ends the epoch, so that another process can claim the run. Does nothing for an epoch that is not the newest. */
  release(runId: string, epoch: number, o?: ReleaseOptions): Promise<void>;
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
  /** A part of the list, the newest first. Optional. @throws JournalError `RUN_UNKNOWN` when the journal does not have the run `before` */
  newest?(page: RunsPage): Promise<readonly RunInfo[]>;
  /**
   * Yields at the start and whenever events may have been added, until the signal aborts or the run is removed. Optional: a follower polls.
   *
   * @throws JournalError `RUN_UNKNOWN`
   */
  watch?(runId: string, o: { readonly signal: AbortSignal }): AsyncIterable<void>;
  /**
   * Gives a command to the owner of the run, in whatever process, and returns its answer. Optional.
   *
   * @throws JournalError `RUN_UNKNOWN`, `RUN_UNOWNED` without a living owner, `RUN_OWNED` for one that takes none if it can be seen, errors of the owner
   * @throws TimeoutError, ControlError: whether the owner got the command is unknown
   */
  command?(runId: string, command: Json, o?: CommandOptions): Promise<Json>;
  /** Replaces the snapshot of the run's state. Optional. @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE` */
  keepSnapshot?(runId: string, epoch: number, snapshot: RunSnapshot): Promise<void>;
  /** Returns the kept snapshot, if there is one. Optional. @throws JournalError `RUN_UNKNOWN` */
  newestSnapshot?(runId: string): Promise<RunSnapshot | undefined>;
  /** Keeps a file of a run under the sha256 of its bytes, until the run is removed. Optional. @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE` */
  keepFile?(runId: string, epoch: number, hash: string, bytes: Uint8Array): Promise<void>;
  /** Returns the bytes of a file; undefined if the run does not have it. Optional. @throws JournalError `RUN_UNKNOWN` */
  file?(runId: string, hash: string): Promise<Uint8Array | undefined>;
  /** One run of the list, with its tally. Optional. @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN` */
  info?(runId: string): Promise<RunInfo>;
  /** Makes a durable write that belongs to no run. Optional. @throws JournalError `JOURNAL_FULL`, `JOURNAL_UNWRITABLE` */
  probe?(): Promise<void>;
  /**
   * Replaces all events of a run in one step, and removes its snapshot, tally and commands, and the files that no new event names. Optional:
   * without it nothing can be erased.
   *
   * @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`
   */
  rewrite?(runId: string, epoch: number, events: readonly RunEvent[]): Promise<void>;
  /** Overwrites removed and rewritten data in the files of the journal. Optional. @throws JournalError `JOURNAL_UNWRITABLE` while others use the file */
  purge?(): Promise<void>;
  /** Removes a run. Does nothing for an unknown one. @throws JournalError `RUN_OWNED` */
  remove(runId: string): Promise<void>;
  close(): Promise<void>;
}

/** Refuses invalid arguments of a journal's methods. @param numbers epochs and sequence numbers */
export function takesRun(method: string, runId: unknown, ...numbers: readonly unknown[]): void {
  takes(method, "runId", runId, aText);
  for (const number of numbers) takes(method, "an epoch or a sequence number", number, kinds.count);
}

export function takesEvents(method: string, runId: unknown, events: unknown, ...numbers: readonly unknown[]): void {
  takesRun(method, runId, ...numbers);
  takes(method, "events", events, aList);
}

const aList: Shape = { says: "a list of events", fits: Array.isArray };

export const anEvent: Shape = object("an event of a run", { type: aText, runId: aText, seq: aNumber });

export const aJournal: Shape = having("a journal", "create", "claim", "release", "append", "read", "runs", "remove");

export const aReadableJournal: Shape = having("a journal", "read", "runs");

/** Returns a run in the list of a journal. @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN` */
export async function runInfo(journal: Pick<Journal, "read" | "runs" | "info">, runId: string): Promise<RunInfo> {
  if (journal.info !== undefined) return journal.info(runId);
  const info = (await journal.runs()).find((run) => run.runId === runId);
  if (info !== undefined) return info;
  // Throws the reason why the list lacks the run.
  for await (const _event of journal.read(runId, 0)) break;
  throw unknownRun(runId);
}

export function unknownRun(runId: string): JournalError {
  const text = `Expected a run of this journal, got ${runId}, which is unknown. List the runs: journal.runs().`;
  return new JournalError("RUN_UNKNOWN", text);
}

/** Returns a run in the list of a journal; undefined for one that the journal does not have. */
export async function knownRun(journal: Pick<Journal, "read" | "runs" | "info">, runId: string): Promise<RunInfo | undefined> {
  try {
    return await runInfo(journal, runId);
  } catch (error) {
    if (error instanceof JournalError && (error.code === "RUN_UNKNOWN" || error.code === "RUN_FORGOTTEN")) return undefined;
    throw error;
  }
}

/** As `newest` of a journal, which may lack it. */
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
    `Expected a run of this journal, to list the runs before it, got ${runId}, which is unknown. List from the newest.`,
  );
}

/** The number of events that are read before timers and input get a turn. */
const BATCH = 500;

/**
 * Yields the events of a run from `from` on. A journal in memory never waits, so this pauses regularly for timers and input, and with them
 * for a stop.
 *
 * @throws ControlError when the signal aborts; JournalError as `read` of the journal
 */
export async function* readEvents(
  journal: Journal,
  runId: string,
  { from = 0, signal }: { readonly from?: number; readonly signal?: AbortSignal } = {},
): AsyncIterable<RunEvent> {
  let count = 0;
  for await (const event of journal.read(runId, from)) {
    throwIfAborted(signal);
    yield event;
    count += 1;
    if (count % BATCH === 0) await nextMacrotask();
  }
}
