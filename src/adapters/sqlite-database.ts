import type Libsql from "libsql";
import { isAscii } from "node:buffer";
import { type Clock, sleep } from "../kernel/clock.ts";
import { closedError, type FileKind, isBusy } from "./sqlite-errors.ts";

/** A value of a statement. Only texts of this package are given as text: SQLite cuts a text at a NUL. */
export type SqlValue = number | string | Uint8Array | null;
export type SqlRow = readonly unknown[];

export type Libsql = typeof Libsql;

/** The name of the file in its connection. Statements that create a table, and PRAGMAs about the file, need it. */
const FILE = "file";

/**
 * One connection to a SQLite file, over `libsql`. Database.D1 after `close` the process has no handle and no mapping of the file, its log and its
 * index, without a garbage collection: the library keeps a connection until its last statement is collected, so the file is attached to a connection
 * in memory, and `close` detaches it. Database.D2 a constructor that throws holds nothing either. Database.D3 after `closeWhole` the file alone has
 * every commit, unless another connection reads it at that moment; then the last one that closes does this.
 *
 * The library ends the process for a bare Buffer as the only value, and for a string that is not UTF-8. So values are passed as a list, and columns,
 * in which one flipped bit can make a string of any value, are read as `CAST(... AS BLOB)` or `CAST(... AS INTEGER)`. Every result is read to its
 * end, because an open statement keeps an old state of the file.
 */
export class Database {
  readonly #driver: Libsql;
  readonly #native: InstanceType<Libsql>;
  readonly #prepared = new Map<string, Libsql.Statement>();
  #isClosed = false;

  constructor(driver: Libsql, location: string, busyTimeout: number) {
    this.#driver = driver;
    this.#native = new driver(":memory:", { timeout: busyTimeout });
    try {
      this.#native.prepare(`ATTACH ? AS ${FILE}`).run([location]);
    } catch (error) {
      this.#native.close();
      throw error;
    }
  }

  /** Opens another file with the same driver. */
  beside(location: string, busyTimeout: number): Database {
    return new Database(this.#driver, location, busyTimeout);
  }

  get inTransaction(): boolean {
    return this.#native.inTransaction;
  }

  exec(sql: string): void {
    this.#assertOpen();
    this.#native.exec(sql);
  }

  run(sql: string, values: readonly SqlValue[]): number {
    return this.#statement(sql).run(values).changes;
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#statement(sql).all(values) as SqlRow[];
  }

  first(sql: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.all(sql, values)[0];
  }

  transaction<T>(kind: "DEFERRED" | "IMMEDIATE", work: () => T): T {
    this.exec(`BEGIN ${kind}`);
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // Some failures, such as a full disk, have rolled it back already.
      if (this.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

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

  /** Moves the log into the file, unless another connection reads it, and closes. @throws errors of statements, after closing */
  closeWhole(): void {
    try {
      this.#truncateLog();
    } finally {
      this.close();
    }
  }

  compact(): void {
    this.exec(`VACUUM ${FILE}`);
    this.#truncateLog();
  }

  /** Writes the file again and empties the log, so that neither has a byte of what was removed. @throws `SQLITE_BUSY` while others use them */
  purge(): void {
    this.exec(`VACUUM ${FILE}`);
    if (!this.#truncateLog()) throw Object.assign(new Error("the log cannot be reset while it is read"), { code: "SQLITE_BUSY" });
  }

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

export async function loadDriver(kind?: FileKind): Promise<Libsql> {
  try {
    return (await import("libsql")).default;
  } catch (error) {
    const message =
      "Expected libsql with its build for this machine, but it could not be loaded. Install again with optional packages (no --omit=optional), or keep everything in memory: memoryJournal(), inMemoryStore().";
    throw kind?.error("unwritable", message, { cause: error, data: {} }) ?? error;
  }
}

/** Decodes bytes as UTF-8. Invalid bytes become U+FFFD, and the checksum fails then. Undefined for anything but bytes. */
export function textOf(bytes: unknown): string | undefined {
  if (!(bytes instanceof Uint8Array)) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Latin-1 gives the same characters for ASCII, several times as fast.
  return buffer.toString(isAscii(buffer) ? "latin1" : "utf8");
}

const PAUSE = 10;

/** Runs `work` as soon as no other process writes. @throws the error of `work` after `patience` milliseconds */
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
