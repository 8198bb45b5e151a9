import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { Database, type Driver, patiently, unwritable } from "./sqlite-database.ts";

/** Milliseconds that SQLite itself waits, and the whole process with it, before this process waits in a better way. */
const BUSY_TIMEOUT = 20;
/** Bytes that the log beside the file keeps after its contents have gone over into the file. */
const KEPT_WAL = 16 * 1024 * 1024;

/** What tells the files of one kind from others. Default: those of journals. */
interface FileKind {
  readonly applicationId?: number | undefined;
  /** Step `n` leads from version `n` to `n + 1`. */
  readonly steps?: readonly string[] | undefined;
}

/** Where a file is and how it is treated. */
export interface FileOptions extends FileKind {
  /** Absolute. */
  readonly file: string;
  readonly clock: Clock;
  /** Milliseconds to wait for other processes that write. */
  readonly patience: number;
  /** Most pages of the file. */
  readonly maxPages?: number | undefined;
}

/**
 * Opens a file of its kind, and makes it when it is not there. A file that is there is looked at read-only first, so that not a byte changes
 * of one that is of another kind.
 *
 * @throws JournalError `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED`
 */
export async function openFile(driver: Driver, options: FileOptions): Promise<Database> {
  const { file, clock, patience } = options;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    bornPrivate(file);
    const found = statSync(file);
    if (!found.isFile()) throw noFile(file);
    if (found.size > 0) await patiently(() => assertKind(driver, options), clock, patience);
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
export function openRemains(driver: Driver, options: FileOptions): Database {
  const { file } = options;
  let db: Database | undefined;
  try {
    // A file that is shorter than it says is read as far as it goes.
    db = readOnly(driver, file, "PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON");
    identify(db, file, options);
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

function assertKind(driver: Driver, options: FileOptions): void {
  let db: Database | undefined;
  try {
    db = readOnly(driver, options.file);
    identify(db, options.file, options);
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

function prepared(driver: Driver, options: FileOptions): Database {
  const { file, maxPages } = options;
  const db = new Database(driver, file, BUSY_TIMEOUT);
  try {
    identify(db, file, options);
    db.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    const mode = db.first("PRAGMA file.journal_mode = WAL")?.[0];
    if (mode !== "wal") throw noWal(file, String(mode));
    db.exec(`PRAGMA file.synchronous = FULL; PRAGMA file.journal_size_limit = ${KEPT_WAL}`);
    prepareSchema(db, file, options);
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

/** Bytes of a file and of the log beside it. */
export function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Tells this program's files from those of others: "TRPE". */
export const APPLICATION_ID = 0x54525045;

/** Step `n` leads from version `n` to `n + 1`; a new file takes them all. Steps that were published never change. */
export const SCHEMA_STEPS: readonly string[] = [
  // A run is known by the JSON text of its id, for SQLite cuts plain text at a NUL. `head` is the checksum of its last event.
  // The place of an event is its run's number * 2^31 + its seq, so that events of a run lie together and in order.
  // `chat` is the end of the conversation that a model was shown: `chats` says which message stands there and what came before.
  `CREATE TABLE file.epochs (last INTEGER NOT NULL) STRICT;
   INSERT INTO epochs VALUES (0);
   CREATE TABLE file.runs (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     run TEXT NOT NULL UNIQUE,
     epoch INTEGER NOT NULL,
     events INTEGER NOT NULL,
     head BLOB NOT NULL
   ) STRICT;
   CREATE TABLE file.events (place INTEGER PRIMARY KEY, body TEXT NOT NULL, checksum BLOB NOT NULL, chat BLOB) STRICT;
   CREATE TABLE file.chats (
     number INTEGER NOT NULL, chat BLOB NOT NULL, before BLOB NOT NULL, message BLOB NOT NULL, PRIMARY KEY (number, chat)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE file.chat_messages (number INTEGER NOT NULL, message BLOB NOT NULL, body TEXT NOT NULL, UNIQUE (number, message)) STRICT;`,
  // The tables are the same. From here on an event may stand as a short list, which no program of version 1 can read.
  "",
];

/**
 * The version of a file, 0 for one that has nothing in it yet.
 *
 * @throws JournalError `JOURNAL_FOREIGN` for another program's, `JOURNAL_NEWER` for one of a newer version of this program
 */
export function identify(
  db: Database,
  file: string,
  { applicationId = APPLICATION_ID, steps = SCHEMA_STEPS }: FileKind = {},
): { readonly version: number } {
  const application = whole(db, "PRAGMA file.application_id");
  const version = whole(db, "PRAGMA file.user_version");
  if (application === applicationId) {
    if (version <= steps.length) return { version };
    throw new JournalError(
      "JOURNAL_NEWER",
      `Expected a journal of version ${steps.length} at most, got ${version} in ${file}. Update this program to use it; nothing was changed.`,
      { data: { file, version } },
    );
  }
  if (application === 0 && version === 0 && whole(db, "SELECT count(*) FROM file.sqlite_master") === 0) return { version };
  throw new JournalError(
    "JOURNAL_FOREIGN",
    `Expected a journal or no file at ${file}, got the database of another program. Choose another path; nothing was changed.`,
    { data: { file } },
  );
}

/** Brings a file to the newest version, in one transaction. What it holds stays. @throws as {@link identify} */
function prepareSchema(db: Database, file: string, kind: FileKind): void {
  const { applicationId = APPLICATION_ID, steps = SCHEMA_STEPS } = kind;
  if (identify(db, file, kind).version === steps.length) return;
  db.transaction("IMMEDIATE", () => {
    // Another process may have done it meanwhile.
    const { version } = identify(db, file, kind);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA file.application_id = ${applicationId}; PRAGMA file.user_version = ${steps.length}`);
  });
}

function whole(db: Database, sql: string): number {
  return Number(db.first(sql)?.[0]);
}
