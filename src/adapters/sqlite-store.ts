import { nextMacrotask, systemClock } from "../kernel/clock.ts";
import { MemoryError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type {
  MessageIdentity,
  MessageLookup,
  MessagePage,
  MessageStore,
  MessageToStore,
  RemoveOptions,
  SoughtWord,
  StoredAt,
  StoredVector,
  StoreState,
} from "../memory/message-store.ts";
import type { SketchLookup, SketchPage } from "../memory/vector-sketch.ts";
import { type Database, patiently } from "./sqlite-database.ts";
import { fileError, isBroken } from "./sqlite-errors.ts";
import { filePath, type FileOptions, openFile } from "./sqlite-file.ts";
import {
  gatherMessages,
  messageInBlock,
  messagesAt,
  messageTable,
  removeFromMessageBlocks,
  writeMessageBlocks,
} from "./sqlite-message-blocks.ts";
import { baseOf, madeRole, roleOf, scopesIn, STORE, withoutTraces } from "./sqlite-store-file.ts";
import { decodeMessage, encodeMessage, identityDigest, messageChecksum, SPAN } from "./message-rows.ts";
import { BLOCK, blockOf, type BlockTable, MESSAGE_LINE, nextPage, type RowPage } from "./sqlite-store-rows.ts";
import {
  gatherVectors,
  looseVectors,
  removeFromVectorBlocks,
  renewSketches,
  sketchedBlocks,
  vectorsAt,
  vectorTable,
  writeVectors,
} from "./sqlite-vector-blocks.ts";
import { removeSketches } from "./sqlite-vector-sketches.ts";
import { clearWords, lacksWords, likeliestRows, removeWords, renewWords } from "./sqlite-words.ts";

/** Milliseconds to wait for other processes that write the same file. */
const PATIENCE = 10_000;
/** Most values of one statement. */
const NAMED = 500;

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** The file. It and its folder are created if needed, with `-wal` and `-shm` next to it. */
  readonly path: string;
}

const sqliteStoreOptions: Known<SqliteStoreOptions> = { path: kinds.text };

