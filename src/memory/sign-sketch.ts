import { stableHash } from "./stable-hash.ts";

const BITS_IN_WORD = 32;
/** Beyond so many standard deviations lies one of thirty thousand. */
const DEVIATIONS = 4;

/**
 * A vector as one bit for each number: its sign. Vectors that point the same way differ in few bits, and to compare bits costs a tenth.
 *
 * The vector is turned first (some signs flipped, then a Walsh-Hadamard transform), because of a sparse one most signs would say nothing.
 */
export class SignSketch {
  readonly words: number;
  readonly #size: number;
  readonly #flips: Float64Array;
  readonly #turned: Float64Array;

  constructor(dimensions: number) {
    this.#size = Math.max(2 * BITS_IN_WORD, 2 ** Math.ceil(Math.log2(dimensions)));
    this.words = this.#size / BITS_IN_WORD;
    this.#flips = Float64Array.from({ length: dimensions }, (_, n) => ((stableHash(String(n)) & 1) === 0 ? 1 : -1));
    this.#turned = new Float64Array(this.#size);
  }

  get bits(): number {
    return this.#size;
  }

  /** How many bits differ, hardly ever more, of two vectors that are at least so alike: of each bit the chance is their angle's (Charikar 2002). */
  reachOf(similarity: number): number {
    const chance = Math.acos(Math.max(-1, Math.min(1, similarity))) / Math.PI;
    return this.#size * chance + DEVIATIONS * Math.sqrt(this.#size * chance * (1 - chance));
  }

  /** Writes the bits of the numbers from `from` on into `into` at `at`. */
  write(vector: Float32Array, from: number, into: Int32Array, at: number): void {
    const turned = this.#turned.fill(0);
    for (let n = 0; n < this.#flips.length; n++) turned[n] = (vector[from + n] as number) * (this.#flips[n] as number);
    transform(turned);
    for (let word = 0; word < this.words; word++) {
      let bits = 0;
      // No branch: which way it goes is as good as random, and guessed wrong it costs more than the whole transform.
      for (let n = 0; n < BITS_IN_WORD; n++) bits |= Number((turned[word * BITS_IN_WORD + n] as number) > 0) << n;
      into[at + word] = bits;
    }
  }
}

/** The Walsh-Hadamard transform of a power of two of numbers, in their place. Two steps at once: each number is fetched half as often. */
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

/** Tells of rows of bits how many of each differ from what is asked, and counts the rows of each number. */
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

/** The rows that differ least, so many at least and all that differ as little as the last of them; the nearest first. */
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
