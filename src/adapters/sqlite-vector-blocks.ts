import { crc32 } from "node:zlib";
import type { StoredVector } from "../memory/message-store.ts";
import type { PlacedSketches, SketchPage } from "../memory/vector-sketch.ts";
import type { Database, SqlRow } from "./sqlite-database.ts";
import { numbersOf, vectorBytes, vectorChecksum } from "./message-rows.ts";
import {
  BLOCK,
  blockOf,
  type BlockRow,
  type BlockTable,
  byBlock,
  decodeVectors,
  type RowPage,
  VECTOR_COLUMNS,
  rowPage,
} from "./sqlite-store-rows.ts";
import { decodeSketches, removeSketches, SKETCH_COLUMNS, sketchesOf, writeSketches } from "./sqlite-vector-sketches.ts";

/*
 * Vectors have rows of their own until all places of their block are given; then the row of the block holds those of one fingerprint. Each
 * keeps its own checksum there, so that only the damaged vectors of a damaged block are made again. Places are rows here.
 */

/** Rows of a page, as for messages. */
const PAGE = 500;
/** Most bytes of a vector in a block. For longer vectors a block saves little, and every change writes all of them again. */
const LONGEST = 16 * 1024;
/** Bytes about each vector of a block: three integers of 32 bits for its place, its length and its checksum. */
const KNOWN = 12;
/** SQL of the number of vectors in a block's row. */
export const VECTORS_OF_BLOCK: string = `length(known) / ${KNOWN}`;

/** A vector with its row. */
interface KeptVector {
  readonly row: number;
  readonly fingerprint: string;
  readonly bytes: Uint8Array;
}

/** The table of vectors of one role and fingerprint; its places are rows minus `base`. */
export function vectorTable(base: number, fingerprint: string): BlockTable<StoredVector> {
  return {
    blocks: (db, from, end, atMost) =>
      db.all(READ_BLOCKS, [from, end, fingerprint, atMost]).map((row): BlockRow<StoredVector> => {
        const block = Number(row[0]);
        return { block, items: decodeBlock(block, fingerprint, row, base) };
      }),
    rows: (db, after, end) => {
      const [count, last, known, all] = db.first(READ_ROWS, [after, end, fingerprint, PAGE]) ?? [];
      const items = all instanceof Uint8Array ? decodeVectors(String(known), all, fingerprint, base) : [];
      return rowPage(items, { count, last, after });
    },
    rowOf: ({ place }) => base + place,
  };
}

/** Writes vectors of places after `base`, of which `last` is the last one given. Vectors without a message are dropped. */
export function writeVectors(db: Database, fingerprint: string, vectors: readonly StoredVector[], base: number, last: number): void {
  for (const [block, some] of byBlock(vectors, ({ place }) => base + place)) {
    const given = some.map(({ place, vector }): KeptVector => ({ row: base + place, fingerprint, bytes: vectorBytes(vector) }));
    if (block + BLOCK - 1 <= base + last) writeBlock(db, block, fingerprint, given);
    else for (const one of given) writeRow(db, one);
  }
}

/** Blocks whose sketches are read together. */
const SKETCHED = 64;

/** Sketches of some blocks. */
export interface SketchedBlocks extends SketchPage {
  /** The blocks without a good row of sketches. */
  readonly lacking: readonly number[];
  /** The first row behind the blocks; undefined at the end. */
  readonly behind: number | undefined;
}

/** Reads the sketches of the blocks from one row on, or makes them of the vectors; their places are rows minus `base`. */
export function sketchedBlocks(db: Database, fingerprint: string, from: number, base: number, end: number): SketchedBlocks {
  const rows = db.all(READ_SKETCHES, [blockOf(from), end, fingerprint, SKETCHED]);
  const [sketches, lacking, vectors]: [PlacedSketches[], number[], StoredVector[]] = [[], [], []];
  for (const [number, ...row] of rows) {
    const block = Number(number);
    const kept = decodeSketches(block, row);
    if (kept === undefined) lacking.push(block);
    const items = kept === undefined ? inBlock(db, block).map(asStored) : [];
    const some = kept ?? sketchesOf(block, items);
    if (some === undefined) vectors.push(...items.map(({ place, vector }) => ({ place: place - base, vector })));
    else sketches.push({ ...some, first: block - base });
  }
  return { sketches, vectors, lacking, behind: rows.length < SKETCHED ? undefined : Number(rows.at(-1)?.[0]) + BLOCK };
}

