import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomStream } from "../../src/kernel/random.ts";
import { exactIndex } from "../../src/memory/exact-index.ts";
import { vectorIndexContract } from "../../src/testing/contracts/vector-index.ts";

vectorIndexContract({ describe, it, expect }, "exactIndex", () => exactIndex());

/** Groups of vectors that lie together, as texts about a few subjects do. */
function grouped(count: number, dimensions: number, seed: string): Float32Array[] {
  const random = randomStream("grouped", "centres");
  const centres = Array.from({ length: 40 }, () => Float32Array.from({ length: dimensions }, () => random() - 0.5));
  const noise = randomStream("grouped", seed);
  return Array.from({ length: count }, (_, n) => (centres[n % 40] as Float32Array).map((value) => value + (noise() - 0.5) * 0.6));
}

/** Most numbers of a vector. */
const LONGEST = 65_536;

describe("exactIndex", () => {
  it("ExactIndex.X1 grows and shrinks over the ends of its pieces of memory", async () => {
    const index = exactIndex({ prefilterAbove: 10 });
    const vectors = grouped(2_100, 8, "growing");
    for (const [key, vector] of vectors.entries()) await index.add(key, vector);
    for (let key = 0; key < 2_095; key++) expect(await index.delete(key)).toBe(true);
    expect((await index.search(vectors[2_097] as Float32Array, 1)).map(({ key }) => key)).toEqual([2_097]);
    for (const [key, vector] of vectors.entries()) await index.add(key, vector);
    expect(index.size).toBe(2_100);
    for (const key of [0, 1_023, 1_024, 2_047, 2_048, 2_099]) {
      expect((await index.search(vectors[key] as Float32Array, 1)).map((hit) => hit.key)).toEqual([key]);
    }
  });

  it("ExactIndex.X3 finds with its prefilter what it finds without, nearly always, after deletions too", async () => {
    const exact = exactIndex({ prefilterAbove: Infinity });
    const filtered = exactIndex({ prefilterAbove: 100 });
    const vectors = grouped(12_000, 48, "kept");
    for (const [key, vector] of vectors.entries()) {
      await exact.add(key, vector);
      await filtered.add(key, vector);
    }
    const first = await filtered.search(vectors[0] as Float32Array, 1);
    expect(first.map(({ key }) => key)).toEqual([0]);
    for (let key = 0; key < 12_000; key += 3) {
      await exact.delete(key);
      await filtered.delete(key);
    }
    let agreed = 0;
    for (const query of grouped(50, 48, "asked")) {
      const wanted = new Set((await exact.search(query, 4)).map(({ key }) => key));
      const found = await filtered.search(query, 4);
      expect(found.every(({ key }) => key % 3 !== 0)).toBe(true);
      agreed += found.filter(({ key }) => wanted.has(key)).length;
    }
    expect(agreed / 200).toBeGreaterThanOrEqual(0.97);
  });

  it("finds the same whatever the order in which vectors came", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 3 }), fc.integer({ min: -3, max: 3 })), { maxLength: 40 }),
        async (rows) => {
          const unique = [...new Map(rows.map((row) => [row[0], row]))].map(([, row]) => row);
          const found = async (order: typeof unique): Promise<unknown> => {
            const index = exactIndex();
            for (const [key, x, y] of order) await index.add(key, Float32Array.of(x, y));
            return index.search(Float32Array.of(1, 0.5), 5);
          };
          expect(await found(unique.toReversed())).toEqual(await found(unique));
        },
      ),
    );
  });

  it("refuses a vector of more numbers than it can compare", async () => {
    const index = exactIndex();
    await index.add(1, new Float32Array(LONGEST).fill(1));
    expect((await index.search(new Float32Array(LONGEST).fill(1), 1)).map(({ key }) => key)).toEqual([1]);
    const refused = exactIndex();
    await expect((async () => refused.add(1, new Float32Array(LONGEST + 1).fill(1)))()).rejects.toThrow(
      expect.objectContaining({ code: "EMBEDDING_DIMENSION" }),
    );
    expect(refused.size).toBe(0);
  });

  it("ExactIndex.X2 takes vectors as long as its first one, until it is cleared", async () => {
    const index = exactIndex();
    await index.add(1, Float32Array.of(1, 0));
    const refused = expect.objectContaining({ code: "EMBEDDING_DIMENSION" });
    expect(() => index.add(2, Float32Array.of(1, 0, 0))).toThrow(refused);
    expect(() => index.search(Float32Array.of(1, 0, 0), 1)).toThrow(refused);
    await index.clear();
    await index.add(2, Float32Array.of(1, 0, 0));
    expect(index.size).toBe(1);
  });

  it.each([-1, NaN])("refuses prefilterAbove %s", (prefilterAbove) => {
    expect(() => exactIndex({ prefilterAbove })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it.each([-1, 1.5, NaN])("refuses to look for %s", async (k) => {
    const index = exactIndex();
    await index.add(1, Float32Array.of(1));
    await expect((async () => index.search(Float32Array.of(1), k))()).rejects.toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID" }),
    );
  });
});
