import { expect, it } from "vitest";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { ShardedStorage } from "../../src/memory/sharded-storage.ts";
import { tries } from "../long.ts";
import { idsOf, say } from "./storage-setup.ts";

const COUNT = tries(20_000, 100_000);
const SHARDS = 10;

it(
  "R108 keeps all of very many messages over ten shards, searches them as one, and deletes the old ones",
  { tags: ["numbers", "long"] },
  async () => {
    const store = inMemoryStore();
    const embedder = hashingEmbedder({ dimensions: 16 });
    const shards = Array.from({ length: SHARDS }, (_, n) => new MemoryStorage({ roleId: `shard ${n}`, store, embedder }));
    const sharded = new ShardedStorage({ shards });
    const messages = Array.from({ length: COUNT }, (_, n) => say(`m${n}`, `number ${n}`, { timestamp: 1 + n }));
    expect(await sharded.addBatch(messages)).toBe(COUNT);
    expect(sharded.size).toBe(COUNT);
    // None has far more than its part.
    expect(Math.max(...shards.map(({ size }) => size))).toBeLessThan((COUNT / SHARDS) * 1.1);
    expect(idsOf(await sharded.searchSimilar(messages[17_777] ?? "", { k: 1, threshold: 0.99 }))).toEqual(["m17777"]);
    expect(await sharded.deleteOlderThan(1 + COUNT / 2)).toBe(COUNT / 2);
    expect(sharded.size).toBe(COUNT / 2);
    expect(idsOf(await sharded.searchSimilar("number 7", { k: 3, threshold: -1 })).every((id) => Number(id.slice(1)) >= COUNT / 2)).toBe(
      true,
    );
  },
);
