import { kinds } from "../../kernel/option-kinds.ts";
import { aNumber, aText, having, object, type Shape, takes } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { RunEvent } from "./event.ts";
import type { RunTally } from "./run-summary.ts";

/** A run in the list of a journal. */
export interface RunInfo {
  readonly runId: string;
  readonly events: number;
  /** The kept part of the run's summary: the fold of its first events, at most `events` of them. */
  readonly tally?: RunTally;
}

/** A part of the list of a journal. */
export interface RunsPage {
  /** Limit on the runs: a whole number of 1 or more. */
  readonly limit: number;
  /** Only runs that are older than this one. Default: all. */
  readonly before?: string;
  /** Only runs whose id begins with this text. Default: all. */
  readonly prefix?: string;
  /** Adds the tally of each run, where the journal keeps one. Default false. */
  readonly tallies?: boolean;
}

/**
 * How the epoch before a claim ended.
 *
 * - `none`: this is the first claim, or the last owner claimed through this journal object and has not released the run.
 * - `released`: the owner gave the run back.
 * - `drained`: the owner gave it back with `drained`, so that another process goes on with it.
 * - `died`: it is proven that the owner's process is gone, while its machine goes on. A journal tells it again to the next claim when this
 *   one adds no event, so that no death is forgotten.
 * - `moved`: this claim took the run from an owner that lives.
 * - `taken`: none of these is known. The owner may be gone with its machine, or unreachable.
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
  /**
   * Takes the run also from an owner in another process that lives. A journal whose owners cannot be fenced by others, such as a SQLite
   * file, throws `RUN_OWNED` all the same. Default false.
   */
  readonly take?: boolean;
  /** Also an owner that claimed through this journal object keeps the run: the claim is refused with `RUN_OWNED`. Default false. */
  readonly ifFree?: boolean;
  /**
   * Called at most once, as soon as this journal knows that another owner has the run: also when that one claimed it through the same
   * journal object. The epoch is over then, and every append throws `EPOCH_STALE`. It is called
   * for a run that was removed, and not after `release` or `close`. It must not throw.
   */
  readonly lost?: () => void;
  /** Receives the commands that others give for the run, see {@link Journal.command}. Its result, or its error, goes back to the sender. */
  readonly command?: (command: Json) => Promise<Json>;
}

/** Options of a release. */
export interface ReleaseOptions {
  /** The owner gives a run under way back, so that another process goes on with it. Default false. */
  readonly drained?: boolean;
  /**
   * How the owner before this one left the run, for an owner that only made a change in it: the next claim is told this, so that a change hides
   * no death. `none` and `released` are told as `released`. Default: the next claim is told of this owner.
   */
  readonly former?: FormerOwner;
}

/** Returns how the next claim is told that an owner left, by the options of its release. */
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

/** Milliseconds that a command waits for its answer. Owners answer once the change is durable, which takes a commit. */
export const COMMAND_TIMEOUT = 30_000;

/** The state of a run after its first events. */
export interface RunSnapshot {
  /** The number of events that are folded into the state. */
  readonly seq: number;
  /** The state as a text that only the runtime reads. It has no character U+0000. A store returns it as it was given. */
  readonly state: string;
}

/**
 * Keeps the events of runs in their order. The port of every store.
 *
 * Contract: events are durable once their `append` has resolved, and an append takes effect as a whole or not at all. A reader sees the
 * first events of a run without gaps. An owner whose epoch is no longer the newest cannot append.
 *
 * A journal may keep a tally beside each run, so that a list of runs is fast: the JSON of `TallyFold.tally` over the first events of the run. It
 * writes it together with the append that begins, ends or resumes the run, so that the tally of a run at rest is whole, and at times in a long run.
 * A tally may lack the newest events, which its reader adds (`readTally`). It never has an event that the run lacks. `keptTally` refuses one of
 * another version: the journal leaves it out, or makes it again.
 */
