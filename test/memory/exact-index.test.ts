import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactIndex } from "../../src/memory/exact-index.ts";
import { vectorIndexContract } from "../../src/testing/contracts/vector-index.ts";

vectorIndexContract({ describe, it, expect }, "exactIndex", () => exactIndex());

/** Most numbers of a vector. */

describe("exactIndex", () => {
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
});
