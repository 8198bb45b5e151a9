import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { MemoryError, NotJsonError } from "../kernel/errors.ts";
import { identityOf, type MessageToStore, type StoredMessage, type StoredVector } from "../memory/message-store.ts";
import { MESSAGE_VERSION, settled } from "../message/message.ts";
import { plainFault } from "../runtime/record/plain-json.ts";
import type { Database } from "./sqlite-database.ts";

/*
 * A message as a row, a vector as a row, and back. Each carries a checksum over its place, whose it is and what it says: a row that was
 * changed, or moved to another place, does not fit. The roles' numbers are part of places.
 */

/** Keys that reach for prototypes, or that may when a letter of them is written as a number. */
const SUSPICIOUS = /__proto__|"constructor"|\\u00[2-7]/;
/** The order of bytes in this machine's numbers. */
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** A message ready to be written. */
export interface EncodedMessage {
  /** What (run, id) is looked up by. */
  readonly identity: Buffer;
  readonly body: string;
}

/** @throws NotJsonError when it holds what must not be read again */
export function encodeMessage({ runId, addedAt, message }: MessageToStore): EncodedMessage {
  const body = JSON.stringify({ v: MESSAGE_VERSION, runId, addedAt, message });
  const fault = SUSPICIOUS.test(body) ? plainFault(JSON.parse(body)) : undefined;
  if (fault !== undefined) throw new NotJsonError(`message ${message.id}`, fault);
  return { identity: identityDigest(runId, message.id), body };
}

/** What (run, id) is looked up by. */
export function identityDigest(runId: string, id: string): Buffer {
  return digestOf(identityOf(runId, id));
}

/** The checksum of a message's row. */
export function messageChecksum(row: number, identity: string, body: string): Buffer {
  return digestOf(`${row} ${identity} ${body}`);
}

/** The SQL of a row in one line of text, which is read several times as fast as columns. A body has no line breaks: it is JSON. */
export const MESSAGE_LINE = "lower(hex(checksum)) || ' ' || place || ' ' || lower(hex(identity)) || ' ' || body";
/** Where a checksum ends in such a line, and what it is of begins behind the space. */
const CHECKSUM_END = 32;

/** What was written as a line, or undefined when it is damaged. @throws MemoryError `MEMORY_NEWER` */
export function decodeMessage(line: string, base: number): StoredMessage | undefined {
  const what = line.slice(CHECKSUM_END + 1);
  if (hash("sha256", what, "hex").slice(0, CHECKSUM_END) !== line.slice(0, CHECKSUM_END)) return undefined;
  const rowEnd = what.indexOf(" ");
  const body = what.slice(what.indexOf(" ", rowEnd + 1) + 1);
  const { v, runId, addedAt, message } = JSON.parse(body) as MessageToStore & { readonly v: unknown };
  if (v !== MESSAGE_VERSION) throw newer(v);
  return { place: Number(what.slice(0, rowEnd)) - base, runId, addedAt, message: settled(message) };
}

/** A vector's numbers, little-endian wherever it was written. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 4);
  if (IS_LITTLE) {
    bytes.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
    return bytes;
  }
  const view = new DataView(bytes.buffer);
  for (let n = 0; n < vector.length; n++) view.setFloat32(n * 4, vector[n] as number, true);
  return bytes;
}

/** The checksum of a vector's row: against damage of what can be made again, so 32 bits will do. */
export function vectorChecksum(row: number, fingerprint: string, bytes: Uint8Array | Float32Array): number {
  // The bytes first: of none that came from the library, zlib forgets what was before.
  return crc32(`${row} ${fingerprint}`, crc32(bytes));
}

/** The SQL of many vectors at once, which is read several times as fast as rows: what is known of each, and the bytes of all. */
export const VECTOR_COLUMNS =
  "group_concat(place || ' ' || checksum || ' ' || length(CAST(vector AS BLOB))), CAST(group_concat(CAST(vector AS TEXT), '') AS BLOB)";

/** What was written. Damaged ones are left out. */
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

/** The numbers in some bytes. They are the very same memory where that is possible. */
export function numbersOf(all: Uint8Array, start: number, length: number): Float32Array {
  const from = all.byteOffset + start;
  if (IS_LITTLE && from % 4 === 0) return new Float32Array(all.buffer, from, length / 4);
  // A copy begins at a place where numbers may stand.
  const copy = all.slice(start, start + length);
  const view = new DataView(copy.buffer, copy.byteOffset);
  return Float32Array.from({ length: length / 4 }, (_, n) => view.getFloat32(n * 4, true));
}

/** 128 bits. */
function digestOf(what: string | Uint8Array): Buffer {
  return hash("sha256", what, "buffer").subarray(0, 16);
}

function newer(version: unknown): MemoryError {
  return new MemoryError(
    "MEMORY_NEWER",
    `Expected messages of version ${MESSAGE_VERSION} at most, got ${String(version)}. Update this program to read the store; nothing was changed.`,
  );
}

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