export interface Journal {
  /** @throws JournalError `RUN_EXISTS` */
  create(runId: string): Promise<void>;
  /**
   * Makes the caller the owner of the run and returns its epoch. An owner that claimed through this journal object loses the run. An owner
   * in another living process keeps it, unless the option `take` is given.
   *
   * @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`
   */
  claim(runId: string, o?: ClaimOptions): Promise<Claim>;
  /**
   * Ends the epoch, so that another process can claim the run. Does nothing for an epoch that is not the newest.
   */
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
  /**
   * A part of the list, the newest first. Optional: {@link newestRuns} takes the part from `runs` where a journal has no such method.
   *
   * @throws JournalError `RUN_UNKNOWN` when the journal does not have the run `before`
   */
  newest?(page: RunsPage): Promise<readonly RunInfo[]>;
  /**
   * Yields once at the start and then each time when events may have been added to the run, until the signal aborts or the run is removed or
   * forgotten. It may join several changes. Optional: without it a follower polls.
   *
   * @throws JournalError `RUN_UNKNOWN`
   */
  watch?(runId: string, o: { readonly signal: AbortSignal }): AsyncIterable<void>;
  /**
   * Gives a command to the owner of the run, in whatever process, and returns its answer. Optional.
   *
   * @throws JournalError `RUN_UNKNOWN`, `RUN_UNOWNED` without a living owner, `RUN_OWNED` for an owner that takes no commands; the error of
   * the owner, by its code
   * @throws TimeoutError when the answer does not come in time: whether the owner got the command is unknown then
   * @throws ControlError when the signal aborts
   */
  command?(runId: string, command: Json, o?: CommandOptions): Promise<Json>;
  /**
   * Keeps a snapshot of the run's state, in place of the last one. Optional.
   *
   * @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`
   */
  keepSnapshot?(runId: string, epoch: number, snapshot: RunSnapshot): Promise<void>;
  /** Returns the newest snapshot that was kept for the run, if there is one. Optional. @throws JournalError `RUN_UNKNOWN` */
  newestSnapshot?(runId: string): Promise<RunSnapshot | undefined>;
  /**
   * One run of the list, with its tally. Optional: {@link runInfo} looks through `runs` where a journal has no such method.
   *
   * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`
   */
  info?(runId: string): Promise<RunInfo>;
  /**
   * Writes something that belongs to no run, as durably as an append. Optional: without it a server that is asked whether it is ready makes a
   * run and removes it.
   *
   * @throws JournalError `JOURNAL_FULL`, `JOURNAL_UNWRITABLE`
   */
  probe?(): Promise<void>;
  /**
   * Puts other events in place of all events of a run, as one step, and removes what is kept beside them: the snapshot, the tally and the
   * commands. Optional: without it nothing can be erased.
   *
   * @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`
   */
  rewrite?(runId: string, epoch: number, events: readonly RunEvent[]): Promise<void>;
  /**
   * Overwrites what was removed or rewritten, so that no byte of it is in the files of the journal. Optional: without it the journal keeps no byte
   * of it.
   *
   * @throws JournalError `JOURNAL_UNWRITABLE` while others use the file
   */
  purge?(): Promise<void>;
  /** Removes a run. Does nothing for an unknown one. @throws JournalError `RUN_OWNED` */
  remove(runId: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Refuses arguments of a journal's methods that no run can have.
 *
 * @param numbers epochs and sequence numbers
 * @throws UsageError `ARGUMENT_INVALID`
 */
export function takesRun(method: string, runId: unknown, ...numbers: readonly unknown[]): void {
  takes(method, "runId", runId, aText);
  for (const number of numbers) takes(method, "an epoch or a sequence number", number, kinds.count);
}

/** The same for events to append. @throws UsageError `ARGUMENT_INVALID` */
export function takesEvents(method: string, runId: unknown, events: unknown, ...numbers: readonly unknown[]): void {
  takesRun(method, runId, ...numbers);
  takes(method, "events", events, aList);
}

const aList: Shape = { says: "a list of events", fits: Array.isArray };

/** The shape of an event that is given as an argument. */
export const anEvent: Shape = object("an event of a run", { type: aText, runId: aText, seq: aNumber });

/** The shape of a journal that is given as an argument. */
export const aJournal: Shape = having("a journal", "create", "claim", "release", "append", "read", "runs", "remove");

/** The shape of a journal that is only read. */
export const aReadableJournal: Shape = having("a journal", "read", "runs");

/**
 * Returns a run in the list of a journal. Where the list lacks the run, `read` throws the reason.
 *
 * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`
 */
export async function runInfo(journal: Pick<Journal, "read" | "runs" | "info">, runId: string): Promise<RunInfo> {
  if (journal.info !== undefined) return journal.info(runId);
  const info = (await journal.runs()).find((run) => run.runId === runId);
  if (info !== undefined) return info;
  for await (const _event of journal.read(runId, 0)) break;
  throw new JournalError(
    "RUN_UNKNOWN",
    `Expected a run of this journal, got ${runId}, which it does not have. List its runs: journal.runs().`,
  );
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
