import { describe, expect, it } from "vitest";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { LongTermMemory } from "../../src/memory/long-term-memory.ts";
import { idsOf, say, storageOver, watched } from "./storage-setup.ts";

function memoryOver(
  store: MessageStore,
  { runId, ...o }: { readonly runId?: string; readonly limit?: number; readonly maxUnsaved?: number } = {},
): LongTermMemory {
  return new LongTermMemory({ storage: storageOver(store, { runId }), ...o });
}

/** A store whose writing can be made to fail. */
function breakable(): MessageStore & { isBroken: boolean; adds: number } {
  const inner = inMemoryStore();
  const store = Object.assign(Object.create(inner) as MessageStore, { isBroken: false, adds: 0 });
  store.add = (role, messages) => {
    store.adds += 1;
    return store.isBroken ? Promise.reject(new Error("disk full")) : inner.add(role, messages);
  };
  for (const name of ["state", "read", "places", "remove", "readVectors", "writeVectors", "clearVectors", "close"] as const) {
    store[name] = inner[name].bind(inner) as never;
  }
  return store;
}

describe("LongTermMemory", () => {
  it("LongTermMemory.P1 is durable when persist has resolved, and comes back", async () => {
    const store = inMemoryStore();
    const memory = memoryOver(store);
    memory.addBatch([say("a"), say("b")]);
    expect(memory.unsaved).toBe(2);
    await memory.persist();
    expect(memory.unsaved).toBe(0);
    const later = memoryOver(store);
    expect((await later.recover()).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(later.findNews([say("a"), say("c")]).map(({ id }) => id)).toEqual(["c"]);
  });

  it("stores what is added in one go in one go, and nothing twice", async () => {
    const store = breakable();
    const memory = memoryOver(store);
    for (let n = 0; n < 500; n++) memory.add(say(`m${n}`));
    await memory.persist();
    expect(store.adds).toBe(1);
    memory.addBatch(memory.get());
    await memory.persist();
    const later = memoryOver(store);
    later.addBatch(await later.recover());
    await later.persist();
    expect(store.adds).toBe(1);
  });

  it("WriteBehind.Q1 keeps what could not be stored, reports it, and stores it later", async () => {
    const store = breakable();
    const told: unknown[] = [];
    const memory = new LongTermMemory({ storage: storageOver(store), onError: (error) => told.push(error) });
    store.isBroken = true;
    const message = say("a");
    memory.add(message);
    await expect(memory.persist()).rejects.toThrow("disk full");
    await expect(memory.close()).rejects.toThrow("disk full");
    expect([memory.unsaved, told.length > 0]).toEqual([1, true]);
    expect(message.metadata).toEqual({});
    store.isBroken = false;
    memory.add(say("b"));
    await memory.close();
    expect((await storageOver(store).recover()).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("an embedder that fails holds up no message: they are stored, and persist reports", async () => {
    const store = inMemoryStore();
    const embedder = watched();
    embedder.before = () => {
      throw new Error("no model");
    };
    const memory = new LongTermMemory({ storage: storageOver(store, { embedder }) });
    memory.addBatch([say("a"), say("b")]);
    await expect(memory.persist()).rejects.toMatchObject({ code: "EMBEDDING_FAILED" });
    expect(memory.unsaved).toBe(0);
    expect((await storageOver(store).recover()).length).toBe(2);
    embedder.before = () => {};
    await memory.persist();
    expect(memory.storage.pending).toBe(0);
  });

  it("LongTermMemory.P5 WriteBehind.Q2 deletes in the storage too, in order", async () => {
    const store = inMemoryStore();
    const memory = memoryOver(store);
    memory.addBatch([say("a"), say("b"), say("c", "old", { timestamp: 5 }), say("d")]);
    expect([memory.delete("a"), memory.delete("nobody")]).toEqual([true, false]);
    memory.add(say("a", "again"));
    expect(memory.deleteNewest()?.id).toBe("a");
    memory.add(say("a", "and again"));
    expect(memory.deleteOlderThan(6)).toBe(1);
    await memory.persist();
    expect((await storageOver(store).recover()).map(({ id, content }) => [id, content])).toEqual([
      ["b", "words of b"],
      ["d", "words of d"],
      ["a", "and again"],
    ]);
    memory.clear();
    memory.add(say("e"));
    await memory.persist();
    expect((await storageOver(store).recover()).map(({ id }) => id)).toEqual(["e"]);
  });

  it("LongTermMemory.P5 what makes room stays in the storage, also after many deletions", async () => {
    const store = inMemoryStore();
    const memory = memoryOver(store, { limit: 100 });
    for (let n = 0; n < 300; n++) memory.add(say(`m${n}`, `the ${n}th thing`));
    for (let n = 210; n < 290; n++) memory.delete(`m${n}`);
    await memory.persist();
    expect([memory.size, memory.storage.size]).toEqual([20, 220]);
    expect(idsOf(await memory.searchSimilar("the 7th thing", { k: 1 }))).toEqual(["m7"]);
    const later = memoryOver(store, { limit: 10 });
    expect((await later.recover()).map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, n) => `m${n + 290}`));
    expect(later.delete("m5")).toBe(true);
    await later.persist();
    expect(later.storage.size).toBe(219);
  });

  it("LongTermMemory.P4 brings back its own run, and finds every run", async () => {
    const store = inMemoryStore();
    const first = memoryOver(store, { runId: "one" });
    first.add(say("a", "green tea"));
    await first.persist();
    const second = memoryOver(store, { runId: "two" });
    expect(await second.recover()).toEqual([]);
    expect(second.findNews([say("a", "black tea")]).length).toBe(1);
    second.add(say("a", "black tea"));
    expect((await second.searchSimilar("tea")).map(({ runId }) => runId).toSorted()).toEqual(["one", "two"]);
    expect(idsOf(await memoryOver(store, { runId: "one" }).searchSimilar("green tea", { k: 1 }))).toEqual(["a"]);
  });

  it("forgets with a recover what another memory has deleted, and stores none of it again", async () => {
    const store = inMemoryStore();
    const [mine, theirs] = [memoryOver(store), memoryOver(store)];
    mine.addBatch([say("a"), say("b")]);
    await mine.persist();
    await theirs.recover();
    theirs.delete("a");
    await theirs.persist();
    expect((await mine.recover()).map(({ id }) => id)).toEqual(["b"]);
    await mine.persist();
    expect((await storageOver(store).recover()).map(({ id }) => id)).toEqual(["b"]);
  });

  it("recovers behind what was added already, and before it in order", async () => {
    const store = inMemoryStore();
    const first = memoryOver(store);
    first.addBatch([say("a"), say("b")]);
    await first.persist();
    const second = memoryOver(store);
    second.addBatch([say("c"), say("a")]);
    expect((await second.recover()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  describe("search, as a hybrid memory (R105)", () => {
    async function library(): Promise<MessageStore> {
      const store = inMemoryStore();
      const old = memoryOver(store, { runId: "old" });
      old.addBatch([say("m1", "the harbour opens at six"), say("m2", "a ferry leaves the harbour"), say("m3", "bread is dear")]);
      await old.close();
      return store;
    }

    it("returns messages in memory first, newest first, then similar ones, best first, and none twice", async () => {
      const memory = memoryOver(await library(), { runId: "new" });
      memory.addBatch([
        say("m1", "which harbour?"),
        say("m2", "no"),
        say("m4", "that harbour over there"),
        say("m5", "harbours, and more harbours"),
      ]);
      const found = await memory.search("harbour");
      const names = found.map(({ runId, message }) => `${runId} ${message.id}`);
      expect([names.slice(0, 3), names.slice(3).toSorted()]).toEqual([
        ["new m5", "new m4", "new m1"],
        ["old m1", "old m2"],
      ]);
      const scores = found.slice(3).map(({ score }) => score ?? 0);
      expect(scores).toEqual(scores.toSorted((one, other) => other - one));
      // Those at hand are told how like they are, where they are like it at all.
      expect(found[1]?.score).toBeGreaterThan(0.2);
      expect(await memory.search("harbour")).toEqual(found);
    });

    it("gives each part k at most, keeps to its filter, and finds nothing for nothing", async () => {
      const memory = memoryOver(await library(), { runId: "new" });
      memory.addBatch([say("x1", "harbour one"), say("x2", "harbour two"), say("x3", "harbour three")]);
      expect((await memory.search("harbour", { k: 1 })).map(({ message }) => message.id)[0]).toBe("x3");
      expect((await memory.search("harbour", { k: 1 })).length).toBe(2);
      expect(await memory.search("harbour", { k: 0 })).toEqual([]);
      expect(await memory.search("  ")).toEqual([]);
      const others = await memory.search("harbour", { filter: (message, runId) => runId === "old" && message.id !== "m2" });
      expect(others.map(({ message }) => message.id)).toEqual(["m1"]);
      await expect(memory.search("harbour", { k: -1 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    });

    it("throws what the embedder does: no half of an answer passes for a whole", async () => {
      const embedder = watched();
      embedder.before = () => {
        throw new Error("no model");
      };
      const memory = new LongTermMemory({ storage: storageOver(inMemoryStore(), { embedder }) });
      memory.add(say("a", "the red door"));
      await expect(memory.search("the red door")).rejects.toMatchObject({ code: "EMBEDDING_FAILED" });
    });
  });
});
