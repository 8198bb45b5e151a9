import { nextMacrotask, systemClock } from "../kernel/clock.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type {
  MessageIdentity,
  MessageLookup,
  MessageStore,
  MessageToStore,
  RemoveOptions,
  StoredAt,
  StoredMessage,
  StoredVector,
  StoreState,
} from "../memory/message-store.ts";
import {
  changedMessage,
  decodeMessage,
  encodeMessage,
  identityDigest,
  messageChecksum,
  numbersOf,
  SPAN,
  vectorBytes,
  vectorChecksum,
} from "./message-rows.ts";
import type { Database, SqlRow } from "./sqlite-database.ts";
import { filePath, type FileOptions, OpenedFile } from "./sqlite-file.ts";
import * as roleTable from "./sqlite-store-file.ts";

const PATIENCE = 10_000;
/** Rows of a page: other work runs between two pages. */
const PAGE = 500;

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** The file. It and its folder are created if needed, with `-wal` and `-shm` next to it. */
  readonly path: string;
}

const sqliteStoreOptions: Known<SqliteStoreOptions> = { path: kinds.text };

/**
 * Long-term memories of any number of roles in a SQLite file, over `libsql`, which the first call loads. Several processes may use it at
 * once. A deleted `-wal` file looks like a kill before its commits.
 *
 * @throws UsageError `OPTION_INVALID` without a path. A file that cannot be used is reported by the first call as a MemoryError:
 * `MEMORY_FOREIGN`, `MEMORY_NEWER`, `MEMORY_UNWRITABLE`, `MEMORY_FULL`, `MEMORY_DAMAGED`.
 * @example
 * import { defineRole } from "troupe";
 * import { sqliteStore } from "troupe/sqlite";
 *
 * const store = sqliteStore({ path: ".troupe/memory.db" });
 * export const guide = defineRole({ name: "Guide", memory: { store } });
 */
export function sqliteStore(options: SqliteStoreOptions): MessageStore {
  checkGivenOptions("sqliteStore", options, sqliteStoreOptions);
  const file = filePath("sqliteStore", options.path, "Leave the store out for a memory that ends with its process.");
  return new SqliteStore({ file, clock: systemClock, patience: PATIENCE });
}

/**
 * See {@link sqliteStore}. It owns the connection. A row of the file is the base of its role plus the place. SqliteStore.S1 (`add`) a resolved
 * addition is on the disk, with the words of its messages. SqliteStore.S2 (`read`) every row is checked when it is read: a changed message is the
 * error `MEMORY_DAMAGED`, and a changed vector is computed again; the index of words is not checked. SqliteStore.S3 (`openFile`) files are their
 * owner's alone; a file of another program or version is not changed. SqliteStore.S4 (`roleOf`) ids are data: none becomes a path. SqliteStore.S6
 * (`close`) leaves a complete file without its log, unless another connection reads it, and no handle.
 */
export class SqliteStore implements MessageStore {
  readonly #file: OpenedFile;
  readonly lookup: MessageLookup = {
    likeliest: (roleId, words, most) =>
      this.#ask((db) =>
        db.transaction("DEFERRED", () => this.#ofRole(db, roleId, (role) => roleTable.likeliestPlaces(db, role, words, most)) ?? []),
      ),
    read: (roleId, places) =>
      this.#ask((db) => this.#ofRole(db, roleId, ({ base }) => messagesIn(db, READ_SOME, [rowsOf(places, base)], base)) ?? []),
    placesOf: (roleId, identities) =>
      this.#ask((db) => identities.map((one) => this.#ofRole(db, roleId, (role) => placeOf(db, role, identityDigest(one.runId, one.id))))),
  };

  constructor(where: Omit<FileOptions, "kind">) {
    this.#file = new OpenedFile({ ...where, kind: roleTable.STORE });
  }

