import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { BrainMemory } from "../../src/memory/brain-memory.ts";
import type { Cache } from "../../src/memory/cache.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";
import { brainWith, gate, idsOf, said, summarizer, talk } from "./brain-setup.ts";

const KEY = { prefix: "chat", userId: "../ann:x", chatId: "" };

/** A cache whose writes wait for a test's word; it counts them. */
function slowCache(): { readonly cache: Cache; readonly writes: string[]; next: () => ReturnType<typeof gate<void>> } {
  const inner = memoryCache();
  const gates: ReturnType<typeof gate<void>>[] = [];
  const writes: string[] = [];
  const cache: Cache = {
    get: (key) => inner.get(key),
    set: async (key, value, ttl) => {
      writes.push(value);
      const one = gate<void>();
      gates.push(one);
      await one.promise;
      await inner.set(key, value, ttl);
    },
    delete: (key) => inner.delete(key),
    close: () => inner.close(),
  };
  return { cache, writes, next: () => gates.shift() ?? gate<void>() };
}

async function loadedFrom(cache: Cache): Promise<BrainMemory> {
  const { brain } = brainWith(undefined, { cache, key: KEY });
  expect(await brain.load()).toEqual({ kind: "loaded" });
  return brain;
}

describe("storing a brain memory", () => {
  it("gives back everything", async () => {
    const cache = fileCache({ dir: scratchFolder() });
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 1, 113);
    brain.addKnowledge(said(500));
    await brain.compress();
    await brain.save();
    const again = await loadedFrom(cache);
    expect(JSON.stringify(again)).toBe(JSON.stringify(brain));
    expect([again.isDirty, again.summary, idsOf(again.history), again.lastTalk, again.lastHistoryId, again.getKnowledge()]).toEqual([
      false,
      brain.summary,
      ["m111", "m112", "m113"],
      "word 113",
      "m110",
      "word 500",
    ]);
    expect(again.addTalk(said(110))).toBe(false);
  });

  it("[R084: written through and written back were mixed up] writes only what changed", async () => {
    const { cache, writes, next } = slowCache();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    expect([brain.isDirty, await brain.save()]).toEqual([false, false]);
    talk(brain, 1, 2);
    const saving = brain.save();
    await nextMacrotask();
    next().open();
    expect([await saving, brain.isDirty, await brain.save(), writes.length]).toEqual([true, false, false, 1]);
    brain.addTalk(said(1));
    expect(brain.isDirty).toBe(false);
  });

  it("[R084: the flag was cleared although nothing was stored] stays dirty when the cache fails, and without a cache", async () => {
    const { cache, next } = slowCache();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 1, 2);
    const saving = brain.save();
    await nextMacrotask();
    next().fail(new Error("no disk"));
    await expect(saving).rejects.toThrow("no disk");
    expect([brain.isDirty, idsOf(brain.history)]).toEqual([true, ["m1", "m2"]]);
    const { brain: alone } = brainWith();
    talk(alone, 1, 2);
    expect([await alone.save(), alone.isDirty, await alone.load()]).toEqual([false, true, { kind: "nothing" }]);
  });

  it("BrainMemory.B5 what is added while it is being stored is dirty afterwards, and stored by the next write", async () => {
    const { cache, writes, next } = slowCache();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 1, 1);
    const first = brain.save();
    await nextMacrotask();
    talk(brain, 2, 2);
    const second = brain.save();
    await nextMacrotask();
    expect(writes.length).toBe(1);
    next().open();
    await first;
    expect(brain.isDirty).toBe(true);
    await nextMacrotask();
    next().open();
    await second;
    expect([brain.isDirty, idsOf((await loadedFrom(cache)).history)]).toEqual([false, ["m1", "m2"]]);
  });

  it("[R082: the history was cleared before it was known that the summary was kept] BrainMemory.B2 messages stay until it is", async () => {
    const { cache, writes, next } = slowCache();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 1, 10);
    const compressing = brain.compress();
    for (let n = 0; n < 5; n++) await nextMacrotask();
    expect([writes.length, brain.history.length, brain.summary]).toEqual([1, 10, ""]);
    talk(brain, 11, 11);
    next().open();
    await compressing;
    expect([idsOf(brain.history), brain.summary, brain.isDirty]).toEqual([["m11"], "summary 1", true]);
    expect([(await loadedFrom(cache)).summary, (await loadedFrom(cache)).history]).toEqual(["summary 1", []]);
  });

  it("R084 keeps the entry for half an hour, or for its ttl", async () => {
    const clock = simulatedClock(1_000_000);
    const cache = memoryCache({ clock });
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 1, 1);
    await brain.save();
    const { brain: longer } = brainWith(undefined, { cache, key: "longer", ttl: 3_600_000 });
    talk(longer, 1, 1);
    await longer.save();
    await clock.advance(30 * 60_000 - 1);
    expect(await brain.load()).toEqual({ kind: "loaded" });
    await clock.advance(1);
    expect([await brain.load(), await longer.load()]).toEqual([{ kind: "nothing" }, { kind: "loaded" }]);
    expect(idsOf(brain.history)).toEqual(["m1"]);
  });
});