/**
 * Long-term memories of any number of roles in a SQLite file, over `libsql`, which the first call loads. Several processes may use it at
 * once.
 *
 * SqliteStore.S1 (`add`) a resolved addition is on the disk (write-ahead log, synchronous=FULL). SqliteStore.S2 (`read`) every row is
 * checked when it is read: a message whose copies are all damaged is counted and left out, a damaged vector is made again, and adding a
 * message again repairs its row; only the index of words is not checked (`sqlite-words.ts`). SqliteStore.S3 (`openFile`) files are created
 * with permissions for their owner alone; a file of another program, or of a newer version, is not changed. SqliteStore.S4 (`roleOf`) ids
 * are data: none becomes a path. SqliteStore.S5 (`writeMessageBlocks`) blocks and words are written by the transaction that writes their
 * rows. SqliteStore.S6 (`close`) after it the file is complete without its log, unless another connection reads it at that moment, and the
 * process has no handle of it.
 *
 * A deleted `-wal` file looks like a kill before its commits.
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

/** See {@link sqliteStore}. It owns the connection. */
export class SqliteStore implements MessageStore {
  readonly #where: Omit<FileOptions, "kind">;
  /** The calls under way: storages share a store, and a close by one waits for the calls of the others. */
  readonly #asked = new Set<Promise<unknown>>();
  readonly lookup: MessageLookup = {
    likeliest: (roleId, words, most) => this.#likeliest(roleId, words, most),
    read: (roleId, places) => this.#readAt(roleId, places),
    placesOf: (roleId, identities) => this.#placesOf(roleId, identities),
  };
  readonly sketches: SketchLookup = {
    read: (roleId, fingerprint, after) => this.#readSketches(roleId, fingerprint, after),
    vectorsAt: (roleId, fingerprint, places) =>
      this.#ask((db) => {
        const base = baseOf(db, roleId);
        return base === undefined ? [] : vectorsAt(db, fingerprint, rowsOf(places, base), base);
      }),
  };
  #opened: Promise<Database> | undefined;

  constructor(where: Omit<FileOptions, "kind">) {
    this.#where = where;
  }

  state(roleId: string): Promise<StoreState> {
    return this.#ask((db) => roleOf(db, roleId) ?? { last: 0, removals: 0 });
  }

  async add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]> {
    const rows = messages.map(encodeMessage);
    return this.#change((db) => {
      const { number, last } = roleOf(db, roleId) ?? madeRole(db, roleId);
      const base = number * SPAN;
      const healed: number[] = [];
      let next = last;
      const stored = rows.map(({ identity, body }): StoredAt => {
        const row = base + next + 1;
        const hex = identity.toString("hex");
        const checksum = messageChecksum(row, hex, body);
        const isNew = db.run(INSERT_MESSAGE, [row, number, identity, body, checksum]) === 1;
        if (isNew) return { place: ++next, isNew };
        const held = heldAt(db, number, identity);
        if (held.isWhole) return { place: held.row - base, isNew };
        db.run("UPDATE messages SET body = ?, checksum = ? WHERE place = ?", [body, messageChecksum(held.row, hex, body), held.row]);
        if (held.isInBlock) return { place: held.row - base, isNew };
        healed.push(held.row);
        return { place: held.row - base, isNew: true };
      });
      if (next > last) {
        db.run("UPDATE roles SET last = ?, role = ? WHERE number = ?", [next, JSON.stringify(roleId), number]);
      }
      writeMessageBlocks(db, base + last + 1, base + next);
      for (const row of healed) {
        if (row > base + last) continue;
        clearWords(db, blockOf(row), blockOf(row) + BLOCK);
        writeMessageBlocks(db, row, Math.min(base + next, blockOf(row) + BLOCK - 1));
      }
      return stored;
    });
  }

  async *read(roleId: string, after: number): AsyncGenerator<MessagePage> {
    for await (const { items, count } of this.#pages(roleId, after, messageTable, gatherMessages, lacksWords)) {
      yield { messages: items, damaged: count - items.length };
    }
  }

  places(roleId: string): Promise<readonly number[]> {
    return this.#ask((db) => {
      const base = baseOf(db, roleId);
      return base === undefined ? [] : db.all(READ_PLACES, [base, base + SPAN]).map(([row]) => Number(row) - base);
    });
  }

  remove(roleId: string, places: readonly number[], { mayReturn = false }: RemoveOptions = {}): Promise<number> {
    return this.#change((db) => {
      const base = baseOf(db, roleId);
      if (base === undefined) return 0;
      let removed = 0;
      for (let from = 0; from < places.length; from += NAMED) {
        const rows = places.slice(from, from + NAMED).map((place) => base + place);
        const named = `(${rows.map(() => "?").join()})`;
        if (!mayReturn) db.run(`INSERT OR IGNORE INTO removed SELECT number, identity FROM messages WHERE place IN ${named}`, rows);
        db.run(`DELETE FROM vectors WHERE place IN ${named}`, rows);
        removed += db.run(`DELETE FROM messages WHERE place IN ${named}`, rows);
        removeFromVectorBlocks(db, rows);
        removeFromMessageBlocks(db, rows);
        removeWords(db, rows);
      }
      db.run("UPDATE roles SET removals = removals + ? WHERE number = ?", [removed, base / SPAN]);
      return removed;
    });
  }

  removed(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly boolean[]> {
    return this.#ask((db) => {
      const number = (baseOf(db, roleId) ?? 0) / SPAN;
      return identities.map(({ runId, id }) => db.first(WAS_REMOVED, [number, identityDigest(runId, id)]) !== undefined);
    });
  }

  scopes(): Promise<readonly string[]> {
    return this.#ask(scopesIn);
  }

  async purge(): Promise<void> {
    await this.#change(withoutTraces);
    await this.#ask((db) => db.purge());
  }

  async *readVectors(roleId: string, fingerprint: string, after: number): AsyncGenerator<readonly StoredVector[]> {
    const table = (base: number): BlockTable<StoredVector> => vectorTable(base, fingerprint);
    const gather = (db: Database, first: number, last: number): void => gatherVectors(db, fingerprint, first, last);
    for await (const { items } of this.#pages(roleId, after, table, gather)) yield items;
  }

  writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void> {
    return this.#change((db) => {
      const role = roleOf(db, roleId);
      if (role !== undefined) writeVectors(db, fingerprint, vectors, role.number * SPAN, role.last);
    });
  }

  clearVectors(roleId: string): Promise<void> {
    return this.#change((db) => {
      const base = baseOf(db, roleId);
      if (base === undefined) return;
      db.run("DELETE FROM vectors WHERE place > ? AND place < ?", [base, base + SPAN]);
      db.run("DELETE FROM vector_blocks WHERE block >= ? AND block < ?", [base, base + SPAN]);
      removeSketches(db, base, base + SPAN);
      clearWords(db, base, base + SPAN);
    });
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    // The callers already have the error of a store that could not be opened.
    const db = await opened?.catch(() => undefined);
    await Promise.allSettled(this.#asked);
    try {
      db?.closeWhole();
    } catch (error) {
      throw fileError(STORE, this.#where.file, error);
    }
  }

  async #likeliest(roleId: string, words: readonly SoughtWord[], most: number): Promise<readonly number[] | undefined> {
    const find = (db: Database): readonly number[] | undefined => {
      const role = roleOf(db, roleId);
      if (role === undefined) return [];
      const base = role.number * SPAN;
      return likeliestRows(db, { number: role.number, base, last: base + role.last }, words, most)?.map((row) => row - base);
    };
    try {
      return await this.#ask((db) => db.transaction("DEFERRED", () => find(db)));
    } catch (error) {
      if (!(error instanceof MemoryError && isBroken(error.cause))) throw error;
      await this.#change(renewWords);
      return undefined;
    }
  }

  async *#readSketches(roleId: string, fingerprint: string, after: number): AsyncGenerator<SketchPage> {
    const base = await this.#ask((db) => baseOf(db, roleId));
    if (base === undefined) return;
    for (let from: number | undefined = base + after + 1; from !== undefined; await nextMacrotask()) {
      const first: number = from;
      const page = await this.#ask((db) => db.transaction("DEFERRED", () => sketchedBlocks(db, fingerprint, first, base, base + SPAN)));
      yield page;
      from = page.behind;
      if (page.lacking.length === 0) continue;
      // As for other blocks: a reader does not wait for writers.
      const renew = (db: Database): void => db.transaction("IMMEDIATE", () => renewSketches(db, page.lacking), "the process");
      await this.#ask(renew, 0).catch(() => undefined);
    }
    for (let from = base + after; ; await nextMacrotask()) {
      const first = from;
      const page = await this.#ask((db) => looseVectors(db, fingerprint, first, base, base + SPAN));
      if (page.count === 0) return;
      yield { sketches: [], vectors: page.items };
      from = page.upTo;
    }
  }

  #readAt(roleId: string, places: readonly number[]): Promise<MessagePage> {
    return this.#ask((db) => {
      const base = baseOf(db, roleId);
      if (base === undefined) return { messages: [], damaged: 0 };
      return messagesAt(db, rowsOf(places, base), base);
    });
  }

  #placesOf(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly (number | undefined)[]> {
    return this.#ask((db) => {
      const base = baseOf(db, roleId);
      if (base === undefined) return identities.map(() => undefined);
      return identities.map(({ runId, id }) => {
        const [row] = db.first(READ_PLACE, [base / SPAN, identityDigest(runId, id)]) ?? [];
        return row === undefined ? undefined : Number(row) - base;
      });
    });
  }

  /** Reads the items after a place. Rows that may fill a block are gathered into it, and are read faster the next time. */
  async *#pages<T>(
    roleId: string,
    after: number,
    table: (base: number) => BlockTable<T>,
    gather: (db: Database, first: number, last: number) => void,
    lacks: (db: Database, first: number, last: number) => boolean = () => false,
  ): AsyncGenerator<RowPage<T>> {
    const base = await this.#ask((db) => baseOf(db, roleId));
    if (base === undefined) return;
    const read = table(base);
    let mayGather = true;
    for (let from = base + after; ; await nextMacrotask()) {
      const start = from;
      const page = await this.#ask((db) => nextPage(db, read, start, base + SPAN));
      if (page === undefined) return;
      yield page;
      from = page.upTo;
      if (!mayGather || page.count < BLOCK) continue;
      if (!page.isLoose && !(await this.#ask((db) => lacks(db, start + 1, page.upTo)))) continue;
      // A reader does not wait for writers. A gathering that fails loses nothing, and the next writer gets the error.
      const work = (db: Database): void => gather(db, start + 1, page.upTo);
      mayGather = await this.#ask((db) => db.transaction("IMMEDIATE", () => work(db), "the process"), 0).then(
        () => true,
        () => false,
      );
    }
  }

  #change<T>(work: (db: Database) => T): Promise<T> {
    return this.#ask((db) => db.transaction("IMMEDIATE", () => work(db)));
  }

  #ask<T>(work: (db: Database) => T, patience: number = this.#where.patience): Promise<T> {
    const answer = this.#answered(work, patience);
    this.#asked.add(answer);
    const done = (): void => void this.#asked.delete(answer);
    answer.then(done, done);
    return answer;
  }

  async #answered<T>(work: (db: Database) => T, patience: number): Promise<T> {
    const { file, clock } = this.#where;
    try {
      this.#opened ??= openFile({ ...this.#where, kind: STORE });
      const opened = this.#opened;
      const db = await opened.catch((error: unknown) => {
        // The next call tries again.
        if (this.#opened === opened) this.#opened = undefined;
        throw error;
      });
      return await patiently(() => work(db), clock, patience);
    } catch (error) {
      throw fileError(STORE, file, error);
    }
  }
}

