import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal, RunInfo } from "../runtime/record/journal.ts";
import { type Change, Commits } from "./sqlite-commits.ts";
import { patiently, unwritable } from "./sqlite-damage.ts";
import { closedError, type Database, loadDriver, type Outlives } from "./sqlite-database.ts";
import { type FileOptions, openFile, openRemains } from "./sqlite-file.ts";
import { RunLocks } from "./sqlite-lock.ts";
import { readEvents } from "./sqlite-reader.ts";
import { encodeEvent } from "./sqlite-rows.ts";
import { allRuns, appendEvents, createRun, endEpoch, giveEpoch, headOf, knownRun, removeRun } from "./sqlite-runs.ts";

/** An open file, and what this journal holds of it. */
interface Opened {
  readonly db: Database;
  readonly locks: RunLocks;
}

/** The journal behind {@link sqlite}: it opens the file with the first question and knows which runs it owns. */
export class SqliteJournal implements Journal {
  readonly #options: FileOptions;
  readonly #commits: Commits;
  #opening: Promise<Opened> | undefined;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: FileOptions) {
    this.#options = options;
    this.#commits = new Commits(options, async () => (await this.#opened()).db);
  }

  create(runId: string): Promise<void> {
    return this.#commits.commit((db) => createRun(db, runId));
  }

  async claim(runId: string): Promise<number> {
    const { db, locks } = await this.#opened();
    if (!locks.holds(runId)) await this.#ask(() => knownRun(db, runId));
    return this.#holding(runId, (open) => giveEpoch(open, runId), "the process");
  }

  async append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void> {
    const encoded = events.map((event, place) => encodeEvent(event, runId, expectedSeq + place));
    await this.#commits.commit((db) => appendEvents(db, runId, epoch, expectedSeq, encoded));
  }

  async release(runId: string, epoch: number): Promise<void> {
    // Closing has given everything back.
    if (this.#isClosed) return;
    const { locks } = await this.#opened();
    const wasOurs = await this.#commits.commit((db) => endEpoch(db, runId, epoch), "the process");
    if (wasOurs) locks.drop(runId);
  }

  read(runId: string, from: number): AsyncIterable<RunEvent> {
    const options = this.#options;
    const open = async (): Promise<Database> => (await this.#opened()).db;
    const rescue = async (): Promise<Database> => openRemains(await loadDriver(), options);
    return readEvents({ options, open, rescue }, runId, from);
  }

  async runs(): Promise<readonly RunInfo[]> {
    const { db } = await this.#opened();
    return this.#ask(() => allRuns(db));
  }

  async remove(runId: string): Promise<void> {
    const { db, locks } = await this.#opened();
    if (!locks.holds(runId) && (await this.#ask(() => headOf(db, runId))) === undefined) return;
    await this.#holding(runId, (open) => removeRun(open, runId), "the machine");
    locks.dropForGood(runId);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * Changes a run that this journal holds or takes. Whoever had it in this process may give it back at any moment before, so it is taken
   * again where that counts: when the change is made, and when it is told to be made.
   */
  async #holding<T>(runId: string, change: Change<T>, outlives: Outlives): Promise<T> {
    const { locks } = await this.#opened();
    let isNew = locks.take(runId);
    try {
      const result = await this.#commits.commit((open) => {
        isNew = locks.take(runId) || isNew;
        return change(open);
      }, outlives);
      locks.take(runId);
      return result;
    } catch (error) {
      if (isNew) locks.drop(runId);
      throw error;
    }
  }

  async #close(): Promise<void> {
    await this.#commits.settled();
    this.#isClosed = true;
    // A file that could not be opened was told of to whoever asked for it.
    const opened = await this.#opening?.catch(() => undefined);
    if (opened === undefined) return;
    opened.locks.close();
    try {
      opened.db.closeWhole();
    } catch (error) {
      throw unwritable(this.#options.file, error);
    }
  }

  /** The open file. When it could not be opened, the next question tries again. */
  #opened(): Promise<Opened> {
    if (this.#isClosed) return Promise.reject(closedError());
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<Opened> {
    try {
      const driver = await loadDriver();
      return { db: await openFile(driver, this.#options), locks: new RunLocks(driver, this.#options.file) };
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #ask<T>(question: () => T): Promise<T> {
    const { clock, patience, file } = this.#options;
    try {
      return await patiently(question, clock, patience);
    } catch (error) {
      throw unwritable(file, error);
    }
  }
}