  state(roleId: string): Promise<StoreState> {
    return this.#ask((db) => roleTable.roleOf(db, roleId) ?? { last: 0, removals: 0 });
  }

  async add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]> {
    const rows = messages.map(encodeMessage);
    return this.#change((db) => {
      const role = roleTable.roleOf(db, roleId) ?? roleTable.madeRole(db, roleId);
      let { last } = role;
      const stored = rows.map(({ identity, body }, n): StoredAt => {
        const row = role.base + last + 1;
        const checksum = messageChecksum(row, identity.toString("hex"), body);
        const isNew = db.run(INSERT_MESSAGE, [row, role.number, identity, body, checksum]) === 1;
        if (!isNew) return { place: placeOf(db, role, identity) ?? 0, isNew };
        roleTable.writeWords(db, role.number, row, messages[n]?.message.content ?? "");
        return { place: ++last, isNew };
      });
      if (last > role.last) db.run("UPDATE roles SET last = ?, role = ? WHERE number = ?", [last, JSON.stringify(roleId), role.number]);
      return stored;
    });
  }

  async *read(roleId: string, after: number): AsyncGenerator<readonly StoredMessage[]> {
    const base = await this.#ask((db) => roleTable.baseOf(db, roleId));
    for (let from = after; base !== undefined; await nextMacrotask()) {
      const start = from;
      const page = await this.#ask((db) => messagesIn(db, READ_PAGE, [base + start, base + SPAN, PAGE], base));
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
      from = page.at(-1)?.place ?? 0;
    }
  }

  places(roleId: string): Promise<readonly number[]> {
    return this.#ask(
      (db) => this.#ofRole(db, roleId, ({ base }) => db.all(READ_PLACES, [base, base + SPAN]).map(([row]) => Number(row) - base)) ?? [],
    );
  }

  remove(roleId: string, places: readonly number[], { mayReturn = false }: RemoveOptions = {}): Promise<number> {
    return this.#change((db) => {
      const base = roleTable.baseOf(db, roleId);
      if (base === undefined) return 0;
      const rows = rowsOf(places, base);
      if (!mayReturn) db.run(`INSERT OR IGNORE INTO removed SELECT number, identity FROM messages WHERE ${NAMED}`, [rows]);
      roleTable.removeWords(db, rows);
      db.run(`DELETE FROM vectors WHERE ${NAMED}`, [rows]);
      const removed = db.run(`DELETE FROM messages WHERE ${NAMED}`, [rows]);
      db.run("UPDATE roles SET removals = removals + ? WHERE number = ?", [removed, base / SPAN]);
      return removed;
    });
  }

  removed(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly boolean[]> {
    return this.#ask((db) => {
      const number = (roleTable.baseOf(db, roleId) ?? 0) / SPAN;
      return identities.map(({ runId, id }) => db.first(WAS_REMOVED, [number, identityDigest(runId, id)]) !== undefined);
    });
  }

  scopes(): Promise<readonly string[]> {
    return this.#ask(roleTable.scopesIn);
  }

  async purge(): Promise<void> {
    await this.#change((db) => {
      roleTable.withoutNames(db);
      roleTable.renewWords(db);
    });
    await this.#ask((db) => db.purge());
  }

  async *readVectors(roleId: string, fingerprint: string, after: number): AsyncGenerator<readonly StoredVector[]> {
    const base = await this.#ask((db) => roleTable.baseOf(db, roleId));
    for (let from = after; base !== undefined; await nextMacrotask()) {
      const start = from;
      const rows = await this.#ask((db) => db.all(READ_VECTORS, [base + start, base + SPAN, fingerprint, PAGE]));
      const page = rows.flatMap((row) => vectorIn(row, fingerprint, base));
      if (page.length > 0) yield page;
      if (rows.length < PAGE) return;
      from = Number(rows.at(-1)?.[0]) - base;
    }
  }

  writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void> {
    return this.#change((db) =>
      this.#ofRole(db, roleId, ({ base }) => {
        for (const { place, vector } of vectors) {
          const bytes = vectorBytes(vector);
          db.run(WRITE_VECTOR, [fingerprint, bytes, vectorChecksum(base + place, fingerprint, bytes), base + place]);
        }
      }),
    );
  }

  clearVectors(roleId: string): Promise<void> {
    return this.#change((db) =>
      this.#ofRole(db, roleId, ({ base }) => {
        db.run("DELETE FROM vectors WHERE place > ? AND place < ?", [base, base + SPAN]);
        roleTable.renewWords(db);
      }),
    );
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #ofRole<T>(db: Database, roleId: string, work: (role: roleTable.RoleRow) => T): T | undefined {
    const role = roleTable.roleOf(db, roleId);
    return role === undefined ? undefined : work(role);
  }

  #change<T>(work: (db: Database) => T): Promise<T> {
    return this.#ask((db) => db.transaction("IMMEDIATE", () => work(db)));
  }

  #ask<T>(work: (db: Database) => T): Promise<T> {
    return this.#file.ask(work);
  }
}

