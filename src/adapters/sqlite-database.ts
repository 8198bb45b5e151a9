import type Libsql from "libsql";
import { isAscii } from "node:buffer";
import { type Clock, sleep } from "../kernel/clock.ts";
import { JournalError, TroupeError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";

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

/** Bytes as the text they are; what is no UTF-8 becomes U+FFFD, which its checksum tells. Undefined for anything but bytes. */
export function textOf(bytes: unknown): string | undefined {
  if (!(bytes instanceof Uint8Array)) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The same characters, found several times as fast.
  return buffer.toString(isAscii(buffer) ? "latin1" : "utf8");
}

/*
 * What can be wrong with a file of runs, in the words of this package. A sentence of SQLite is always kept as the cause.
 */

/** Milliseconds between two looks at a file that somebody else is writing. */
const PAUSE = 10;

/** Does `work` as soon as no other process is writing; gives up after `patience` milliseconds. */
export async function patiently<T>(work: () => T, clock: Clock, patience: number): Promise<T> {
  const until = clock.now() + patience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || clock.now() >= until) throw error;
    }
    await sleep(clock, PAUSE);
  }
}

/** True when another process holds the file right now. */
export function isBusy(error: unknown): boolean {
  return isOf(error, "SQLITE_BUSY", "SQLITE_LOCKED");
}

/** True when the disk, not one run's record, is what failed: then no other append of the same commit would fare better. */
export function isOfTheDisk(error: unknown): boolean {
  return isBusy(error) || isOf(error, "SQLITE_FULL", ...MACHINE);
}

/** True when the file itself is broken: what SQLite calls malformed, or what it cannot make sense of. */
export function isBroken(error: unknown): boolean {
  const inside = error instanceof JournalError && error.code === "JOURNAL_DAMAGED" ? error.cause : error;
  return sqliteCode(inside) !== undefined && !isOfTheDisk(inside);
}

const MACHINE = ["SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_NOLFS", "SQLITE_NOMEM"];

/** Why something could not be written, or the file not be opened. */
export function unwritable(file: string, error: unknown): Error {
  if (TroupeError.isInstance(error)) return error;
  const cause = { cause: error, data: { file } };
  if (isOf(error, "SQLITE_FULL")) {
    return new JournalError(
      "JOURNAL_FULL",
      `Expected room on the disk for ${file}, but it is full. Make room, then resume the run.`,
      cause,
    );
  }
  if (isBusy(error)) {
    return new JournalError(
      "JOURNAL_UNWRITABLE",
      `Expected a turn to write ${file}, but another process is writing it all the time, or was stopped while it did. Look at that process, then resume the run.`,
      cause,
    );
  }
  if (isOf(error, ...MACHINE) || sqliteCode(error) === undefined) {
    return new JournalError(
      "JOURNAL_UNWRITABLE",
      `Expected to write ${file}, but the machine refused: ${reason(error)}. See to the file's folder, its permissions, its disk, and how many files the process may open.`,
      cause,
    );
  }
  return new JournalError("JOURNAL_DAMAGED", `Expected a whole journal, but ${file} is damaged: ${reason(error)}. ${REPAIR}`, cause);
}

/** Why the record of one run could not be read further. */
export function unreadable(file: string, runId: string, intact: number, error: unknown): Error {
  if (isBroken(error)) return damagedRun(file, runId, intact, reason(error instanceof JournalError ? error.cause : error), error);
  if (error instanceof JournalError && error.code === "JOURNAL_DAMAGED" && error.data === undefined) {
    return damagedRun(file, runId, intact, "what the journal says of it was changed since it was written", error);
  }
  if (TroupeError.isInstance(error)) return error;
  const why = isBusy(error) ? "another process keeps it for itself" : `the machine refused: ${reason(error)}`;
  return new JournalError(
    "JOURNAL_UNREADABLE",
    `Expected to read run ${runId} in ${file} from event ${intact} on, but ${why}. See to that, then read again.`,
    { cause: error, data: { file, runId, intact } },
  );
}

const REPAIR = "Keep a copy of it and of its -wal, and put back a copy from before.";

/** The record of one run is damaged behind its first `intact` events. */
export function damagedRun(file: string, runId: string, intact: number, why: string, cause?: unknown): JournalError {
  const whole =
    intact === 0
      ? "none of its events is sure"
      : intact === 1
        ? "event 0 is intact"
        : `its first ${intact} events, up to ${intact - 1}, are intact`;
  return new JournalError(
    "JOURNAL_DAMAGED",
    `Expected run ${runId} to be whole, but in ${file} ${whole}, and then: ${why}. What is intact can still be read. ${REPAIR}`,
    { cause, data: { file, runId, intact } },
  );
}

function isOf(error: unknown, ...codes: readonly string[]): boolean {
  const code = sqliteCode(error);
  return code !== undefined && codes.some((one) => code === one || code.startsWith(`${one}_`));
}

/** The library gives no code to a file it could not open; its sentence ends with SQLite's number for it. */
function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  return error.message.startsWith("ConnectionFailed(") ? "SQLITE_CANTOPEN" : undefined;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
