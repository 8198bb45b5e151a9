import { systemCode } from "../kernel/system-error.ts";
import type Libsql from "libsql";
import { JournalError } from "../kernel/errors.ts";

/** What a statement is given. Text stands for what was written by us alone: SQLite cuts it at a NUL. */
export type SqlValue = number | string | Uint8Array | null;
/** One row, in the order of the columns asked for. */
export type Row = readonly unknown[];

type Libsql = typeof Libsql;

/**
 * What a change outlives once it is committed: the power of the machine, or only the process. The first waits for the disk, which is most of
 * what a commit takes, and takes all along that did not wait before it.
 */
export type Outlives = "the machine" | "the process";

/** The name of the file within its connection. A statement that makes a table, and a PRAGMA about the file, has to say it. */
const FILE = "file";

/**
 * One connection to a SQLite file, over `libsql`, which is loaded with the first one.
 *
 * Database.D1 after `close` the process has no handle and no mapping of the file, its log and its index, without a garbage collection: the library
 * keeps a connection until the last statement of it was collected, so the file is attached to a connection without one, and `close` detaches it.
 * Database.D2 a constructor that throws holds nothing either. Database.D3 after `closeWhole` the file alone has all that was committed, unless
 * another connection reads it at that moment; the last connection that closes does it then.
 *
 * It hides what that library does to the careless: a bare Buffer as the only value, and text that is no UTF-8, end the whole process. So
 * values always come as a list; and whatever is asked of a table, where one flipped bit makes text of anything, must be asked for as
 * `CAST(... AS BLOB)` or `CAST(... AS INTEGER)`. Every answer is read to its end, for a question left in its middle keeps the file's past.
 * What waits for the disk is set here alone, once the file has been opened with `synchronous=FULL`.
 */
export class Database {
  readonly #native: InstanceType<Libsql>;
  readonly #prepared = new Map<string, Libsql.Statement>();
  /** False also when it is not known: a connection may have been told in vain. */
  #waitsForDisk = true;
  /**
   * The disk refused what was to be on it. The system tells that once, and takes it for written from then on: so whoever waits next would be
   * told that all is there, although what did not wait before is not, and the log ends where it is missing.
   */
  #mayHaveLost = false;
  #isClosed = false;

  /** @param before statements that have to run before the file is looked at */
  constructor(driver: Driver, location: string, busyTimeout: number, before?: string) {
    this.#native = new driver.libsql(":memory:", { timeout: busyTimeout });
    try {
      if (before !== undefined) this.#native.exec(before);
      this.#native.prepare(`ATTACH ? AS ${FILE}`).run([location]);
    } catch (error) {
      this.#native.close();
      throw error;
    }
  }

  get inTransaction(): boolean {
    return this.#native.inTransaction;
  }

  /** Runs statements that give nothing back. */
  exec(sql: string): void {
    this.#assertOpen();
    this.#native.exec(sql);
  }

  /** Runs one statement. @returns how many rows it changed */
  run(sql: string, values: readonly SqlValue[]): number {
    return this.#statement(sql).run(values).changes;
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly Row[] {
    return this.#statement(sql).all(values) as Row[];
  }

  first(sql: string, values: readonly SqlValue[] = []): Row | undefined {
    return this.all(sql, values)[0];
  }

  /** Runs `work` as one transaction: all of it, or nothing. What one that only reads outlives does not matter. */
  transaction<T>(kind: "DEFERRED" | "IMMEDIATE", work: () => T, outlives: Outlives = "the machine"): T {
    if (kind === "IMMEDIATE") {
      this.#waitForDisk(outlives === "the machine");
      if (this.#mayHaveLost) this.#renewLog();
    }
    this.exec(`BEGIN ${kind}`);
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      this.#mayHaveLost ||= isUnsynced(error);
      // Some failures, a full disk among them, have rolled it back already.
      if (this.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  /** Lets go of the file. No statement works any more; closing twice is no error. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#prepared.clear();
    try {
      if (this.#native.inTransaction) this.#native.exec("ROLLBACK");
      this.#native.exec(`DETACH ${FILE}`);
    } finally {
      this.#native.close();
    }
  }

  /** Moves what the log holds into the file, as far as nobody reads it, and lets go of the file. @throws as a statement does; it is closed then too */
  closeWhole(): void {
    try {
      this.#truncateLog();
    } finally {
      this.close();
    }
  }

  /** Gives unused pages back to the disk. @throws as a statement does */
  compact(): void {
    this.exec(`VACUUM ${FILE}`);
    this.#truncateLog();
  }

  /** Before a transaction, not after the one that did not wait: what cannot be set again there would be an append that the disk never saw. */
  #waitForDisk(waits: boolean): void {
    if (this.#waitsForDisk === waits) return;
    this.#waitsForDisk = false;
    this.exec(`PRAGMA ${FILE}.synchronous = ${waits ? "FULL" : "NORMAL"}`);
    this.#waitsForDisk = waits;
  }

  /** Has all that the log holds in the file, and the log begin anew. @throws as a statement does, `SQLITE_BUSY` while somebody reads it */
  #renewLog(): void {
    if (!this.#truncateLog()) {
      throw Object.assign(new Error("the log cannot begin anew while somebody reads it"), { code: "SQLITE_BUSY" });
    }
    this.#mayHaveLost = false;
  }

  /** @returns false while somebody reads the log */
  #truncateLog(): boolean {
    return this.first(`PRAGMA ${FILE}.wal_checkpoint(TRUNCATE)`)?.[0] === 0;
  }

  #statement(sql: string): Libsql.Statement {
    this.#assertOpen();
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#native.prepare(sql);
      if (statement.reader) statement.raw();
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}

/** What SQLite says where the system could not bring a file onto the disk. */
function isUnsynced(error: unknown): boolean {
  return systemCode(error) === "SQLITE_IOERR_FSYNC";
}

/** The loaded library. */
export interface Driver {
  readonly libsql: Libsql;
}

/** Loads the library; the second time it is there at once. @throws JournalError `JOURNAL_UNWRITABLE` where it has no build for the machine */
export async function loadDriver(): Promise<Driver> {
  try {
    return { libsql: (await import("libsql")).default };
  } catch (error) {
    throw new JournalError(
      "JOURNAL_UNWRITABLE",
      "Expected libsql with its build for this machine, but it could not be loaded. Install again with optional packages (no --omit=optional), or keep the runs in memory: memoryJournal().",
      { cause: error },
    );
  }
}

/** Whoever uses a journal after its end. */
export function closedError(): JournalError {
  return new JournalError("JOURNAL_CLOSED", "Expected an open journal, but it has been closed. Make another one for the same file.");
}