function rowsOf(places: readonly number[], base: number): readonly number[] {
  return places.filter((place) => place > 0 && place < SPAN).map((place) => base + place);
}

const INSERT_MESSAGE = "INSERT INTO messages VALUES (?, ?, ?, ?, ?) ON CONFLICT (number, identity) DO NOTHING";
const READ_PLACE = "SELECT CAST(place AS INTEGER) FROM messages WHERE number = ? AND identity = ?";
const WAS_REMOVED = "SELECT 1 FROM removed WHERE number = ? AND identity = ?";
const READ_PLACES = "SELECT place FROM messages WHERE place > ? AND place < ? ORDER BY place";

/** Finds the row of an identity. `isWhole`: the row can be read; `isInBlock`: the message can be read in its block. */
function heldAt(
  db: Database,
  number: number,
  identity: Buffer,
): { readonly row: number; readonly isWhole: boolean; readonly isInBlock: boolean } {
  const [place, line] =
    db.first(`SELECT place, CAST(${MESSAGE_LINE} AS BLOB) FROM messages WHERE number = ? AND identity = ?`, [number, identity]) ?? [];
  const row = Number(place);
  const isWhole = line instanceof Uint8Array && decodeMessage(Buffer.from(line).toString(), 0) !== undefined;
  const inBlock = isWhole ? undefined : messageInBlock(db, row);
  return { row, isWhole, isInBlock: inBlock !== undefined && identityDigest(inBlock.runId, inBlock.message.id).equals(identity) };
}
