import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { MemoryError } from "../kernel/errors.ts";
import { identityOf, type MessageToStore, type StoredMessage, type StoredVector } from "../memory/message-store.ts";
import { MESSAGE_VERSION, frozenMessage } from "../message/message.ts";
import type { Database } from "./sqlite-database.ts";
import { assertPlain } from "./stored-json.ts";

/*
 * Encoding of messages and vectors as rows. A checksum covers the place, the owner and the content of each: a row that was changed, or
 * moved to another place, does not match. The number of a role is part of its places.
 */

/** True when this machine stores numbers with the lowest byte first. */
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The row of a message. */
export interface EncodedMessage {
  /** The digest of (run, id), for lookups. */
  readonly identity: Buffer;
  readonly body: string;
}

/** @throws NotJsonError for a key that names a prototype */
export function encodeMessage({ runId, addedAt, message }: MessageToStore): EncodedMessage {
  const body = JSON.stringify({ v: MESSAGE_VERSION, runId, addedAt, message });
  assertPlain(body, `message ${message.id}`);
  return { identity: identityDigest(runId, message.id), body };
}

/** Returns the digest of (run, id), for lookups. */
export function identityDigest(runId: string, id: string): Buffer {
  return digestOf(identityOf(runId, id));
}

/** Returns the checksum of a message's row. */
export function messageChecksum(row: number, identity: string, body: string): Buffer {
  return digestOf(`${row} ${identity} ${body}`);
}

/** SQL of a row as one line of text, which is read several times as fast as columns. A body is JSON without line breaks. */
export const MESSAGE_LINE = "lower(hex(checksum)) || ' ' || place || ' ' || lower(hex(identity)) || ' ' || body";
/** End of the checksum in such a line. The checked text begins after the next space. */
const CHECKSUM_END = 32;

/** Reads a message from a line; undefined when it is damaged. @throws MemoryError `MEMORY_NEWER` */
export function decodeMessage(line: string, base: number): StoredMessage | undefined {
  const what = line.slice(CHECKSUM_END + 1);
  if (hash("sha256", what, "hex").slice(0, CHECKSUM_END) !== line.slice(0, CHECKSUM_END)) return undefined;
  const rowEnd = what.indexOf(" ");
  const body = what.slice(what.indexOf(" ", rowEnd + 1) + 1);
  const { v, runId, addedAt, message } = JSON.parse(body) as MessageToStore & { readonly v: unknown };
  if (v !== MESSAGE_VERSION) throw newer(v);
  return { place: Number(what.slice(0, rowEnd)) - base, runId, addedAt, message: frozenMessage(message) };
}

/** Returns a vector's numbers as bytes, little-endian on every machine. */
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

/** Returns the checksum of a vector's row. A damaged vector can be made again, so 32 bits suffice. */
export function vectorChecksum(row: number, fingerprint: string, bytes: Uint8Array | Float32Array): number {
  // The bytes first: zlib drops the earlier checksum for empty bytes that came from the library.
  return crc32(`${row} ${fingerprint}`, crc32(bytes));
}

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

/** Reads numbers from bytes, in the same memory if possible. */
export function numbersOf(all: Uint8Array, start: number, length: number): Float32Array {
  const from = all.byteOffset + start;
  if (IS_LITTLE && from % 4 === 0) return new Float32Array(all.buffer, from, length / 4);
  // A copy begins at an address that numbers may have.
  const copy = all.slice(start, start + length);
  const view = new DataView(copy.buffer, copy.byteOffset);
  return Float32Array.from({ length: length / 4 }, (_, n) => view.getFloat32(n * 4, true));
}

/** Returns a digest of 128 bits. */
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
 * Blocks: a block is a fixed range of places. Its items may be together in one row, which is read many times as fast as many rows, or each
 * in a row of its own.
 */

/** Places of a block. A change of one of them writes all of them again. */
export const BLOCK = 64;
/** Places of a role. A row is the role's number times this, plus the place. */
export const SPAN: number = 2 ** 31;
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
