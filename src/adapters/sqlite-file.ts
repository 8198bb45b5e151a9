import { systemCode } from "../kernel/system-error.ts";
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import { patiently, unwritable } from "./sqlite-damage.ts";
import { Database, type Driver } from "./sqlite-database.ts";
import { identify, prepareSchema, SCHEMA_STEPS } from "./sqlite-schema.ts";

/** Milliseconds that SQLite itself waits, and the whole process with it, before this process waits in a better way. */
const BUSY_TIMEOUT = 20;
/** Bytes that the log beside the file keeps after its contents have gone over into the file. */
const KEPT_WAL = 16 * 1024 * 1024;

/** Where a journal is and how it is treated. */
export interface FileOptions {
  /** Absolute. */
  readonly file: string;
  readonly clock: Clock;
  /** Milliseconds to wait for other processes that write. */
  readonly patience: number;
  /** Most pages of the file. */
  readonly maxPages?: number | undefined;
  /** What leads from version to version. */
  readonly steps?: readonly string[] | undefined;
}

/**
 * Opens a journal's file, and makes it when it is not there. A file that is no journal is looked at read-only first, so that not a byte
 * of it changes.
 *
 * @throws JournalError `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED`
 */
export async function openFile(driver: Driver, options: FileOptions): Promise<Database> {
  const { file, clock, patience, steps = SCHEMA_STEPS } = options;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    bornPrivate(file);
    const found = statSync(file);
    if (!found.isFile()) throw noFile(file);
    if (found.size > 0) await patiently(() => assertJournal(driver, file, steps), clock, patience);
    return await patiently(() => prepared(driver, options), clock, patience);
  } catch (error) {
    throw isNoDatabase(error) ? noDatabase(file, error) : unwritable(file, error);
  }
}

/**
 * Opens what is left of a broken file, read-only and without the checks that refuse all of it.
 *
 * @throws JournalError `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED`
 */
export function openRemains(driver: Driver, { file, steps = SCHEMA_STEPS }: FileOptions): Database {
  let db: Database | undefined;
  try {
    // A file that is shorter than it says is read as far as it goes.
    db = readOnly(driver, file, "PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON");
    identify(db, file, steps);
    return db;
  } catch (error) {
    db?.close();
    throw unwritable(file, error);
  }
}

/** Makes a file that nobody else can read, unless there is one. It is never opened this way again: to close it would let go of all locks on it. */
export function bornPrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function assertJournal(driver: Driver, file: string, steps: readonly string[]): void {
  let db: Database | undefined;
  try {
    db = readOnly(driver, file);
    identify(db, file, steps);
  } catch (error) {
    // A write that was cut off while the file was being made; only a connection that may write can put it right.
    if (!systemCode(error).startsWith("SQLITE_READONLY_")) throw error;
  } finally {
    db?.close();
  }
}

function readOnly(driver: Driver, file: string, before?: string): Database {
  return new Database(driver, `${pathToFileURL(file).href}?mode=ro`, BUSY_TIMEOUT, before);
}

function prepared(driver: Driver, { file, maxPages, steps = SCHEMA_STEPS }: FileOptions): Database {
  const db = new Database(driver, file, BUSY_TIMEOUT);
  try {
    identify(db, file, steps);
    db.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    const mode = db.first("PRAGMA file.journal_mode = WAL")?.[0];
    if (mode !== "wal") throw noWal(file, String(mode));
    db.exec(`PRAGMA file.synchronous = FULL; PRAGMA file.journal_size_limit = ${KEPT_WAL}`);
    prepareSchema(db, file, steps);
    if (maxPages !== undefined) db.exec(`PRAGMA file.max_page_count = ${maxPages}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A text encoding that this package never writes is refused when the file is attached, by a sentence without a code of its own. */
export function isNoDatabase(error: unknown): boolean {
  return systemCode(error) === "SQLITE_NOTADB" || (error instanceof Error && error.message.includes("same text encoding"));
}

function noDatabase(file: string, cause: unknown): JournalError {
  return new JournalError(
    "JOURNAL_FOREIGN",
    `Expected a journal or no file at ${file}, got a file that is no database, or one whose beginning is damaged. Choose another path; nothing was changed.`,
    { cause, data: { file } },
  );
}

function noFile(file: string): JournalError {
  return new JournalError("JOURNAL_UNWRITABLE", `Expected a file at ${file}, got a folder or a device. Choose another path.`, {
    data: { file },
  });
}

function noWal(file: string, mode: string): JournalError {
  return new JournalError(
    "JOURNAL_UNWRITABLE",
    `Expected a disk on which ${file} can have a write-ahead log, got journal mode ${mode}. Choose a path on a local disk.`,
    { data: { file } },
  );
}
