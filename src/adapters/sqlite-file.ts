import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { Database, loadDriver, patiently, type SqliteDriver, unwritable } from "./sqlite-database.ts";

/** Milliseconds that SQLite itself waits, which blocks the process. Longer waits are in `patiently`. */
const BUSY_TIMEOUT = 20;
/** Bytes that the log keeps after its contents are in the file. */
const KEPT_WAL = 16 * 1024 * 1024;

/** The kind of a file. Default: a journal. */
interface FileKind {
  readonly applicationId?: number | undefined;
  /** Step `n` leads from version `n` to `n + 1`. */
  readonly steps?: readonly string[] | undefined;
}

/** A file and how it is opened. */
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
 * Opens a file of its kind and creates it if needed. An existing file is first opened read-only, so that no byte of a file of another kind
 * changes.
 *
 * @throws JournalError `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED`
 */
export async function openFile(driver: SqliteDriver, options: FileOptions): Promise<Database> {
  const { file, clock, patience } = options;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    createPrivately(file);
    const found = statSync(file);
    if (!found.isFile()) throw noFile(file);
    if (found.size > 0) await patiently(() => assertKind(driver, options), clock, patience);
    return await patiently(() => prepared(driver, options), clock, patience);
  } catch (error) {
    throw isNoDatabase(error) ? noDatabase(file, error) : unwritable(file, error);
  }
}

/**
 * Opens a broken file read-only, without the checks that would refuse all of it.
 *
 * @throws JournalError `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED`
 */
export function openRemains(driver: SqliteDriver, options: FileOptions): Database {
  const { file } = options;
  let db: Database | undefined;
  try {
    // A file that is shorter than its header says is read to its end.
    db = readOnly(driver, file, "PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON");
    identify(db, file, options);
    return db;
  } catch (error) {
    db?.close();
    throw unwritable(file, error);
  }
}

/** A way to open files of one kind outside of a journal or store. */
export interface FileOpener {
  open(driver: SqliteDriver, where: Omit<FileOptions, keyof FileKind>): Promise<Database>;
  errorOf(file: string, error: unknown): Error;
}

/** Milliseconds to wait for other processes in {@link withFile}. */
const PATIENCE = 2_000;

/** Opens a file for one piece of work, and closes it. @throws errors of `errorOf` */
export async function withFile<T>(path: string, { open, errorOf }: FileOpener, work: (db: Database, file: string) => T): Promise<T> {
  const file = resolve(path);
  const db = await open(await loadDriver(), { file, clock: systemClock, patience: PATIENCE });
  try {
    return await patiently(() => work(db, file), systemClock, PATIENCE);
  } catch (error) {
    throw errorOf(file, error);
  } finally {
    db.close();
  }
}

/** Gives unused space of a file back to the disk. @returns the bytes before and after */
export function compactFile(path: string, opener: FileOpener): Promise<{ readonly before: number; readonly after: number }> {
  return withFile(path, opener, (db, file) => {
    const before = sizeOf(file);
    db.compact();
    return { before, after: sizeOf(file) };
  });
}

/** Creates a file that only its owner can read, if it is not there. Opening an existing file would release all its locks at the close. */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function assertKind(driver: SqliteDriver, options: FileOptions): void {
  let db: Database | undefined;
  try {
    db = readOnly(driver, options.file);
    identify(db, options.file, options);
  } catch (error) {
    // A write that ended while the file was created; only a connection that may write can repair it.
    if (!systemCode(error).startsWith("SQLITE_READONLY_")) throw error;
  } finally {
    db?.close();
  }
}

function readOnly(driver: SqliteDriver, file: string, before?: string): Database {
  return new Database(driver, `${pathToFileURL(file).href}?mode=ro`, BUSY_TIMEOUT, before);
}

function prepared(driver: SqliteDriver, options: FileOptions): Database {
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

/** True for a file that is no database of this package. The error for another text encoding has no code. */
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

/** Returns the bytes of a file and of its log. */
export function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Marks the journals of this program: "TRPE". */
export const APPLICATION_ID = 0x54525045;

/** Step `n` leads from version `n` to `n + 1`; a new file takes them all. Published steps never change. */
export const SCHEMA_STEPS: readonly string[] = [
  // A run is found by the JSON text of its id, because SQLite cuts plain text at a NUL. `head` is the checksum of its last event.
  // The place of an event is its run's number * 2^31 + its seq, so that events of a run are stored together and in order.
  // `chat` is the end of the conversation that a model read: `chats` has the message there and the conversation before it.
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
  // The tables are the same. From this version on an event may be a short list, which programs of version 1 cannot read.
  "",
];

/**
 * Returns the version of a file, 0 for an empty one.
 *
 * @throws JournalError `JOURNAL_FOREIGN` for a file of another program, `JOURNAL_NEWER` for one of a newer version of this program
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

/** Brings a file to the newest version in one transaction. Its contents stay. @throws errors of {@link identify} */
function prepareSchema(db: Database, file: string, kind: FileKind): void {
  const { applicationId = APPLICATION_ID, steps = SCHEMA_STEPS } = kind;
  if (identify(db, file, kind).version === steps.length) return;
  db.transaction("IMMEDIATE", () => {
    // Another process may have done this meanwhile.
    const { version } = identify(db, file, kind);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA file.application_id = ${applicationId}; PRAGMA file.user_version = ${steps.length}`);
  });
}

function whole(db: Database, sql: string): number {
  return Number(db.first(sql)?.[0]);
}
