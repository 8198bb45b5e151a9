import { stableHash } from "./stable-hash.ts";

const BITS_IN_WORD = 32;

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
    this.#size = Math.max(BITS_IN_WORD, 2 ** Math.ceil(Math.log2(dimensions)));
    this.words = this.#size / BITS_IN_WORD;
    this.#flips = Float64Array.from({ length: dimensions }, (_, n) => ((stableHash(String(n)) & 1) === 0 ? 1 : -1));
    this.#turned = new Float64Array(this.#size);
  }

  /** Writes the bits of the numbers from `from` on into `into` at `at`. */
  write(vector: Float32Array, from: number, into: Uint32Array, at: number): void {
    const turned = this.#turned.fill(0);
    for (let n = 0; n < this.#flips.length; n++) turned[n] = (vector[from + n] as number) * (this.#flips[n] as number);
    for (let half = 1; half < this.#size; half *= 2) {
      for (let start = 0; start < this.#size; start += 2 * half) {
        for (let n = start; n < start + half; n++) {
          const [a, b] = [turned[n] as number, turned[n + half] as number];
          turned[n] = a + b;
          turned[n + half] = a - b;
        }
      }
    }
    for (let word = 0; word < this.words; word++) {
      let bits = 0;
      for (let n = 0; n < BITS_IN_WORD; n++) if ((turned[word * BITS_IN_WORD + n] as number) > 0) bits |= 1 << n;
      into[at + word] = bits;
    }
  }
}

/** How many bits of two stretches of words differ. */
export function differingBits(a: Uint32Array, from: number, b: Uint32Array, words: number): number {
  let count = 0;
  for (let n = 0; n < words; n++) {
    let x = (a[from + n] as number) ^ (b[n] as number);
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    count += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}
