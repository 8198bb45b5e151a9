import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactIndex } from "../../src/memory/exact-index.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import type { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { idsOf, say, storageOver, watched } from "./storage-setup.ts";
import { tries } from "../long.ts";

const DAY = 86_400_000;

describe("keeping", () => {
  it("comes back in another storage over the same store, in order of arrival", async () => {
    const store = inMemoryStore();
    const first = storageOver(store);
    expect(await first.add(say("b"))).toBe(true);
    expect(await first.addBatch([say("c"), say("a"), say("c")])).toBe(2);
    const second = storageOver(store);
    expect((await second.recover()).map(({ id }) => id)).toEqual(["b", "c", "a"]);
    expect([second.size, second.pending]).toEqual([3, 0]);
  });

  it("MemoryStorage.L2 keeps one id of two runs apart, and finds both", async () => {
    const store = inMemoryStore();
    const one = storageOver(store, { runId: "one" });
    const two = storageOver(store, { runId: "two" });
    expect(await one.add(say("a", "the bridge is open"))).toBe(true);
    expect(await two.add(say("a", "the bridge is closed"))).toBe(true);
    expect(await two.add(say("a", "the bridge is gone"))).toBe(false);
    const found = await two.searchSimilar("the bridge");
    expect(found.map(({ runId, message }) => `${runId}: ${message.content}`).toSorted()).toEqual([
      "one: the bridge is open",
      "two: the bridge is closed",
    ]);
    expect((await two.recover({ runId: "two" })).map(({ content }) => content)).toEqual(["the bridge is closed"]);
  });

  it("MemoryStorage.L4 StoredMessages.R1 knows what another process has added and removed", async () => {
    const store = inMemoryStore();
    const [mine, theirs] = [storageOver(store), storageOver(store)];
    await mine.addBatch([say("a", "red apples"), say("b", "red cherries")]);
    await theirs.add(say("c", "red plums"));
    await theirs.delete("a");
    expect(idsOf(await mine.searchSimilar("red")).toSorted()).toEqual(["b", "c"]);
    expect(mine.has("a")).toBe(false);
    expect(await mine.add(say("a", "red apples"))).toBe(true);
    expect(idsOf(await theirs.searchSimilar("apples"))).toEqual(["a"]);
  });

  it("MemoryStorage.L6 ends when it is closed: everything after is refused, everything before is done", async () => {
    const store = inMemoryStore();
    const storage = storageOver(store);
    const adding = storage.add(say("a"));
    await storage.close();
    await storage.close();
    expect(await adding).toBe(true);
    for (const late of [storage.add(say("b")), storage.searchSimilar("a"), storage.recover(), storage.delete("a")]) {
      await expect(late).rejects.toMatchObject({ code: "MEMORY_CLOSED" });
    }
    expect((await storageOver(store).recover()).length).toBe(1);
  });
});