describe("loading a brain memory", () => {
  it("[R086: an empty history was taken for a miss] a summary alone is found", async () => {
    const cache = memoryCache();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 1, 10);
    await brain.compress();
    const again = await loadedFrom(cache);
    expect([again.summary, again.history, again.isHistoryAvailable]).toEqual(["summary 1", [], true]);
  });

  it("BrainMemory.B1 keeps what was added before and while it loads, after what was stored", async () => {
    const cache = memoryCache();
    const { brain: earlier } = brainWith(undefined, { cache, key: KEY });
    talk(earlier, 1, 12);
    await earlier.compress();
    earlier.addKnowledge(said(600));
    await earlier.save();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 12, 13);
    brain.addKnowledge(said(601));
    const loading = brain.load();
    talk(brain, 14, 14);
    await loading;
    expect(idsOf(brain.history)).toEqual(["m11", "m12", "m13", "m14"]);
    expect([brain.summary, brain.getKnowledge(), brain.lastTalk, brain.isDirty]).toEqual([
      "summary 1",
      "word 600\nword 601",
      "word 13",
      true,
    ]);
  });

  it("BrainMemory.B1 a summary that was made here before loading follows the stored one, and its messages do not come back", async () => {
    const cache = memoryCache();
    const { brain: earlier } = brainWith(summarizer(), { cache, key: KEY });
    talk(earlier, 1, 12);
    await earlier.compress();
    await earlier.save();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    talk(brain, 11, 14);
    brain.setHistorySummary("made here");
    talk(brain, 15, 15);
    await brain.load();
    expect([brain.summary, idsOf(brain.history), brain.isDirty]).toEqual(["summary 1\n\nmade here", ["m15"], true]);
    for (const n of [10, 11, 14]) expect(brain.addTalk(said(n))).toBe(false);
  });

  it.each([
    ["no JSON", '{"v": 1, "history"'],
    ["another thing", '{"v": 1, "history": [], "knowledge": "none"}'],
    ["a list", "[]"],
    ["nothing", "null"],
    [
      "a message that is none",
      '{"v":1,"history":[{"content":5}],"knowledge":[],"levels":{"oldest":"","older":[],"recent":[]},"covered":[]}',
    ],
  ])("Cache.C4 distinguishes an unreadable entry from a miss, and changes nothing: %s", async (_what, text) => {
    const cache = memoryCache();
    await cache.set("k", text, 1000);
    const { brain } = brainWith(undefined, { cache, key: "k" });
    talk(brain, 1, 2);
    expect(await brain.load()).toEqual({ kind: "damaged", reason: expect.stringMatching(/^it is no/) });
    expect([idsOf(brain.history), brain.isDirty]).toEqual([["m1", "m2"], true]);
  });

  it("BrainEntry.P2 what a newer version stored is refused, and not written over", async () => {
    const cache = memoryCache();
    await cache.set("k", '{"v": 2, "minds": []}', 1000);
    const { brain } = brainWith(undefined, { cache, key: "k" });
    talk(brain, 1, 10);
    for (const work of [() => brain.load(), () => brain.save(), () => brain.compress()]) {
      expect(await errorOf(work)).toMatchObject({ code: "BRAIN_NEWER" });
    }
    expect([await cache.get("k"), brain.history.length]).toEqual([{ kind: "hit", value: '{"v": 2, "minds": []}' }, 10]);
  });

  it("a signal ends the waiting for a cache that never answers", async () => {
    const cache: Cache = {
      ...memoryCache(),
      get: () => new Promise(() => undefined),
      set: async () => undefined,
      close: async () => undefined,
    };
    const stop = new AbortController();
    const loading = errorOf(() => brainWith(undefined, { cache, key: "k" }).brain.load({ signal: stop.signal }));
    stop.abort();
    expect(await loading).toMatchObject({ code: "ABORTED" });
  });
});