/** Writes the sketches of blocks again. */
export function renewSketches(db: Database, blocks: readonly number[]): void {
  for (const block of blocks) writeSketches(db, block, sketchesOf(block, inBlock(db, block).map(asStored)));
}

function asStored({ row, bytes }: KeptVector): StoredVector {
  return { place: row, vector: numbersOf(bytes, 0, bytes.length) };
}

/** Reads vectors that have rows of their own, after one row and before another; their places are rows minus `base`. */
export function looseVectors(db: Database, fingerprint: string, after: number, base: number, end: number): RowPage<StoredVector> {
  return vectorTable(base, fingerprint).rows(db, after, end);
}

/** Reads the vectors of some rows; their places are rows minus `base`. */
export function vectorsAt(db: Database, fingerprint: string, rows: readonly number[], base: number): readonly StoredVector[] {
  const wanted = new Set(rows.map((row) => row - base));
  const blocks = db.all(READ_SOME_BLOCKS, [JSON.stringify([...byBlock(rows, (row) => row).keys()]), fingerprint]);
  const [, , known, all] = db.first(READ_SOME_ROWS, [JSON.stringify(rows), fingerprint]) ?? [];
  return [
    ...blocks.flatMap((row) => decodeBlock(Number(row[0]), fingerprint, row, base)).filter(({ place }) => wanted.has(place)),
    ...(all instanceof Uint8Array ? decodeVectors(String(known), all, fingerprint, base) : []),
  ];
}

/** Moves vectors from rows of their own into their blocks. All places from `first` to `last` were given. */
export function gatherVectors(db: Database, fingerprint: string, first: number, last: number): void {
  for (let block = blockOf(first); block + BLOCK - 1 <= last; block += BLOCK) {
    const [count, longest] = db.first(LOOSE_OF, [block - 1, block + BLOCK, fingerprint]) ?? [];
    if (Number(count) > 0 && Number(longest) <= LONGEST) writeBlock(db, block, fingerprint, []);
  }
}

/** Removes the vectors of removed messages from their blocks. */
export function removeFromVectorBlocks(db: Database, rows: readonly number[]): void {
  for (const block of byBlock(rows, (row) => row).keys()) {
    const [fingerprint] = db.first("SELECT CAST(fingerprint AS BLOB) FROM vector_blocks WHERE block = ?", [block]) ?? [];
    if (fingerprint instanceof Uint8Array) writeBlock(db, block, Buffer.from(fingerprint).toString(), []);
  }
}

/** Writes a block again from its row, from rows of single vectors, and from the given vectors. Vectors without a message are dropped. */
function writeBlock(db: Database, block: number, fingerprint: string, given: readonly KeptVector[]): void {
  const range = [block - 1, block + BLOCK];
  const kept = new Map<number, KeptVector>();
  for (const one of [...inBlock(db, block), ...inRows(db, range), ...given]) kept.set(one.row, one);
  const messages = db.all("SELECT CAST(place AS INTEGER) FROM messages WHERE place > ? AND place < ? ORDER BY place", range);
  const wanted = messages.flatMap(([row]) => kept.get(Number(row)) ?? []);
  db.run("DELETE FROM vectors WHERE place > ? AND place < ?", range);
  db.run("DELETE FROM vector_blocks WHERE block = ?", [block]);
  removeSketches(db, block);
  // All or none: a reader of a block does not look for rows of the same fingerprint.
  const isShort = wanted.every((one) => one.fingerprint !== fingerprint || one.bytes.length <= LONGEST);
  const isTogether = (one: KeptVector): boolean => isShort && one.fingerprint === fingerprint;
  for (const one of wanted) if (!isTogether(one)) writeRow(db, one);
  const together = wanted.filter(isTogether);
  if (together.length === 0) return;
  const known = Buffer.alloc(together.length * KNOWN);
  for (const [n, { row, bytes }] of together.entries()) {
    known.writeUInt32LE(row - block, n * KNOWN);
    known.writeUInt32LE(bytes.length, n * KNOWN + 4);
    known.writeUInt32LE(vectorChecksum(row, fingerprint, bytes), n * KNOWN + 8);
  }
  const all = Buffer.concat(together.map(({ bytes }) => bytes));
  db.run("INSERT INTO vector_blocks VALUES (?, ?, ?, ?, ?)", [
    block,
    fingerprint,
    known,
    all,
    blockChecksum(block, fingerprint, known, all),
  ]);
  writeSketches(db, block, sketchesOf(block, together.map(asStored)));
}

