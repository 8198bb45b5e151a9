import { describe, expect, it } from "vitest";
import { BrainMemory } from "../../src/memory/brain-memory.ts";
import type { CacheEntry } from "../../src/memory/cache.ts";
import { createMessage } from "../../src/message/message.ts";
import { memoryCache, scriptedModel } from "../../src/testing/index.ts";
import { brainWith, idsOf, said, shownIn, summarizer, talk } from "./brain-setup.ts";

const KEY = "talk";

/** The number of originals in an entry. */
function stored(entry: CacheEntry): number {
  if (entry.kind !== "hit") return 0;
  return (JSON.parse(entry.value) as { readonly originals?: readonly unknown[] }).originals?.length ?? 0;
}

describe("what no summary covers", () => {
  it("[seeds/deep: the question that was being answered went into the summary] the open question and the newest messages stay", async () => {
    const model = summarizer();
    const brain = new BrainMemory({ model });
    talk(brain, 1, 9);
    brain.addTalk(createMessage("And what is the capital of Peru?", { id: "q", timestamp: 1 }));
    await brain.compress();
    expect(idsOf(brain.history)).toEqual(["m7", "m8", "m9", "q"]);
    expect(shownIn(model.calls[0])).not.toContain("Peru");
    expect(brain.historyText).toBe("summary 1\nword 7\nword 8\nword 9");
  });

  it.each([
    { keepMessages: 0, last: "an answer", stay: [] },
    { keepMessages: 0, last: "a question", stay: ["m11"] },
    { keepMessages: 1, last: "an answer", stay: ["m10"] },
    { keepMessages: 9, last: "an answer", stay: ["m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"] },
    { maxMessages: 1, last: "a question", stay: ["m11"] },
    { maxMessages: 2, last: "an answer", stay: ["m10"] },
  ])("$keepMessages of at most $maxMessages messages stay behind $last", async ({ last, stay, ...options }) => {
    const { brain } = brainWith(undefined, { keepMessages: undefined, ...options });
    talk(brain, 1, last === "a question" ? 11 : 10);
    await brain.compress();
    expect([idsOf(brain.history), await brain.shouldCompress()]).toEqual([stay, false]);
  });

  it("a summary from elsewhere leaves the open question where it is", () => {
    const { brain } = brainWith();
    talk(brain, 1, 3);
    brain.setHistorySummary("all before");
    expect([brain.summary, idsOf(brain.history), idsOf(brain.originals)]).toEqual(["all before", ["m3"], ["m1", "m2"]]);
  });
});

describe("the originals of a summary", () => {
  it("are there after every summary, in their order, and after the process has ended", async () => {
    const cache = memoryCache();
    const { brain } = brainWith(undefined, { cache, key: KEY });
    for (let n = 1; n <= 250; n++) {
      brain.addTalk(said(n));
      if (n % 7 === 0) await brain.compress();
    }
    await brain.save();
    const { brain: later } = brainWith(undefined, { cache, key: KEY });
    await later.load();
    const all = Array.from({ length: 250 }, (_, n) => `m${n + 1}`);
    for (const one of [brain, later]) expect(idsOf([...one.originals, ...one.history])).toEqual(all);
  });

  it("of two memories that both have summarized are joined, each once and never beside the history", async () => {
    const cache = memoryCache();
    const [one, two] = [brainWith(undefined, { cache, key: KEY }).brain, brainWith(undefined, { cache, key: KEY }).brain];
    talk(one, 1, 10);
    await one.compress();
    talk(two, 9, 20);
    two.setHistorySummary("theirs");
    talk(two, 21, 21);
    await two.load();
    await two.save();
    expect(idsOf([...two.originals, ...two.history]).toSorted()).toEqual(Array.from({ length: 21 }, (_, n) => `m${n + 1}`).toSorted());
  });

  it.each([
    ["by default", 1_000, 300, {}],
    ["as asked", 100, 5, { keepOriginals: 5 }],
    ["not at all", 100, 0, { keepOriginals: 0 }],
  ])("are the newest alone, here and in the entry: %s", async (_how, count, most, options) => {
    const cache = memoryCache();
    const { brain } = brainWith(undefined, { cache, key: KEY, ...options });
    const sizes: number[] = [];
    for (let n = 1; n <= count; n++) {
      brain.addTalk(said(n));
      if (n % 10 === 0) await brain.compress();
      if (n % 10 === 0) sizes.push(stored(await cache.get(KEY)));
    }
    const all = Array.from({ length: count }, (_, n) => `m${n + 1}`);
    expect(idsOf([...brain.originals, ...brain.history])).toEqual(all.slice(all.length - most - brain.history.length));
    expect(Math.max(...sizes)).toBe(most);
  });

  it("leave oldest first where another memory brings back what has left here", async () => {
    const cache = memoryCache();
    const [one, two] = [1, 2].map(() => brainWith(undefined, { cache, key: KEY, keepOriginals: 5 }).brain) as [BrainMemory, BrainMemory];
    talk(one, 1, 6);
    one.setHistorySummary("first");
    await one.save();
    await two.load();
    talk(one, 7, 12);
    one.setHistorySummary("later");
    await one.save();
    two.addAnswer(said(13));
    await two.save();
    expect(idsOf(two.originals)).toEqual(["m8", "m9", "m10", "m11", "m12"]);
  });

  it("that are deleted or forgotten are gone", async () => {
    const cache = memoryCache();
    const { brain } = brainWith(
      scriptedModel(() => "summary"),
      { cache, key: KEY },
    );
    talk(brain, 1, 10);
    await brain.compress();
    expect(brain.delete("m3")).toBe(true);
    expect([idsOf(brain.originals).includes("m3"), brain.summary]).toEqual([false, ""]);
    await brain.forget();
    expect([brain.originals, JSON.stringify(await cache.get(KEY)).includes("word")]).toEqual([[], false]);
  });
});
