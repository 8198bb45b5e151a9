import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { valueText } from "../kernel/value-text.ts";
import { Database, loadDriver, type Libsql, patiently } from "./sqlite-database.ts";
import { fileError, type FileKind, isNoDatabase } from "./sqlite-errors.ts";

/** Milliseconds that SQLite itself waits, which blocks the process. Longer waits are in `patiently`. */
const BUSY_TIMEOUT = 20;
const KEPT_WAL = 16 * 1024 * 1024;

export interface FileOptions {
  readonly kind: FileKind;
  readonly file: string;
  readonly clock: Clock;
  readonly patience: number;
  readonly maxPages?: number | undefined;
}

/** Returns the whole path of a file. @throws UsageError `OPTION_INVALID` for what names no file, also for SQLite's database in memory */
export function filePath(what: string, path: unknown, instead: string): string {
  if (typeof path === "string" && path !== "" && path !== ":memory:" && !path.startsWith("file:") && !path.includes("\0"))
    return resolve(path);
  throw new UsageError("OPTION_INVALID", `Expected path of ${what} to be the path of a file, got ${valueText(path)}. ${instead}`);
}

/**
 * Opens a file of its kind, first read-only, so that no byte of a file of another kind changes.
 * @throws errors of its kind: `foreign`, `newer`, `unwritable`, `damaged`
 */
export async function openFile(options: FileOptions): Promise<Database> {
  const { kind, file, clock, patience } = options;
  try {
    const driver = await loadDriver(kind);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    createPrivately(file);
    const found = statSync(file);
    if (!found.isFile()) throw noFile(options);
    if (found.size > 0) await patiently(() => assertKind(driver, options), clock, patience);
    return await patiently(() => prepared(driver, options), clock, patience);
  } catch (error) {
    if (!isNoDatabase(error)) throw fileError(kind, file, error);
    const came = "a file that is no database, or one whose beginning is damaged";
    throw kind.error("foreign", foreignText(kind, file, came), { cause: error, data: { file } });
  }
}

/** A file that its first use opens, again after a failure. OpenedFile.F1 (`close`) waits for the work under way of the other users. */
export class OpenedFile {
  readonly options: FileOptions;
  readonly #underWay = new Set<Promise<unknown>>();
  #opening: Promise<Database> | undefined;

  constructor(options: FileOptions) {
    this.options = options;
  }

  /** Works on the file as soon as no other process writes. @throws errors of SQLite too */
  async patiently<T>(work: (db: Database) => T): Promise<T> {
    const opening = (this.#opening ??= openFile(this.options));
    const db = await opening.catch((error: unknown) => {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    });
    return patiently(() => work(db), this.options.clock, this.options.patience);
  }

  ask<T>(work: (db: Database) => T): Promise<T> {
    const answer = this.#typed(() => this.patiently(work));
    this.#underWay.add(answer);
    const done = (): void => void this.#underWay.delete(answer);
    answer.then(done, done);
    return answer;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    // The callers already have the error of a file that could not be opened.
    const db = await opening?.catch(() => undefined);
    await Promise.allSettled(this.#underWay);
    await this.#typed(async () => db?.closeWhole());
  }

  async #typed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw fileError(this.options.kind, this.options.file, error);
    }
  }
}

const PATIENCE = 2_000;

export async function withFile<T>(path: string, kind: FileKind, work: (db: Database, file: string) => T): Promise<T> {
  const file = resolve(path);
  const db = await openFile({ kind, file, clock: systemClock, patience: PATIENCE });
  try {
    return await patiently(() => work(db, file), systemClock, PATIENCE);
  } catch (error) {
    throw fileError(kind, file, error);
  } finally {
    db.close();
  }
}

