import { systemCode } from "../kernel/system-error.ts";
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import { JournalError, MemoryError, TroupeError } from "../kernel/errors.ts";
import { isBusy, patiently, unwritable } from "./sqlite-damage.ts";
import { Database, type Driver } from "./sqlite-database.ts";
import { bornPrivate, isNoDatabase } from "./sqlite-file.ts";
import { CREATE_WORDS } from "./sqlite-words.ts";

/** Tells these files from those of others: "TRPM". */
export const APPLICATION_ID = 0x5452504d;
/** Milliseconds that SQLite itself waits, and the whole process with it, before this process waits in a better way. */
const BUSY_TIMEOUT = 20;
const KEPT_WAL = 16 * 1024 * 1024;

/** Step `n` leads from version `n` to `n + 1`; a new file takes them all. Steps that were published never change. */
export const SCHEMA_STEPS: readonly string[] = [
  // A role is known by the JSON text of its id, for SQLite cuts plain text at a NUL. A place is the role's number * 2^31 + n, so that what
  // a role holds lies together and in order.
  `CREATE TABLE file.roles (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     role TEXT NOT NULL UNIQUE,
     last INTEGER NOT NULL,
     removals INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE file.messages (
     place INTEGER PRIMARY KEY, number INTEGER NOT NULL, identity BLOB NOT NULL, body TEXT NOT NULL, checksum BLOB NOT NULL,
     UNIQUE (number, identity)
   ) STRICT;
   CREATE TABLE file.vectors (place INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;`,
  // A block is a range of places; see sqlite-block.ts. What there was before stays in its rows until it is read.
  `CREATE TABLE file.message_blocks (block INTEGER PRIMARY KEY, content BLOB NOT NULL, checksum BLOB NOT NULL) STRICT;
   CREATE TABLE file.vector_blocks (
     block INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, known BLOB NOT NULL, vectors BLOB NOT NULL, checksum INTEGER NOT NULL
   ) STRICT;`,
  // The words of messages; see sqlite-words.ts. Those of what there was before come in when it is read.
  `CREATE TABLE file.word_blocks (block INTEGER PRIMARY KEY) STRICT; ${CREATE_WORDS}`,
];

/** Where a store is and how it is treated. */
export interface StoreFile {
  /** Absolute. */
  readonly file: string;
  readonly clock: Clock;
  /** Milliseconds to wait for other processes that write. */
  readonly patience: number;
  /** Most pages of the file. */
  readonly maxPages?: number | undefined;
}

/**
 * Opens a store's file, and makes it when it is not there. A file that is no store is looked at read-only first, so that not a byte of it
 * changes.
 *
 * @throws MemoryError `MEMORY_FOREIGN`, `MEMORY_NEWER`, `MEMORY_UNWRITABLE`, `MEMORY_DAMAGED`
 */
export async function openStore(driver: Driver, where: StoreFile): Promise<Database> {
  const { file, clock, patience } = where;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    bornPrivate(file);
    if (statSync(file).size > 0) await patiently(() => lookAt(driver, file), clock, patience);
    return await patiently(() => prepared(driver, where), clock, patience);
  } catch (error) {
    throw storeError(file, error);
  }
}

/** What SQLite, the machine or a question says is wrong, as this memory's error. */
export function storeError(file: string, error: unknown): Error {
  if (isNoDatabase(error)) {
    return memoryError(
      "MEMORY_FOREIGN",
      `a memory's file or none at ${file}, got one that is no database, or whose beginning is damaged. Choose another path; nothing was changed.`,
      file,
      error,
    );
  }
  if (isBusy(error)) {
    return memoryError(
      "MEMORY_UNWRITABLE",
      `a turn to write ${file}, but another process is writing it all the time, or was stopped while it did. Look at that process.`,
      file,
      error,
    );
  }
  const known = TroupeError.isInstance(error) ? error : unwritable(file, error);
  if (!(known instanceof JournalError)) return known as Error;
  const reason = known.cause instanceof Error ? known.cause.message : known.message;
  switch (known.code) {
    case "JOURNAL_FULL":
      return memoryError("MEMORY_FULL", `room on the disk for ${file}, but it is full. Make room and try again.`, file, error);
    case "JOURNAL_DAMAGED":
      return memoryError(
        "MEMORY_DAMAGED",
        `a whole store, but ${file} is damaged: ${reason}. Keep a copy of it and of its -wal, and put back one from before.`,
        file,
        error,
      );
    default:
      return memoryError(
        "MEMORY_UNWRITABLE",
        `to use ${file}, but the machine refused: ${reason}. See to the folder, its permissions, its disk, and how many files the process may open.`,
        file,
        error,
      );
  }
}

function memoryError(code: string, expected: string, file: string, cause?: unknown): MemoryError {
  return new MemoryError(code, `Expected ${expected}`, { cause, data: { file } });
}

function lookAt(driver: Driver, file: string): void {
  let db: Database | undefined;
  try {
    db = new Database(driver, `${pathToFileURL(file).href}?mode=ro`, BUSY_TIMEOUT);
    versionOf(db, file);
  } catch (error) {
    // A write that was cut off while the file was being made; only a connection that may write can put it right.
    if (!systemCode(error).startsWith("SQLITE_READONLY_")) throw error;
  } finally {
    db?.close();
  }
}

function prepared(driver: Driver, { file, maxPages }: StoreFile): Database {
  const db = new Database(driver, file, BUSY_TIMEOUT);
  try {
    versionOf(db, file);
    db.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    const mode = db.first("PRAGMA file.journal_mode = WAL")?.[0];
    if (mode !== "wal") throw memoryError("MEMORY_UNWRITABLE", `a local disk for ${file}, got journal mode ${String(mode)}.`, file);
    db.exec(`PRAGMA file.synchronous = FULL; PRAGMA file.journal_size_limit = ${KEPT_WAL}`);
    if (versionOf(db, file) < SCHEMA_STEPS.length) {
      db.transaction("IMMEDIATE", () => {
        // Another process may have done it meanwhile.
        for (const step of SCHEMA_STEPS.slice(versionOf(db, file))) db.exec(step);
        db.exec(`PRAGMA file.application_id = ${APPLICATION_ID}; PRAGMA file.user_version = ${SCHEMA_STEPS.length}`);
      });
    }
    if (maxPages !== undefined) db.exec(`PRAGMA file.max_page_count = ${maxPages}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function versionOf(db: Database, file: string): number {
  const whole = (sql: string): number => Number(db.first(sql)?.[0]);
  const application = whole("PRAGMA file.application_id");
  const version = whole("PRAGMA file.user_version");
  if (application === APPLICATION_ID) {
    if (version <= SCHEMA_STEPS.length) return version;
    throw memoryError(
      "MEMORY_NEWER",
      `a store of version ${SCHEMA_STEPS.length} at most, got ${version} in ${file}. Update this program to use it; nothing was changed.`,
      file,
    );
  }
  if (application === 0 && version === 0 && whole("SELECT count(*) FROM file.sqlite_master") === 0) return 0;
  throw memoryError(
    "MEMORY_FOREIGN",
    `a memory's file or none at ${file}, got the database of another program. Choose another path; nothing was changed.`,
    file,
  );
}
