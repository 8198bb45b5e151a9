import type { StoredVector } from "../memory/message-store.ts";
import { IS_LITTLE, numbersOf, vectorChecksum } from "./message-rows.ts";
import type { Database } from "./sqlite-database.ts";

/*
 * SQL that reads many messages and vectors at once, and their blocks. Their encoding is in `message-rows.ts`.
 */

/** SQL of a row as one line of text, which is read several times as fast as columns. A body is JSON without line breaks. */
export const MESSAGE_LINE = "lower(hex(checksum)) || ' ' || place || ' ' || lower(hex(identity)) || ' ' || body";
/** SQL of many vectors in one row, which is read several times as fast as rows: a line about each, and the bytes of all. */
export const VECTOR_COLUMNS =
  "group_concat(place || ' ' || checksum || ' ' || length(CAST(vector AS BLOB))), CAST(group_concat(CAST(vector AS TEXT), '') AS BLOB)";

/** Reads vectors. Damaged ones are left out. */
export function decodeVectors(known: string, all: Uint8Array, fingerprint: string, base: number): StoredVector[] {
  const vectors: StoredVector[] = [];
  let end = 0;
  for (const line of known.split(",")) {
    const [row = 0, checksum, length = 0] = line.split(" ").map(Number);
    const start = end;
    end += length;
    if (length % 4 !== 0 || end > all.length) continue;
    const vector = numbersOf(all, start, length);
    const bytes = IS_LITTLE ? vector : all.subarray(start, end);
    if (vectorChecksum(row, fingerprint, bytes) === checksum) vectors.push({ place: row - base, vector });
  }
  return vectors;
}

/*
 * Blocks: a block is a fixed range of places. Its items may be together in one row, which is read many times as fast as many rows, or each
 * in a row of its own.
 */

/** Places of a block. A change of one of them writes all of them again. */
export const BLOCK = 64;
/** Blocks of a page: other work runs between two pages. Larger pages do not fit into the processor's cache. */
const BLOCKS_IN_PAGE = 8;

/** Returns the first place of the block of a place. */
export function blockOf(row: number): number {
  return row - (row % BLOCK);
}

/** Groups items by their block, in the order of the blocks. */
export function byBlock<T>(items: readonly T[], rowOf: (item: T) => number): ReadonlyMap<number, readonly T[]> {
  const blocks = new Map<number, T[]>();
  for (const item of items) {
    const block = blockOf(rowOf(item));
    const some = blocks.get(block);
    if (some === undefined) blocks.set(block, [item]);
    else some.push(item);
  }
  return new Map([...blocks].sort(([a], [b]) => a - b));
}

/** The row of a block. */
export interface BlockRow<T> {
  readonly block: number;
  /** In order; undefined when the row is damaged, and its items have rows of their own. */
  readonly items: readonly T[] | undefined;
}

/** Items that follow a place. */
export interface RowPage<T> {
  readonly items: readonly T[];
  /** The number of rows, damaged ones included. */
  readonly count: number;
  /** The place of the last row. */
  readonly upTo: number;
}

/** A table of items in blocks and in rows of their own. */
export interface BlockTable<T> {
  /** Reads at most `atMost` blocks, from one on, in order. */
  blocks(db: Database, from: number, end: number, atMost: number): readonly BlockRow<T>[];
  /** Reads items that have rows of their own, after one place and before another. */
  rows(db: Database, after: number, end: number): RowPage<T>;
  rowOf(item: T): number;
}

/** Returns a page of rows behind `after`. @throws an error as of SQLite when they are out of order, because reading on would never end */
export function rowPage<T>(items: readonly T[], { count, last, after }: { count: unknown; last: unknown; after: number }): RowPage<T> {
  const page = { items, count: Number(count), upTo: Number(last) };
  if (page.count === 0 || page.upTo > after) return page;
  throw Object.assign(new Error("rows of a table are out of order"), { code: "SQLITE_CORRUPT" });
}

/** The next items; `isLoose` when they have rows of their own. */
export type NextPage<T> = RowPage<T> & { readonly isLoose: boolean };

/** Reads the next items after a place in one transaction, because others may move rows into blocks. Undefined at the end. */
export function nextPage<T>(db: Database, table: BlockTable<T>, after: number, end: number): NextPage<T> | undefined {
  return db.transaction("DEFERRED", () => pageBehind(db, table, after, end));
}

function pageBehind<T>(db: Database, table: BlockTable<T>, after: number, end: number): NextPage<T> | undefined {
  for (let from = after; from < end - 1;) {
    const [first, ...others] = table.blocks(db, blockOf(from + 1), end, BLOCKS_IN_PAGE);
    const isNext = first !== undefined && first.block <= from + 1;
    if (isNext && first.items !== undefined) return { ...together(table, first.block, [first, ...others], from), isLoose: false };
    const until = isNext ? first.block + BLOCK : (first?.block ?? end);
    const page = table.rows(db, from, until);
    if (page.count > 0) return { ...page, isLoose: true };
    from = until - 1;
  }
  return undefined;
}

/** Joins blocks that follow each other without a gap. */
function together<T>(table: BlockTable<T>, first: number, blocks: readonly BlockRow<T>[], after: number): RowPage<T> {
  const all: T[] = [];
  let next = first;
  for (const { block, items } of blocks) {
    if (block !== next || items === undefined) break;
    for (const item of items) if (table.rowOf(item) > after) all.push(item);
    next += BLOCK;
  }
  return { items: all, count: all.length, upTo: next - 1 };
}
