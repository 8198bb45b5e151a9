import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { ShardedStorage, shardOf } from "../../src/memory/sharded-storage.ts";
import { idsOf, say, storageOver } from "./storage-setup.ts";
import { tries } from "../long.ts";

const messages = Array.from({ length: 60 }, (_, n) => say(`m${n}`, `subject ${n % 7} detail ${n}`));

function sharded(stores: readonly MessageStore[]): ShardedStorage {
  return new ShardedStorage({ shards: stores.map((store) => storageOver(store)) });
}

function storesOf(count: number): MessageStore[] {
  return Array.from({ length: count }, () => inMemoryStore());
}

describe("ShardedStorage", () => {
  it("finds what one storage finds, in one ranking", async () => {
    const one = storageOver();
    const many = sharded(storesOf(5));
    await one.addBatch(messages);
    expect(await many.addBatch(messages)).toBe(60);
    for (const query of ["subject 3 detail 10", "detail 59", "subject"]) {
      const wanted = await one.searchSimilar(query, { k: 6, threshold: -1 });
      const found = await many.searchSimilar(query, { k: 6, threshold: -1 });
      expect(found.map(({ score }) => score)).toEqual(wanted.map(({ score }) => score));
      expect(found[0]?.message.id).toBe(wanted[0]?.message.id);
    }
    expect((await many.searchSimilar("detail")).length).toBe(4);
  });

  it("gives the same shard in every process, and spreads", () => {
    expect(messages.slice(0, 12).map(({ id }) => shardOf("run", id, 4))).toMatchSnapshot();
    expect(new Set(messages.map(({ id }) => shardOf("", id, 10))).size).toBe(10);
  });

  it("ShardedStorage.H2 finds, deletes by age and moves a message that is in another shard or in two", async () => {
    const stores = storesOf(2);
    const many = sharded(stores);
    const wrong = (id: string): MessageStore => stores[1 - shardOf("", id, 2)] as MessageStore;
    for (const n of [1, 2, 3]) await storageOver(wrong(`old${n}`)).add(say(`old${n}`, "old", { timestamp: n }));
    await storageOver(wrong("new")).add(say("new", "new", { timestamp: 50 }));
    await many.add(say("old1", "old", { timestamp: 1 }));
    expect(await many.deleteOlderThan(3)).toBe(3);
    expect([many.has("old1"), many.has("old3"), many.has("new"), many.size]).toEqual([false, true, true, 2]);
    expect((await many.recover()).map(({ id }) => id)).toEqual(["old3", "new"]);
    expect([await many.deleteOlderThan(10), many.size]).toEqual([1, 1]);
  });

  it(
    "ShardedStorage.H1 ShardedStorage.H3 reshards to a larger number, and loses, doubles and disorders nothing",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 3 }), async (before, more) => {
          const after = before + more;
          const stores = storesOf(after);
          const first = sharded(stores.slice(0, before));
          for (const message of messages.slice(0, 20)) await first.add(message);
          const second = sharded(stores);
          expect((await second.recover()).map(({ id }) => id)).toEqual(messages.slice(0, 20).map(({ id }) => id));
          expect(second.size).toBe(20);
          expect(idsOf(await second.searchSimilar(messages[13] ?? "", { k: 1 }))).toEqual(["m13"]);
          for (const [which, store] of stores.entries()) {
            const held = await storageOver(store).recover();
            expect(held.every(({ id }) => shardOf("", id, after) === which)).toBe(true);
          }
        }),
        { numRuns: tries(10, 80) },
      );
    },
  );

  it("ShardedStorage.H2 interrupted between storing and removing, finds a message once, and continues", async () => {
    const stores = storesOf(2);
    await sharded(stores.slice(0, 1)).addBatch(messages);
    const [old] = stores as [MessageStore];
    const { remove } = old;
    old.remove = () => Promise.reject(new Error("killed"));
    await expect(sharded(stores).recover()).rejects.toThrow("killed");
    const found = await sharded(stores).searchSimilar("subject 1", { k: 60, threshold: -1 });
    expect(new Set(idsOf(found)).size).toBe(found.length);
    old.remove = remove.bind(old);
    const mended = sharded(stores);
    expect((await mended.recover()).map(({ id }) => id).toSorted()).toEqual(messages.map(({ id }) => id).toSorted());
    expect(mended.size).toBe(60);
  });
});
