import { stableHash } from "./text-terms.ts";

const BITS_IN_WORD = 32;
/** One of thirty thousand lies further away than so many standard deviations. */
const DEVIATIONS = 4;

/**
 * Reduces a vector to the signs of its numbers, one bit each. Similar vectors differ in few bits, and comparing bits costs a tenth.
 *
 * The vector is rotated first (some signs flipped, then a Walsh-Hadamard transform), because most signs of a sparse vector carry no information.
 * Each further rotation gives as many bits again.
 */
export class SignSketch {
  readonly words: number;
  readonly #size: number;
  /** Of each rotation. */
  readonly #flips: readonly Float64Array[];
  readonly #rotated: Float64Array;

  constructor(dimensions: number, rotations: number = 1) {
    this.#size = Math.max(2 * BITS_IN_WORD, 2 ** Math.ceil(Math.log2(dimensions)));
    this.words = (rotations * this.#size) / BITS_IN_WORD;
    this.#flips = Array.from({ length: rotations }, (_, which) =>
      Float64Array.from({ length: dimensions }, (_number, n) => ((stableHash(String(which * dimensions + n)) & 1) === 0 ? 1 : -1)),
    );
    this.#rotated = new Float64Array(this.#size);
  }

  get bits(): number {
    return this.words * BITS_IN_WORD;
  }

  /**
   * The number of bits in which two vectors of at least this similarity hardly ever differ more: each bit differs with the probability of their
   * angle (Charikar 2002).
   */
  reachOf(similarity: number): number {
    const chance = Math.acos(Math.max(-1, Math.min(1, similarity))) / Math.PI;
    return this.bits * chance + DEVIATIONS * Math.sqrt(this.bits * chance * (1 - chance));
  }

  /** Writes the bits of the vector that starts at `from` to `into` at `at`. */
  write(vector: Float32Array, from: number, into: Int32Array, at: number): void {
    let place = at;
    for (const flips of this.#flips) {
      const rotated = this.#rotated.fill(0);
      for (let n = 0; n < flips.length; n++) rotated[n] = (vector[from + n] as number) * (flips[n] as number);
      transform(rotated);
      for (let word = 0; word < rotated.length / BITS_IN_WORD; word++) {
        let bits = 0;
        // No branch: its direction is random, and a wrong prediction costs more than the transform.
        for (let n = 0; n < BITS_IN_WORD; n++) bits |= Number((rotated[word * BITS_IN_WORD + n] as number) > 0) << n;
        into[place] = bits;
        place += 1;
      }
    }
  }
}

/** The Walsh-Hadamard transform in place. The length is a power of two. Two steps at once read each number half as often. */
function transform(numbers: Float64Array): void {
  const size = numbers.length;
  let half = 1;
  for (; half * 4 <= size; half *= 4) {
    for (let start = 0; start < size; start += 4 * half) {
      for (let n = start; n < start + half; n++) {
        const a = numbers[n] as number;
        const b = numbers[n + half] as number;
        const c = numbers[n + 2 * half] as number;
        const d = numbers[n + 3 * half] as number;
        numbers[n] = a + b + (c + d);
        numbers[n + half] = a - b + (c - d);
        numbers[n + 2 * half] = a + b - (c + d);
        numbers[n + 3 * half] = a - b - (c - d);
      }
    }
  }
  if (half === size) return;
  for (let n = 0; n < half; n++) {
    const a = numbers[n] as number;
    const b = numbers[n + half] as number;
    numbers[n] = a + b;
    numbers[n + half] = a - b;
  }
}

/** Writes the number of differing bits of each row to `into`, and counts the rows of each number. */
export function countDiffering(rows: Int32Array, asked: Int32Array, into: Uint16Array, histogram: Uint32Array): void {
  const words = asked.length;
  for (let row = 0; row < into.length; row++) {
    let count = 0;
    for (let n = 0; n < words; n += 2) {
      const at = row * words + n;
      let x = (rows[at] as number) ^ (asked[n] as number);
      let y = (rows[at + 1] as number) ^ (asked[n + 1] as number);
      x -= (x >>> 1) & 0x55555555;
      y -= (y >>> 1) & 0x55555555;
      x = (x & 0x33333333) + ((x >>> 2) & 0x33333333) + (y & 0x33333333) + ((y >>> 2) & 0x33333333);
      count += Math.imul((x & 0x0f0f0f0f) + ((x >>> 4) & 0x0f0f0f0f), 0x01010101) >>> 24;
    }
    into[row] = count;
    histogram[count] = (histogram[count] as number) + 1;
  }
}

/** Returns at least the `wanted` nearest rows, nearest first, with all rows as near as the last of them. */
export function nearest(distances: Uint16Array, histogram: Uint32Array, wanted: number): Int32Array {
  const places = new Uint32Array(histogram.length);
  let count = histogram[0] as number;
  let furthest = 0;
  while (count < wanted && furthest < histogram.length - 1) {
    places[++furthest] = count;
    count += histogram[furthest] as number;
  }
  const rows = new Int32Array(count);
  for (let row = 0; row < distances.length; row++) {
    const distance = distances[row] as number;
    if (distance <= furthest) rows[(places[distance] as number)++] = row;
  }
  return rows;
}

/** The product of a query with the row that starts at `from`. Four sums, because the processor can add them in parallel. */
export function dotProduct(query: Float32Array, rows: Float32Array, from: number): number {
  const size = query.length;
  const whole = size & ~3;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let n = 0; n < whole; n += 4) {
    a += (query[n] as number) * (rows[from + n] as number);
    b += (query[n + 1] as number) * (rows[from + n + 1] as number);
    c += (query[n + 2] as number) * (rows[from + n + 2] as number);
    d += (query[n + 3] as number) * (rows[from + n + 3] as number);
  }
  for (let n = whole; n < size; n++) a += (query[n] as number) * (rows[from + n] as number);
  return a + b + c + d;
}

/** The square of the length of a vector. */
export function squareOf(vector: Float32Array): number {
  return dotProduct(vector, vector, 0);
}
