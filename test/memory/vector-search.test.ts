import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { fingerprintOf, hashingEmbedder } from "../../src/memory/embedder.ts";
import { exactIndex } from "../../src/memory/exact-index.ts";
import { inMemoryStore, type MessageStore, type NearVector, type VectorLookup } from "../../src/memory/message-store.ts";
import { messageStoreContract } from "../../src/testing/contracts/message-store.ts";
import { idsOf, say, storageOver } from "./storage-setup.ts";

/** A store in memory that finds the nearest vectors itself. */
function nearStore(isAvailable: () => boolean = () => true): MessageStore & { readonly nearest: VectorLookup } {
  const store = inMemoryStore();
  const held = async (roleId: string, fingerprint: string): Promise<Map<number, Float32Array>> => {
    const vectors = new Map<number, Float32Array>();
    for await (const page of store.readVectors(roleId, fingerprint, 0)) for (const { place, vector } of page) vectors.set(place, vector);
    return vectors;
  };
  const nearest: VectorLookup = {
    isAvailable: async () => isAvailable(),
    count: async (roleId, fingerprint) => [...(await held(roleId, fingerprint)).values()].filter(({ length }) => length > 0).length,
    async *places(roleId, fingerprint, after) {
      const vectors = [...(await held(roleId, fingerprint))].filter(([place]) => place > after);
      yield vectors.map(([place, { length }]) => ({ place, dimensions: length }));
    },
    search: async (roleId, fingerprint, query, k, o) => {
      const index = exactIndex();
      for (const [place, vector] of await held(roleId, fingerprint)) if (vector.length === query.length) await index.add(place, vector);
      return (await index.search(query, k, o)).map(({ key, score }): NearVector => ({ place: key, score }));
    },
  };
  return Object.assign(store, { nearest });
}

messageStoreContract({ describe, it, expect }, "a store with nearest", () => nearStore());

describe("a memory over a store that finds the nearest vectors", () => {
  const words = fc.array(fc.constantFrom("ferry", "bridge", "stone", "wood", "nine"), { maxLength: 4 }).map((some) => some.join(" "));

  it("StoreIndex.I1 StoreIndex.I2 VectorSearch.P1 finds what a memory with an exact index finds", async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ content: words }) },
      { weight: 1, arbitrary: fc.record({ remove: fc.nat(20) }) },
      { weight: 2, arbitrary: fc.record({ asked: words, k: fc.nat(5), odd: fc.boolean() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const near = storageOver(nearStore(), { threshold: -1 });
        const exact = storageOver(inMemoryStore(), { threshold: -1 });
        for (const [n, one] of steps.entries()) {
          if ("content" in one) for (const storage of [near, exact]) await storage.add(say(`m${n}`, one.content));
          else if ("remove" in one) for (const storage of [near, exact]) await storage.delete(`m${one.remove}`);
          else {
            const o = { k: one.k, ...(one.odd ? { filter: ({ id }: { readonly id: string }) => Number(id.slice(1)) % 2 === 1 } : {}) };
            expect(await near.searchSimilar(one.asked, o)).toEqual(await exact.searchSimilar(one.asked, o));
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it("VectorSearch.P1 the index is chosen once: the user's, else the store's where it is available", async () => {
    let isThere = false;
    let asked = 0;
    const store = nearStore(() => {
      asked += 1;
      return isThere;
    });
    const read = vi.spyOn(store, "readVectors");
    const first = storageOver(store);
    await first.addBatch([say("a"), say("b")]);
    isThere = true;
    expect(idsOf(await first.searchSimilar("words of a", { k: 1 }))).toEqual(["a"]);
    expect(asked).toBe(1);
    const index = exactIndex();
    expect(idsOf(await storageOver(store, { index }).searchSimilar("words of a", { k: 1 }))).toEqual(["a"]);
    expect([index.size, asked, read.mock.calls.length > 0]).toEqual([2, 1, true]);
  });

  it("StoreIndex.I3 vectors that the store has lost are computed again", async () => {
    const store = nearStore();
    const storage = storageOver(store);
    await storage.addBatch([say("a"), say("b"), say("blank", " ")]);
    await store.clearVectors("role");
    await storage.persist();
    expect([await store.nearest.count("role", fingerprintOf(hashingEmbedder())), storage.pending]).toEqual([2, 0]);
    await store.clearVectors("role");
    expect(idsOf(await storage.searchSimilar("words of b", { k: 1 }))).toEqual(["b"]);
  });
});
