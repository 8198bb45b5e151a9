import { describe, expect, it } from "vitest";
import { QueueFullError } from "../../src/kernel/errors.ts";
import { inMemoryStore } from "../../src/memory/in-memory-store.ts";
import { LongTermMemory } from "../../src/memory/long-term-memory.ts";
import type { MessageStore } from "../../src/memory/message-store.ts";
import { idsOf, say, storageOver, watched } from "./storage-setup.ts";

function memoryOver(
  store: MessageStore,
  o: { readonly runId?: string; readonly limit?: number; readonly maxUnsaved?: number } = {},
): LongTermMemory {
  return new LongTermMemory({ storage: storageOver(store, { runId: o.runId }), ...o });
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
  it("answers as a memory does", () => {
    const memory = memoryOver(inMemoryStore());
    expect(memory.addBatch([say("a"), say("b", "other words", { causeBy: "Plan", role: "assistant" }), say("a")])).toBe(2);
    expect([memory.add(say("b")), memory.size, memory.has("a")]).toEqual([false, 2, true]);
    expect(memory.get(1).map(({ id }) => id)).toEqual(["b"]);
    expect(() => memory.get(-1)).toThrow(RangeError);
    expect(memory.getByAction("Plan").map(({ id }) => id)).toEqual(["b"]);
    expect(memory.getByActions(["Plan"]).map(({ id }) => id)).toEqual(["b"]);
    expect(memory.getByRole("assistant").length + memory.getByContent("other").length + memory.tryRemember("other").length).toBe(3);
    expect(memory.newestBy("Plan")?.id).toBe("b");
    expect(memory.findNews([say("a"), say("c")]).map(({ id }) => id)).toEqual(["c"]);
    expect(memory.getByPosition(0)?.id).toBe("a");
    expect([...memory].length + [...memory.newestFirst()].length + memory.toJSON().messages.length).toBe(6);
  });

  it("P1 is durable when persist has resolved, and comes back", async () => {
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

  it("P2 P6 keeps what could not be stored, tells it, marks nothing, and stores it when it can", async () => {
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

  it("P2 an embedder that fails holds up no message: they are stored, and persist tells", async () => {
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

  it("P2 refuses more when too much waits, and changes nothing", () => {
    const store = breakable();
    store.isBroken = true;
    const memory = memoryOver(store, { maxUnsaved: 2 });
    memory.addBatch([say("a"), say("b")]);
    expect(() => memory.add(say("c"))).toThrow(QueueFullError);
    expect(() => memory.delete("a")).toThrow(QueueFullError);
    expect(memory.get().map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("P3 P5 deletes in the storage too, in order", async () => {
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

  it("P5 what makes room stays in the storage, also after many deletions", async () => {
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

  it("P4 brings back its own run, and finds every run", async () => {
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

  it("recovers behind what was added already, and before it in order", async () => {
    const store = inMemoryStore();
    const first = memoryOver(store);
    first.addBatch([say("a"), say("b")]);
    await first.persist();
    const second = memoryOver(store);
    second.addBatch([say("c"), say("a")]);
    expect((await second.recover()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });
});
