import type { StoredVector } from "./message-store.ts";
import { SignSketch, squareOf } from "./vector-math.ts";

/*
 * Vectors in a short form. Each number of the unit vector is one byte, the quotient by a common factor, and two bits, signs after rotations.
 * That is about a quarter of the room of the vectors, and enough to find the few that have to be compared exactly.
 */

/** The scale of a message that cannot be embedded. A place without a vector has the scale 0. */
export const BLANK = -1;

const LARGEST = 127;
/** Twice as many bits as numbers: with fewer, vectors without structure are missed. */
const ROTATIONS = 2;

/** The sketches of the vectors at consecutive places. */
export interface Sketches {
  /** The factor of each vector; see {@link BLANK}. */
  readonly scales: Float32Array;
  readonly bits: Int32Array;
  readonly codes: Int8Array;
}

/** Makes sketches of vectors with as many numbers. */
export class Sketcher {
  readonly signs: SignSketch;
  readonly #dimensions: number;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.signs = new SignSketch(dimensions, ROTATIONS);
  }

  /** Returns room for the sketches of `count` places without vectors. */
  room(count: number): Sketches {
    return {
      scales: new Float32Array(count),
      bits: new Int32Array(count * this.signs.words),
      codes: new Int8Array(count * this.#dimensions),
    };
  }

  /** Writes the sketch of a vector. A vector without numbers is blank; one of another length, or of zeros, is left out. */
  write(vector: Float32Array, slot: number, { scales, bits, codes }: Sketches): void {
    if (vector.length === 0) {
      scales[slot] = BLANK;
      return;
    }
    const length = Math.sqrt(squareOf(vector));
    if (vector.length !== this.#dimensions || !(length > 0 && length < Infinity)) return;
    let largest = 0;
    for (const number of vector) largest = Math.max(largest, Math.abs(number));
    const from = slot * this.#dimensions;
    for (let n = 0; n < vector.length; n++) codes[from + n] = Math.round(((vector[n] as number) / largest) * LARGEST);
    scales[slot] = largest / LARGEST / length;
    this.signs.write(vector, 0, bits, slot * this.signs.words);
  }
}

/** Vectors of a store: sketches of consecutive places, and vectors that have none. */
export interface SketchPage {
  readonly sketches: readonly PlacedSketches[];
  readonly vectors: readonly StoredVector[];
}

/** Sketches of the places from `first` on. */
export interface PlacedSketches extends Sketches {
  readonly first: number;
  /** Numbers of each vector. */
  readonly dimensions: number;
}

/** Reads vectors in their short form, and some of them as they are. */
export interface SketchLookup {
  /** Yields what the store has after a place, and sometimes what it has before it. */
  read(roleId: string, fingerprint: string, after: number): AsyncIterable<SketchPage>;
  /** Returns the stored vectors at some places. */
  vectorsAt(roleId: string, fingerprint: string, places: readonly number[]): Promise<readonly StoredVector[]>;
}