/** Gives the space of what was removed back to the disk. Returns the bytes before and after. */
export function compactFile(path: string, kind: FileKind): Promise<{ readonly before: number; readonly after: number }> {
  return withFile(path, kind, (db, file) => {
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

function assertKind(driver: Libsql, { kind, file }: FileOptions): void {
  let db: Database | undefined;
  try {
    db = new Database(driver, `${pathToFileURL(file).href}?mode=ro`, BUSY_TIMEOUT);
    identify(db, file, kind);
  } catch (error) {
    // A write that ended while the file was created; only a connection that may write can repair it.
    if (!systemCode(error).startsWith("SQLITE_READONLY_")) throw error;
  } finally {
    db?.close();
  }
}

function prepared(driver: Libsql, options: FileOptions): Database {
  const { kind, file, maxPages } = options;
  const db = new Database(driver, file, BUSY_TIMEOUT);
  try {
    identify(db, file, kind);
    // Deleted content is overwritten, not only marked as free.
    db.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA file.secure_delete = ON");
    const mode = db.first("PRAGMA file.journal_mode = WAL")?.[0];
    if (mode !== "wal") throw noWal(options, String(mode));
    db.exec(`PRAGMA file.synchronous = FULL; PRAGMA file.journal_size_limit = ${KEPT_WAL}`);
    prepareSchema(db, file, kind);
    if (maxPages !== undefined) db.exec(`PRAGMA file.max_page_count = ${maxPages}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function foreignText({ name }: FileKind, file: string, came: string): string {
  return `Expected a ${name} or no file at ${file}, got ${came}. Choose another path; nothing was changed.`;
}

function noFile({ kind, file }: FileOptions): Error {
  return kind.error("unwritable", `Expected a file at ${file}, got a folder or a device. Choose another path.`, { data: { file } });
}

function noWal({ kind, file }: FileOptions, mode: string): Error {
  const expected = `Expected a disk on which ${file} can have a write-ahead log, got journal mode ${mode}. Choose a path on a local disk.`;
  return kind.error("unwritable", expected, { data: { file } });
}

export function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);
}

export const JOURNAL: FileKind = {
  name: "journal",
  applicationId: 0x54525045,
  version: 3,
  // A run is found by the JSON of its id, because SQLite cuts a string at a NUL. `head` is the checksum of its last event. The place of an event
  // is its run's number * 2^31 + its seq, so that events of a run are stored together and in order. A row has the events of one append: its place
  // is that of the first. A row of `chats` has a message that a model read and the conversation before it. `owner` is the process of the owner, or
  // how the last one left. The `head` of a snapshot is the checksum of the event before it. The list of a tenant, whose name and a dot begin the
  // ids of its runs, reads only what it shows. The `epoch` of a command is that of the owner who took it.
  schema: `CREATE TABLE file.epochs (last INTEGER NOT NULL) STRICT;
   INSERT INTO epochs VALUES (0);
   CREATE TABLE file.runs (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     run TEXT NOT NULL UNIQUE,
     epoch INTEGER NOT NULL,
     events INTEGER NOT NULL,
     head BLOB NOT NULL,
     owner TEXT
   ) STRICT;
   CREATE INDEX file.runs_by_tenant ON runs (substr(run, 1, instr(run, '.')), number);
   CREATE TABLE file.events (place INTEGER PRIMARY KEY, body BLOB NOT NULL, checksum BLOB NOT NULL) STRICT;
   CREATE TABLE file.chats (
     number INTEGER NOT NULL, chat BLOB NOT NULL, before BLOB NOT NULL, message BLOB NOT NULL, PRIMARY KEY (number, chat)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE file.chat_messages (number INTEGER NOT NULL, message BLOB NOT NULL, body TEXT NOT NULL, UNIQUE (number, message)) STRICT;
   CREATE TABLE file.tallies (number INTEGER PRIMARY KEY, tally TEXT NOT NULL, checksum BLOB NOT NULL) STRICT;
   CREATE TABLE file.snapshots (number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, head BLOB NOT NULL, body TEXT NOT NULL) STRICT;
   CREATE TABLE file.files (number INTEGER NOT NULL, hash TEXT NOT NULL, body BLOB NOT NULL, UNIQUE (number, hash)) STRICT;
   CREATE TABLE file.commands (
     id TEXT NOT NULL UNIQUE, number INTEGER NOT NULL, expires INTEGER NOT NULL, epoch INTEGER, command TEXT NOT NULL, answer TEXT
   ) STRICT;
   CREATE INDEX file.commands_waiting ON commands (number) WHERE epoch IS NULL;`,
  error: (fault, message, o) => new JournalError(`JOURNAL_${fault.toUpperCase()}`, message, o),
};

/** Returns true for a file of its kind, false for an empty one. @throws errors of its kind: `foreign`, `newer` for any other version */
function identify(db: Database, file: string, kind: FileKind): boolean {
  const application = whole(db, "PRAGMA file.application_id");
  const version = whole(db, "PRAGMA file.user_version");
  if (application === kind.applicationId) {
    if (version === kind.version) return true;
    throw kind.error(
      "newer",
      `Expected a ${kind.name} of version ${kind.version}, got ${version} in ${file}. Use the version of this program that wrote it; nothing was changed.`,
      { data: { file, version } },
    );
  }
  if (application === 0 && version === 0 && whole(db, "SELECT count(*) FROM file.sqlite_master") === 0) return false;
  throw kind.error("foreign", foreignText(kind, file, "the database of another program"), { data: { file } });
}

function prepareSchema(db: Database, file: string, kind: FileKind): void {
  if (identify(db, file, kind)) return;
  db.transaction("IMMEDIATE", () => {
    // Another process may have done this meanwhile.
    if (identify(db, file, kind)) return;
    db.exec(`${kind.schema} PRAGMA file.application_id = ${kind.applicationId}; PRAGMA file.user_version = ${kind.version}`);
  });
}

function whole(db: Database, sql: string): number {
  return Number(db.first(sql)?.[0]);
}
