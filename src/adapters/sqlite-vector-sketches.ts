import { crc32 } from "node:zlib";
import type { StoredVector } from "../memory/message-store.ts";
import { type PlacedSketches, Sketcher, type Sketches } from "../memory/vector-sketch.ts";
import { IS_LITTLE } from "./message-rows.ts";
import type { Database } from "./sqlite-database.ts";
import { BLOCK } from "./sqlite-store-rows.ts";

/*
 * The sketches of the vectors of a block are in a row of their own, which is read without the vectors. They follow from the vectors: a row that
 * is missing or damaged is made again.
 */

/** The vectors of a block, by row. @returns undefined where no message of the block can be embedded */
export function sketchesOf(block: number, vectors: readonly StoredVector[]): PlacedSketches | undefined {
  const dimensions = vectors.find(({ vector }) => vector.length > 0)?.vector.length;
  if (dimensions === undefined) return undefined;
  const sketcher = new Sketcher(dimensions);
  const sketches = sketcher.room(BLOCK);
  for (const { place, vector } of vectors) sketcher.write(vector, place - block, sketches);
  return { first: block, dimensions, ...sketches };
}

/** Writes the sketches of a block. */
export function writeSketches(db: Database, block: number, sketches: PlacedSketches | undefined): void {
  if (sketches === undefined || !IS_LITTLE) return removeSketches(db, block);
  const { scales, bits, codes, dimensions } = sketches;
  const bytes = Buffer.concat(
    [scales, bits, codes].map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );
  db.run("INSERT OR REPLACE INTO vector_sketches VALUES (?, ?, ?, ?)", [block, dimensions, bytes, checksumOf(block, dimensions, bytes)]);
}

export function removeSketches(db: Database, first: number, behind: number = first + 1): void {
  db.run("DELETE FROM vector_sketches WHERE block >= ? AND block < ?", [first, behind]);
}

/** SQL of the sketches of a block, in a join with its table `s`. */
export const SKETCH_COLUMNS = "CAST(s.dimensions AS INTEGER), CAST(s.sketch AS BLOB), CAST(s.checksum AS INTEGER)";

/** Decodes the sketches of a block; undefined when they are missing or damaged. */
export function decodeSketches(block: number, [given, bytes, checksum]: readonly unknown[]): PlacedSketches | undefined {
  const dimensions = Number(given);
  if (!(bytes instanceof Uint8Array) || !IS_LITTLE || checksumOf(block, dimensions, bytes) !== Number(checksum)) return undefined;
  const sketches: Sketches = new Sketcher(dimensions).room(BLOCK);
  if (bytes.length !== sketches.scales.byteLength + sketches.bits.byteLength + sketches.codes.byteLength) return undefined;
  let from = 0;
  for (const { buffer, byteLength } of [sketches.scales, sketches.bits, sketches.codes]) {
    new Uint8Array(buffer).set(bytes.subarray(from, from + byteLength));
    from += byteLength;
  }
  return { first: block, dimensions, ...sketches };
}

function checksumOf(block: number, dimensions: number, bytes: Uint8Array): number {
  return crc32(`${block} ${dimensions}`, crc32(bytes));
}
