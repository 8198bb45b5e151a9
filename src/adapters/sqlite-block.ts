import type { Database } from "./sqlite-database.ts";

/*
 * Places that stand together in one row, because a row of many is read many times as fast as many rows. A block is a range of places, the
 * same for everybody: what is in it may stand in its row, each in a row of its own, or nowhere.
 */

/** Places of a block. A change to one of them writes all of them again. */
export const BLOCK = 64;
/** Places a role can have; a row is its role's number times this, and the place. */
export const SPAN: number = 2 ** 31;
/** Blocks read at once: between two pages others get their turn. Larger pages leave the processor's cache. */
const BLOCKS_IN_PAGE = 8;

/** The first place of the block that a place is in. */
export function blockOf(row: number): number {
  return row - (row % BLOCK);
}

/** What is in each block, in order of the blocks. */
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

/** The block's row, read. */
export interface BlockRow<T> {
  readonly block: number;
  /** In order; undefined when the row is damaged, and what was in it has rows of its own. */
  readonly items: readonly T[] | undefined;
}

/** What follows a place, read. */
export interface RowPage<T> {
  readonly items: readonly T[];
  /** Of how many rows. */
  readonly count: number;
  /** The place of the last one. */
  readonly upTo: number;
}

/** Things that stand in blocks and in rows of their own. */
export interface BlockTable<T> {
  /** The rows of blocks from one on, in order, so many at most. */
  blocks(db: Database, from: number, end: number, atMost: number): readonly BlockRow<T>[];
  /** Some of what stands in rows of its own behind one place and before another. */
  rows(db: Database, after: number, end: number): RowPage<T>;
  rowOf(item: T): number;
}

/** What comes next, and whether it stood in rows of its own. */
export type NextPage<T> = RowPage<T> & { readonly isLoose: boolean };

/** What comes next behind a place, as it is at one moment: somebody may put rows into their block meanwhile. Undefined when nothing does. */
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

/** What stands in blocks that follow each other without a gap. */
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