describe("searching", () => {
  it("gives the best first, with similarities: bigger is closer", async () => {
    const storage = storageOver();
    await storage.addBatch([
      say("db", "The database is PostgreSQL with a replica"),
      say("ui", "The page is written with Preact"),
      say("zh", "数据库使用主从复制"),
    ]);
    const found = await storage.searchSimilar("which database do we use: PostgreSQL?", { threshold: -1 });
    expect(found[0]?.message.id).toBe("db");
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(found.every(({ score }) => score >= -1 && score <= 1)).toBe(true);
    expect(idsOf(await storage.searchSimilar("数据库复制"))).toEqual(["zh"]);
  });

  it("honours k, 4 without it", async () => {
    const storage = storageOver();
    await storage.addBatch(Array.from({ length: 9 }, (_, n) => say(`m${n}`, `the same words again, number ${n}`)));
    const query = "the same words again";
    expect((await storage.searchSimilar(query)).length).toBe(4);
    expect((await storage.searchSimilar(query, { k: 7 })).length).toBe(7);
    expect(await storage.searchSimilar(query, { k: 0 })).toEqual([]);
    for (const k of [-1, 1.5, NaN]) await expect(storage.searchSimilar(query, { k })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("leaves out what is less similar than the threshold: of the call, of the storage, of the embedder", async () => {
    const store = inMemoryStore();
    const storage = storageOver(store);
    await storage.addBatch([say("near", "bread and butter"), say("far", "quantum chromodynamics")]);
    expect(idsOf(await storage.searchSimilar("bread and butter"))).toEqual(["near"]);
    expect(idsOf(await storage.searchSimilar("bread and butter", { threshold: -1 })).length).toBe(2);
    expect(idsOf(await storage.searchSimilar("bread", { threshold: 0.99 }))).toEqual([]);
    expect(idsOf(await storageOver(store, { threshold: -1 }).searchSimilar("bread and butter")).length).toBe(2);
    await expect(storage.searchSimilar("bread", { threshold: 2 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("looks only among what the filter accepts, and finds it however far down it is", async () => {
    const storage = storageOver();
    await storage.addBatch(Array.from({ length: 300 }, (_, n) => say(`m${n}`, `words ${n}`, { sentFrom: n === 299 ? "Bob" : "Alice" })));
    const found = await storage.searchSimilar("words 3", { threshold: -1, filter: ({ sentFrom }) => sentFrom === "Bob" });
    expect(idsOf(found)).toEqual(["m299"]);
    await expect(
      storage.searchSimilar("words", {
        filter: () => {
          throw new Error("mine");
        },
      }),
    ).rejects.toThrow("mine");
    expect((await storage.searchSimilar("words 3")).length).toBe(4);
  });

  it.each(["", "   \n", "\u0000", "!!!"])("finds nothing by %j, and keeps it all the same", async (text) => {
    const embedder = watched();
    const storage = storageOver(undefined, { embedder });
    await storage.addBatch([say("empty", text), say("a", "words")]);
    expect(storage.pending).toBe(0);
    expect(await storage.searchSimilar(text)).toEqual([]);
    expect(idsOf(await storage.searchSimilar("words"))).toEqual(["a"]);
    expect((await storage.recover()).length).toBe(2);
    expect(embedder.batches.flat().filter((sent) => sent.trim() === "")).toEqual([]);
  });
});

describe("forgetting", () => {
  it("deletes by id or message, from the store too", async () => {
    const store = inMemoryStore();
    const storage = storageOver(store);
    await storage.addBatch([say("a", "blue whales"), say("b", "blue whales too")]);
    expect([await storage.delete("a"), await storage.delete(say("a")), await storage.delete("nobody")]).toEqual([true, false, false]);
    expect(idsOf(await storage.searchSimilar("blue whales"))).toEqual(["b"]);
    expect((await storageOver(store).recover()).map(({ id }) => id)).toEqual(["b"]);
    await storage.clear();
    expect(await storageOver(store).recover()).toEqual([]);
  });

  it("MemoryStorage.L5 never finds what has expired, and forgets it for good", async () => {
    const store = inMemoryStore();
    const clock = simulatedClock(10 * DAY);
    const storage = storageOver(store, { clock, ttl: DAY });
    await storage.addBatch([say("old", "grey geese", { timestamp: 9.5 * DAY }), say("new", "grey geese", { timestamp: 10 * DAY })]);
    await clock.advance(0.6 * DAY);
    expect(idsOf(await storage.searchSimilar("grey geese"))).toEqual(["new"]);
    expect((await storageOver(store).recover()).map(({ id }) => id)).toEqual(["new"]);
    await clock.advance(DAY);
    expect(await storage.cleanUp()).toBe(1);
    expect(storage.size).toBe(0);
  });

  it("ages what has no date, or one in the future, from when it was stored", async () => {
    const clock = simulatedClock(100 * DAY);
    const storage = storageOver(undefined, { clock });
    await storage.addBatch([say("undated", "a", { timestamp: 0 }), say("future", "b", { timestamp: 900 * DAY })]);
    expect(await storage.deleteOlderThan(99 * DAY)).toBe(0);
    await clock.advance(31 * DAY);
    await storage.add(say("new", "c", { timestamp: clock.now() }));
    expect(await storage.deleteOlderThan(clock.now() - 30 * DAY)).toBe(2);
    expect((await storage.recover()).map(({ id }) => id)).toEqual(["new"]);
    expect(() => storage.deleteOlderThan(NaN)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });

  it("deletes nothing early when the clock has gone back", async () => {
    const store = inMemoryStore();
    await storageOver(store, { clock: simulatedClock(1_000 * DAY) }).add(say("before", "a", { timestamp: 0 }));
    const back = simulatedClock(10 * DAY);
    const storage = storageOver(store, { clock: back, ttl: 30 * DAY });
    await storage.add(say("while", "b", { timestamp: 0 }));
    const mended = storageOver(store, { clock: simulatedClock(1_001 * DAY), ttl: 30 * DAY });
    expect((await mended.recover()).map(({ id }) => id)).toEqual(["before", "while"]);
  });
});

describe("against a plain list", () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant("add" as const), ids: fc.array(fc.nat(12), { maxLength: 4 }) }),
    fc.record({ type: fc.constant("delete" as const), id: fc.nat(12) }),
    fc.record({ type: fc.constant("older" as const), than: fc.nat(14) }),
    fc.record({ type: fc.constant("reopen" as const) }),
    fc.record({ type: fc.constant("rebuild" as const) }),
    fc.record({ type: fc.constant("search" as const), id: fc.nat(12) }),
  );

  it("StoredMessages.R3 holds and finds the same after any changes, by two storages in turn", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const store = inMemoryStore();
        const open = (): MemoryStorage => storageOver(store, { embedder: hashingEmbedder({ dimensions: 64 }), index: exactIndex() });
        let storages = [open(), open()];
        let model: number[] = [];
        const message = (id: number): ReturnType<typeof say> => say(`m${id}`, `text${id} word${id}`, { timestamp: id + 1 });
        for (const [n, one] of steps.entries()) {
          const storage = storages[n % 2] as MemoryStorage;
          if (one.type === "add") {
            const fresh = [...new Set(one.ids)].filter((id) => !model.includes(id));
            expect(await storage.addBatch(one.ids.map(message))).toBe(fresh.length);
            model.push(...fresh);
          } else if (one.type === "delete") {
            expect(await storage.delete(`m${one.id}`)).toBe(model.includes(one.id));
            model = model.filter((id) => id !== one.id);
          } else if (one.type === "older") {
            expect(await storage.deleteOlderThan(one.than)).toBe(model.filter((id) => id + 1 < one.than).length);
            model = model.filter((id) => id + 1 >= one.than);
          } else if (one.type === "rebuild") await storage.rebuild();
          else if (one.type === "reopen") storages = [open(), open()];
          else {
            const found = await storage.searchSimilar(message(one.id), { k: 1, threshold: 0.999 });
            expect(idsOf(found)).toEqual(model.includes(one.id) ? [`m${one.id}`] : []);
          }
        }
        for (const storage of storages) expect((await storage.recover()).map(({ id }) => id)).toEqual(model.map((id) => `m${id}`));
      }),
      { numRuns: tries(20, 240) },
    );
  });
});
