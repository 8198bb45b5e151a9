import { randomStream } from "../../kernel/random.ts";
import type { VectorIndex } from "../../memory/exact-index.ts";
import { checkContract, codeOf, type ContractKit } from "./contract-kit.ts";

export type MakeIndex = () => VectorIndex | Promise<VectorIndex>;

/**
 * The contract of every {@link VectorIndex}.
 *
 * VectorIndex.W1 scores are cosine similarities. VectorIndex.W2 the best `k` results come first, equal ones by key. VectorIndex.W3 adding a
 * key again replaces it; a deleted one is gone. VectorIndex.W4 results fulfil the conditions. VectorIndex.W5 zero vectors, invalid numbers
 * and other dimensions are refused. VectorIndex.W6 after `clear` other dimensions are accepted.
 */
export function vectorIndexContract(kit: ContractKit, name: string, make: MakeIndex): void {
  checkContract("vectorIndexContract", kit, name, make);
  const { describe, it, expect } = kit;
  const check = (title: string, body: (index: VectorIndex) => Promise<void>): void => it(title, async () => body(await make()));
  const v = (...numbers: number[]): Float32Array => Float32Array.from(numbers);
  const keys = async (index: VectorIndex, query: Float32Array, k: number): Promise<number[]> =>
    (await index.search(query, k)).map(({ key }) => key);

  describe(`${name} keeps the contract of a vector index`, () => {
    check("VectorIndex.W1 length does not matter, direction does", async (index) => {
      await index.add(1, v(1e-20, 0, 0));
      await index.add(2, v(0, 1e20, 0));
      await index.add(3, v(-5, 0, 0));
      const hits = await index.search(v(3, 0, 0), 3);
      expect(hits.map(({ key, score }) => [key, Math.round(score * 1e5) / 1e5])).toEqual([
        [1, 1],
        [2, 0],
        [3, -1],
      ]);
      expect(hits.every(({ score }) => score >= -1 && score <= 1)).toBe(true);
    });

    check("VectorIndex.W2 equal ones come by key, and as many as asked for", async (index) => {
      for (const key of [7, 3, 5, 1]) await index.add(key, v(1, 1));
      await index.add(9, v(1, 1.1));
      expect(await keys(index, v(1, 1.1), 3)).toEqual([9, 1, 3]);
      expect(await keys(index, v(1, 1), 0)).toEqual([]);
      expect((await keys(index, v(1, 1), 100)).length).toBe(5);
    });

    check("VectorIndex.W2 an empty index finds nothing", async (index) => {
      expect(await keys(index, v(1, 0), 4)).toEqual([]);
    });

    check("VectorIndex.W3 replacing and deleting, over many rounds, agree with a plain map", async (index) => {
      const model = new Map<number, Float32Array>();
      const random = randomStream("index", "contract");
      const vector = (): Float32Array => Float32Array.from({ length: 8 }, () => random() - 0.5);
      for (let n = 0; n < 400; n++) {
        const key = Math.floor(random() * 60);
        if (random() < 0.4) expect(await index.delete(key)).toBe(model.delete(key));
        else {
          const made = vector();
          model.set(key, made);
          await index.add(key, made);
        }
        if (n % 20 !== 0) continue;
        const query = vector();
        const wanted = [...model]
          .map(([one, held]) => ({ key: one, score: cosine(held, query) }))
          .sort((a, b) => b.score - a.score)
          .slice(0, 5);
        const found = await index.search(query, 5);
        expect(found.map((hit) => hit.key)).toEqual(wanted.map((hit) => hit.key));
        expect(found.every((hit, place) => Math.abs(hit.score - (wanted[place]?.score ?? 9)) < 1e-5)).toBe(true);
        expect(index.size).toBe(model.size);
      }
    });

    check("VectorIndex.W4 a search finds accepted keys only", async (index) => {
      for (let key = 0; key < 50; key++) await index.add(key, v(1, key / 50));
      const even = await index.search(v(1, 0), 3, { accept: (key) => key % 2 === 0 && key > 4 });
      expect(even.map(({ key }) => key)).toEqual([6, 8, 10]);
      expect(await index.search(v(1, 0), 3, { accept: () => false })).toEqual([]);
    });

    check("VectorIndex.W5 what is no direction is refused, and nothing changes", async (index) => {
      await index.add(1, v(1, 0));
      expect(await codeOf(() => index.add(1, v(0, 0)))).toBe("EMBEDDING_INVALID");
      expect(await codeOf(() => index.add(2, v(NaN, 1)))).toBe("EMBEDDING_INVALID");
      expect(await codeOf(() => index.add(2, v(Infinity, 1)))).toBe("EMBEDDING_INVALID");
      expect(await codeOf(() => index.add(2, v(1, 0, 0)))).toBe("EMBEDDING_DIMENSION");
      expect(await codeOf(() => index.search(v(1, 0, 0), 1))).toBe("EMBEDDING_DIMENSION");
      expect(await keys(index, v(1, 0), 9)).toEqual([1]);
    });

    check("VectorIndex.W6 a cleared index is empty and takes other dimensions", async (index) => {
      await index.add(1, v(1, 0));
      await index.clear();
      expect(index.size).toBe(0);
      await index.add(2, v(1, 0, 0));
      expect(await keys(index, v(1, 0, 0), 9)).toEqual([2]);
    });
  });
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array): number => x.reduce((sum, value, n) => sum + value * (y[n] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
