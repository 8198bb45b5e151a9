import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { JournalError } from "../kernel/errors.ts";
import { isBusy, unwritable } from "./sqlite-damage.ts";
import { closedError, Database, type Driver } from "./sqlite-database.ts";
import { bornPrivate } from "./sqlite-file.ts";

/** Milliseconds, so that of two who ask at the same instant one gets it. */
const BUSY_TIMEOUT = 50;

/**
 * Which runs this journal owns, as other processes can see: an exclusive transaction on a small file of its own for each run. The kernel
 * ends it with the process, however that ends; a process that is only stopped keeps it. It owns the lock files; epochs are in the journal.
 *
 * O1 a run is held by one journal of one living process at most. O2 nobody opens a lock file but SQLite: in the process that holds it, to
 * close it once is to lose it. O3 who loses a lock in spite of all that, because somebody deleted the file, is fenced by its epoch.
 * One open file for each run that is held.
 */
export class RunLocks {
  readonly #driver: Driver;
  readonly #folder: string;
  readonly #held = new Map<string, Database>();
  #isClosed = false;

  constructor(driver: Driver, file: string) {
    this.#driver = driver;
    this.#folder = `${file}-locks`;
  }

  holds(runId: string): boolean {
    return this.#held.has(runId);
  }

  /** @returns false when this journal holds the run already @throws JournalError `RUN_OWNED`, `JOURNAL_UNWRITABLE`, `JOURNAL_CLOSED` */
  take(runId: string): boolean {
    if (this.#isClosed) throw closedError();
    if (this.#held.has(runId)) return false;
    const file = this.#fileOf(runId);
    let lock: Database | undefined;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      bornPrivate(file);
      lock = new Database(this.#driver, file, BUSY_TIMEOUT);
      lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    } catch (error) {
      lock?.close();
      throw isBusy(error) ? owned(runId, error) : unwritable(file, error);
    }
    this.#held.set(runId, lock);
    return true;
  }

  /** Lets go of a run; one that is not held is no error. */
  drop(runId: string): void {
    this.#held.get(runId)?.close();
    this.#held.delete(runId);
  }

  /** Lets go of a run that is no more. Who took the file between the two steps finds no run in the journal, or is fenced by its epoch. */
  dropForGood(runId: string): void {
    this.drop(runId);
    const file = this.#fileOf(runId);
    try {
      rmSync(file, { force: true });
    } catch (error) {
      throw unwritable(file, error);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const lock of this.#held.values()) lock.close();
    this.#held.clear();
  }

  #fileOf(runId: string): string {
    return join(this.#folder, `${createHash("sha256").update(JSON.stringify(runId)).digest("hex")}.lock`);
  }
}

function owned(runId: string, cause: unknown): JournalError {
  return new JournalError(
    "RUN_OWNED",
    `Expected run ${runId} to be nobody's, but a living process works on it, or this one does through another journal. Wait for it or end it.`,
    { cause, data: { runId } },
  );
}
