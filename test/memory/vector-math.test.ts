import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomStream } from "../../src/kernel/random.ts";
import { stableHash } from "../../src/memory/text-terms.ts";
import { countDiffering, dotProduct, nearest, SignSketch, squareOf } from "../../src/memory/vector-math.ts";

/** How many bits two numbers differ in, told one by one. */
function differing(a: number, b: number): number {
  return Array.from({ length: 32 }, (_, n) => ((a >>> n) & 1) ^ ((b >>> n) & 1)).reduce((sum, bit) => sum + bit, 0);
}

describe("countDiffering", () => {
  it("counts the bits that differ in every row, and the rows of each count", () => {
    const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 9 }), fc.constantFrom(2, 4, 8), (pairs, words) => {
        const rows = Int32Array.from({ length: pairs.length * words }, (_, n) => pairs[Math.floor(n / words)]?.[n % 2] ?? 0);
        const asked = Int32Array.from({ length: words }, (_, n) => Math.imul(n + 1, 0x12345679));
        const counts = new Uint16Array(pairs.length);
        const histogram = new Uint32Array(words * 32 + 1);
        countDiffering(rows, asked, counts, histogram);
        const wanted = pairs.map((pair) => asked.reduce((sum, bits, n) => sum + differing(pair[n % 2] as number, bits), 0));
        expect([...counts]).toEqual(wanted);
        for (const [count, many] of histogram.entries()) expect(many).toBe(wanted.filter((value) => value === count).length);
      }),
    );
  });

  it("counts all of them where every bit differs", () => {
    const counts = new Uint16Array(1);
    countDiffering(new Int32Array(8).fill(-1), new Int32Array(8), counts, new Uint32Array(257));
    expect(counts[0]).toBe(256);
  });
});

describe("nearest", () => {
  it("gives the nearest first, as many as are wanted and all as near as the last", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(8), { minLength: 1, maxLength: 60 }), fc.nat(70), (values, wanted) => {
        const histogram = new Uint32Array(9);
        for (const value of values) histogram[value] = (histogram[value] as number) + 1;
        const rows = [...nearest(Uint16Array.from(values), histogram, wanted)];
        const order = values.map((value, row) => ({ value, row })).toSorted((a, b) => a.value - b.value || a.row - b.row);
        const furthest = order[Math.min(Math.max(wanted, 1), values.length) - 1]?.value ?? 0;
        const least = Math.max(furthest, 0);
        const expected = wanted === 0 ? order.filter(({ value }) => value === 0) : order.filter(({ value }) => value <= least);
        expect(rows).toEqual(expected.map(({ row }) => row));
      }),
    );
  });
});

function isEven(bits: number): boolean {
  let folded = bits ^ (bits >> 8);
  for (const half of [4, 2, 1]) folded ^= folded >> half;
  return (folded & 1) === 0;
}

/** The signs of a vector turned as its definition says: entry (n, m) of a Hadamard matrix is odd or even as the bits that n and m share. */
function turnedSigns(vector: Float32Array, size: number): readonly boolean[] {
  const flipped = vector.map((value, n) => ((stableHash(String(n)) & 1) === 0 ? value : -value));
  return Array.from({ length: size }, (_, n) => flipped.reduce((sum, value, m) => sum + (isEven(n & m) ? value : -value), 0) > 0);
}

describe("SignSketch", () => {
  it.each([1, 64, 100, 128, 256, 300])("has the signs of a turned vector of %i numbers", (dimensions) => {
    const random = randomStream("sketch", "signs");
    const sketch = new SignSketch(dimensions);
    const bits = new Int32Array(sketch.words + 1);
    for (let n = 0; n < 2; n++) {
      // Whole numbers, so that no sum depends on its order; the second is sparse, as hashed texts are.
      const vector = Float32Array.from({ length: dimensions + 2 }, () => (n === 1 && random() < 0.9 ? 0 : Math.floor(random() * 19) - 9));
      sketch.write(vector, 2, bits, 1);
      const told = Array.from({ length: sketch.bits }, (_, at) => (((bits[1 + (at >> 5)] as number) >>> (at & 31)) & 1) === 1);
      expect(told).toEqual(turnedSigns(vector.subarray(2), sketch.bits));
    }
  });

  it("reaches what is as alike as was said, nearly always", () => {
    const random = randomStream("sketch", "pairs");
    const gauss = (): number => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
    const sketch = new SignSketch(256);
    let beyond = 0;
    for (let n = 0; n < 400; n++) {
      const [a, noise] = [Float32Array.from({ length: 256 }, gauss), Float32Array.from({ length: 256 }, gauss)];
      const b = a.map((value, at) => value + (noise[at] as number) * (n % 4));
      const bits = new Int32Array(sketch.words * 2);
      sketch.write(a, 0, bits, 0);
      sketch.write(b, 0, bits, sketch.words);
      const counts = new Uint16Array(1);
      countDiffering(bits.subarray(0, sketch.words), bits.subarray(sketch.words), counts, new Uint32Array(sketch.bits + 1));
      const dot = a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
      const alike = dot / Math.hypot(...a) / Math.hypot(...b);
      if ((counts[0] as number) > sketch.reachOf(alike)) beyond++;
    }
    expect(beyond).toBeLessThanOrEqual(2);
    expect(sketch.reachOf(1)).toBe(0);
    expect(sketch.reachOf(0.9)).toBeLessThan(100);
  });
});

const numbers = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 23 });

function summed(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((sum, value, n) => sum + value * (b[n] as number), 0);
}

describe("dotProduct", () => {
  it("is the sum of all products, whatever the size, and of a row in the middle", () => {
    fc.assert(
      fc.property(numbers, fc.nat(5), (query, before) => {
        const rows = Float32Array.from({ length: query.length * (before + 2) }, (_, n) => ((n * 7) % 11) - 5);
        const from = before * query.length;
        const wanted = summed(query, rows.subarray(from, from + query.length));
        expect(dotProduct(Float32Array.from(query), rows, from)).toBeCloseTo(wanted, 9);
      }),
    );
  });
});

describe("squareOf", () => {
  it("is the product of a vector with itself", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        expect(squareOf(Float32Array.from(values))).toBeCloseTo(summed(values, values), 6);
      }),
    );
  });
});