function writeRow(db: Database, { row, fingerprint, bytes }: KeptVector): void {
  db.run(WRITE_ROW, [fingerprint, bytes, vectorChecksum(row, fingerprint, bytes), row]);
}

function inBlock(db: Database, block: number): KeptVector[] {
  const found = db.first(`SELECT ${BLOCK_COLUMNS}, CAST(fingerprint AS BLOB) FROM vector_blocks WHERE block = ?`, [block]);
  if (found === undefined) return [];
  const fingerprint = Buffer.from(found[4] as Uint8Array).toString();
  return decodeBlock(block, fingerprint, found, 0).map(({ place, vector }) => ({ row: place, fingerprint, bytes: vectorBytes(vector) }));
}

function inRows(db: Database, range: readonly number[]): KeptVector[] {
  return db.all(READ_LOOSE, range).flatMap(([row, name, bytes, checksum]) => {
    const one = { row: Number(row), fingerprint: Buffer.from(name as Uint8Array).toString(), bytes: bytes as Uint8Array };
    return vectorChecksum(one.row, one.fingerprint, one.bytes) === Number(checksum) ? [one] : [];
  });
}

/** Decodes a block. Damaged vectors are left out. */
function decodeBlock(block: number, fingerprint: string, [, first, second, checksum]: SqlRow, base: number): StoredVector[] {
  const [known, all] = [first as Uint8Array, second as Uint8Array];
  const isWhole = blockChecksum(block, fingerprint, known, all) === Number(checksum);
  const view = new DataView(known.buffer, known.byteOffset, known.byteLength);
  const vectors: StoredVector[] = [];
  let end = 0;
  for (let at = 0; at + KNOWN <= known.length; at += KNOWN) {
    const row = block + view.getUint32(at, true);
    const start = end;
    end += view.getUint32(at + 4, true);
    if (end > all.length || (end - start) % 4 !== 0) break;
    if (isWhole || vectorChecksum(row, fingerprint, all.subarray(start, end)) === view.getUint32(at + 8, true)) {
      vectors.push({ place: row - base, vector: numbersOf(all, start, end - start) });
    }
  }
  return vectors;
}

/** A damaged block can be made again, so 32 bits suffice. */
function blockChecksum(block: number, fingerprint: string, known: Uint8Array, all: Uint8Array): number {
  // Empty bytes first: zlib drops the earlier checksum for empty bytes that came from the library.
  return crc32(`${block} ${fingerprint}`, crc32(known, crc32(all)));
}

// One flipped bit can make text of any value, and text that is not UTF-8 ends the process: everything is read as bytes.
const READ_ROWS = `SELECT count(*), CAST(max(place) AS INTEGER), ${VECTOR_COLUMNS}
  FROM (SELECT * FROM vectors WHERE place > ? AND place < ? AND fingerprint = ? ORDER BY place LIMIT ?)`;
const LOOSE_OF = "SELECT count(*), max(octet_length(vector)) FROM vectors WHERE place > ? AND place < ? AND fingerprint = ?";
const READ_LOOSE = `SELECT CAST(place AS INTEGER), CAST(fingerprint AS BLOB), CAST(vector AS BLOB), CAST(checksum AS INTEGER)
  FROM vectors WHERE place > ? AND place < ?`;
const BLOCK_COLUMNS = "CAST(block AS INTEGER), CAST(known AS BLOB), CAST(vectors AS BLOB), CAST(checksum AS INTEGER)";
const READ_BLOCKS = `SELECT ${BLOCK_COLUMNS} FROM vector_blocks WHERE block >= ? AND block < ? AND fingerprint = ? ORDER BY block LIMIT ?`;
const READ_SKETCHES = `SELECT CAST(b.block AS INTEGER), ${SKETCH_COLUMNS}
  FROM vector_blocks b LEFT JOIN vector_sketches s ON s.block = b.block WHERE b.block >= ? AND b.block < ? AND b.fingerprint = ? ORDER BY b.block LIMIT ?`;
const READ_SOME_BLOCKS = `SELECT ${BLOCK_COLUMNS} FROM vector_blocks WHERE block IN (SELECT value FROM json_each(?)) AND fingerprint = ?`;
const READ_SOME_ROWS = `SELECT count(*), 0, ${VECTOR_COLUMNS} FROM vectors WHERE place IN (SELECT value FROM json_each(?)) AND fingerprint = ?`;
const WRITE_ROW = "INSERT OR REPLACE INTO vectors SELECT place, ?, ?, ? FROM messages WHERE place = ?";
