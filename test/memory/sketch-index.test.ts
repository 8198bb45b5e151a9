import { describe, expect, it } from "vitest";
import { exactIndex } from "../../src/memory/exact-index.ts";
import { SketchIndex } from "../../src/memory/sketch-index.ts";
import { Sketcher } from "../../src/memory/vector-sketch.ts";
import { randomStream } from "../../src/kernel/random.ts";

const DIMENSIONS = 64;

function randomVectors(count: number, name: string): Float32Array[] {
  const random = randomStream("sketches", name);
  const gauss = (): number => random() + random() + random() + random() - 2;
  return Array.from({ length: count }, () => Float32Array.from({ length: DIMENSIONS }, gauss));
}

/** An index over vectors by place, from 1 on, and the places that it read. */
function indexOver(vectors: readonly Float32Array[], compared?: number): { readonly index: SketchIndex; readonly read: number[] } {
  const read: number[] = [];
  const index = new SketchIndex((places) => {
    read.push(...places);
    return Promise.resolve(places.flatMap((place) => ({ place, vector: vectors[place - 1] ?? new Float32Array(0) })));
  }, compared);
  for (const [n, vector] of vectors.entries()) index.add(n + 1, vector);
  return { index, read };
}

function exactOver(vectors: readonly Float32Array[]): ReturnType<typeof exactIndex> {
  const index = exactIndex({ prefilterAbove: Infinity });
  for (const [n, vector] of vectors.entries()) void index.add(n + 1, vector);
  return index;
}

describe("an index of sketches", () => {
  it.each([
    ["all vectors are compared", undefined, 1],
    ["the signs choose half of them", 2_000, 0.99],
  ])("SketchIndex.K1 SketchIndex.K2 finds what an exact one finds, and reads few vectors: %s", async (_how, compared, least) => {
    const vectors = randomVectors(4_000, "kept");
    const [{ index, read }, exact] = [indexOver(vectors, compared), exactOver(vectors)];
    let hits = 0;
    const queries = randomVectors(50, "asked");
    for (const query of queries) {
      const [found, wanted] = [await index.search(query, 4), await exact.search(query, 4)];
      const scores = new Map(wanted.map(({ key, score }) => [key, score]));
      for (const { key, score } of found) {
        if (scores.has(key)) hits += 1;
        expect(score).toBeCloseTo(scores.get(key) ?? score, 6);
      }
    }
    expect(hits / (4 * queries.length)).toBeGreaterThanOrEqual(least);
    expect(read.length).toBe(32 * queries.length);
  });

  it("finds among some places, and by a condition, exactly", async () => {
    const vectors = randomVectors(3_000, "kept");
    const [{ index }, exact] = [indexOver(vectors), exactOver(vectors)];
    const [query = new Float32Array(0)] = randomVectors(1, "asked");
    const among = new Set([5, 77, 2_999, 9_999]);
    const keys = (hits: readonly { readonly key: number }[]): readonly number[] => hits.map(({ key }) => key);
    expect(keys(await index.search(query, 3, { among }))).toEqual(keys(await exact.search(query, 3, { among })));
    const accept = (key: number): boolean => key % 7 === 0;
    expect(keys(await index.search(query, 5, { accept }))).toEqual(keys(await exact.search(query, 5, { accept })));
    expect(await index.search(new Float32Array(DIMENSIONS), 3)).toEqual([]);
    expect(await index.search(query, 0)).toEqual([]);
  });

  it("SketchIndex.K3 SketchIndex.K4 counts each place once, whether added by itself or with others, and finds no blank one", async () => {
    const { index } = indexOver([]);
    index.add(3, new Float32Array(0));
    expect([index.size, index.known, index.dimensions, index.has(3)]).toEqual([0, 1, 0, true]);
    const vectors = randomVectors(64, "some");
    const sketches = new Sketcher(DIMENSIONS).room(64);
    for (const [slot, vector] of vectors.entries()) if (slot > 9) new Sketcher(DIMENSIONS).write(vector, slot, sketches);
    index.addSketches({ first: 64, dimensions: DIMENSIONS, ...sketches });
    index.addSketches({ first: 64, dimensions: DIMENSIONS, ...sketches });
    index.add(70, vectors[6] as Float32Array);
    index.add(100, vectors[36] as Float32Array);
    expect([index.size, index.known, index.dimensions, index.has(3), index.has(65)]).toEqual([55, 56, DIMENSIONS, true, false]);
    index.addSketches({ first: 128, dimensions: 8, ...new Sketcher(8).room(64) });
    expect(index.known).toBe(56);
    expect([index.delete(100), index.delete(100), index.delete(3)]).toEqual([true, false, true]);
    index.keepOnly(new Set([70, 74]));
    expect([index.size, index.known]).toEqual([2, 2]);
    expect((await index.search(vectors[6] as Float32Array, 4)).map(({ key }) => key).toSorted((a, b) => a - b)).toEqual([70, 74]);
    index.clear();
    expect([index.size, index.known, index.dimensions]).toEqual([0, 0, 0]);
  });
});