function rowsOf(places: readonly number[], base: number): string {
  return JSON.stringify(places.filter((place) => place > 0 && place < SPAN).map((place) => base + place));
}

function placeOf(db: Database, { number, base }: roleTable.RoleRow, identity: Buffer): number | undefined {
  const [row] = db.first(READ_PLACE, [number, identity]) ?? [];
  return row === undefined ? undefined : Number(row) - base;
}

function messagesIn(db: Database, sql: string, values: readonly (number | string)[], base: number): readonly StoredMessage[] {
  const [count, lines] = db.first(sql, values) ?? [];
  const texts = lines instanceof Uint8Array ? Buffer.from(lines).toString().split("\n") : [];
  if (texts.length !== Number(count)) throw changedMessage();
  return texts.map((line) => decodeMessage(line, base));
}

function vectorIn([row, bytes, checksum]: SqlRow, fingerprint: string, base: number): StoredVector[] {
  if (!(bytes instanceof Uint8Array) || bytes.length % 4 !== 0) return [];
  if (vectorChecksum(Number(row), fingerprint, bytes) !== Number(checksum)) return [];
  return [{ place: Number(row) - base, vector: numbersOf(bytes) }];
}

// One flipped bit can make text of any value, and text that is not UTF-8 ends the process: columns are read as bytes or numbers.
const NAMED = "place IN (SELECT value FROM json_each(?))";
const INSERT_MESSAGE = "INSERT INTO messages VALUES (?, ?, ?, ?, ?) ON CONFLICT (number, identity) DO NOTHING";
const READ_PLACE = "SELECT CAST(place AS INTEGER) FROM messages WHERE number = ? AND identity = ?";
const WAS_REMOVED = "SELECT 1 FROM removed WHERE number = ? AND identity = ?";
const READ_PLACES = "SELECT CAST(place AS INTEGER) FROM messages WHERE place > ? AND place < ? ORDER BY place";
/** One line for each message in one value, which is read several times as fast as rows. */
const LINES = `SELECT count(*), CAST(group_concat(${roleTable.MESSAGE_LINE}, char(10)) AS BLOB)`;
const READ_PAGE = `${LINES} FROM (SELECT * FROM messages WHERE place > ? AND place < ? ORDER BY place LIMIT ?)`;
const READ_SOME = `${LINES} FROM (SELECT * FROM messages WHERE ${NAMED} ORDER BY place)`;
const READ_VECTORS = `SELECT CAST(place AS INTEGER), CAST(vector AS BLOB), CAST(checksum AS INTEGER)
  FROM vectors WHERE place > ? AND place < ? AND fingerprint = ? ORDER BY place LIMIT ?`;
const WRITE_VECTOR = "INSERT OR REPLACE INTO vectors SELECT place, ?, ?, ? FROM messages WHERE place = ?";
