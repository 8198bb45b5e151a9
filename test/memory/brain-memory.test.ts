import { describe, expect, it } from "vitest";
import { BrainMemory } from "../../src/memory/brain-memory.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { brainWith, idsOf, said, talk } from "./brain-setup.ts";

describe("what a brain memory holds", () => {
  it("[R080: the role was written into the message] is talk and answers in order, each with its role; no message changes", () => {
    const { brain } = brainWith();
    const heard = said(1, { role: "assistant", metadata: { mood: "good" }, sentFrom: "Ann", sendTo: ["Bob"] });
    const whole = JSON.stringify(heard);
    expect([brain.addTalk(heard), brain.addAnswer(said(2))]).toEqual([true, true]);
    expect(brain.history.map(({ id, role }) => [id, role])).toEqual([
      ["m1", "user"],
      ["m2", "assistant"],
    ]);
    expect(brain.history[0]).toEqual({ ...heard, role: "user" });
    expect(JSON.stringify(heard)).toBe(whole);
  });

  it("BrainMemory.B7 shares a message that has its role already", () => {
    const { brain } = brainWith();
    const heard = said(1);
    brain.addTalk(heard);
    expect(brain.history[0]).toBe(heard);
  });

  it("[R079: last_history_id was never used] a message that the summary covers is not new when it is said again", async () => {
    const { brain, model } = brainWith();
    talk(brain, 1, 10);
    await brain.compress();
    expect(brain.lastHistoryId).toBe("m10");
    talk(brain, 1, 10);
    expect([brain.history, model.calls.length, brain.addTalk(said(11))]).toEqual([[], 1, true]);
  });

  it("R081 knowledge is kept apart, and given as one text", () => {
    const { brain } = brainWith();
    expect(brain.getKnowledge()).toBe("");
    expect([brain.addKnowledge(said(1)), brain.addKnowledge(said(2)), brain.addKnowledge(said(1))]).toEqual([true, true, false]);
    expect([brain.getKnowledge(), idsOf(brain.knowledge), brain.history]).toEqual(["word 1\nword 2", ["m1", "m2"], []]);
  });

  it("returns what was said before the message that is being answered", async () => {
    const { brain } = brainWith();
    expect([brain.historyText, brain.isHistoryAvailable]).toEqual(["", false]);
    talk(brain, 1, 3);
    expect([brain.historyText, brain.isHistoryAvailable]).toEqual(["word 1\nword 2", true]);
    talk(brain, 4, 12);
    await brain.compress();
    expect(brain.historyText).toBe("summary 1\nword 11");
    expect(brain.isHistoryAvailable).toBe(true);
  });

  it("[R083: a new summary left the flag, and storing it was skipped] a summary from elsewhere replaces all that was said", async () => {
    const cache = memoryCache();
    const { brain } = brainWith(undefined, { cache, key: "k" });
    talk(brain, 1, 4);
    await brain.save();
    brain.setHistorySummary("all of it");
    expect([brain.summary, brain.history, brain.isDirty]).toEqual(["all of it", [], true]);
    expect(await brain.save()).toBe(true);
    brain.setHistorySummary("all of it");
    expect(brain.isDirty).toBe(false);
  });

  it.each([
    [{ cache: memoryCache() }, "OPTION_INVALID"],
    [{ maxMessages: 0 }, "LIMIT_INVALID"],
    [{ maxTokens: Number.NaN }, "LIMIT_INVALID"],
    [{ ttl: -1 }, "TTL_INVALID"],
  ])("refuses options that cannot work: %#", (options, code) => {
    expect(() => new BrainMemory({ model: scriptedModel([]), ...options })).toThrow(expect.objectContaining({ code }));
  });

  it("splits texts and reads tags without a model", () => {
    expect(BrainMemory.splitTexts("abcdef", 4)).toEqual(["abcd", "ef"]);
    expect(BrainMemory.extractInfo("[SKILL]: draw\na cat")).toEqual({ tag: "SKILL", text: "draw\na cat" });
    for (const text of ["no tag", "[skill]: draw", "[A]:", " [A]: x", ""])
      expect(BrainMemory.extractInfo(text)).toEqual({ tag: undefined, text });
  });
});
