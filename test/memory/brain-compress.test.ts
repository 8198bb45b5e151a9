import { describe, expect, it } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { modelError } from "../../src/model/failure.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { errorOf } from "../workspace/scratch.ts";
import { brainWith, gate, idsOf, said, shownIn, talk } from "./brain-setup.ts";

function long(n: number, tokens: number): Message {
  return createMessage("word".repeat(tokens), { id: `m${n}`, timestamp: n });
}

describe("when a history is summarized", () => {
  it("[R093: ten and more than ten were both told] with the tenth message, and not before", async () => {
    const { brain, model } = brainWith();
    talk(brain, 1, 9);
    expect([await brain.shouldCompress(), await brain.compress(), model.calls.length]).toEqual([false, false, 0]);
    talk(brain, 10, 10);
    expect([await brain.shouldCompress(), await brain.compress(), model.calls.length]).toEqual([true, true, 1]);
    expect([brain.history, brain.summary, await brain.compress()]).toEqual([[], "summary 1", false]);
  });

  it("with more than four thousand tokens, the oldest first, as many as fit", async () => {
    const { brain, model } = brainWith();
    brain.addTalk(long(1, 3000));
    brain.addAnswer(long(2, 1000));
    expect(await brain.compress()).toBe(false);
    brain.addTalk(long(3, 1));
    expect(await brain.compress()).toBe(true);
    expect([idsOf(brain.history), model.calls.length]).toEqual([["m3"], 1]);
  });

  it("[R093: Chinese was counted for a quarter] four thousand Chinese characters are within, one more is not", async () => {
    const { brain } = brainWith();
    brain.addTalk(createMessage("记".repeat(4000), { id: "m1", timestamp: 1 }));
    expect(await brain.shouldCompress()).toBe(false);
    brain.addTalk(createMessage("忆", { id: "m2", timestamp: 2 }));
    expect(await brain.shouldCompress()).toBe(true);
  });

  it("ten at a time, however many have come together", async () => {
    const { brain, model } = brainWith();
    talk(brain, 1, 25);
    await brain.compress();
    expect([model.calls.length, idsOf(brain.history)]).toEqual([2, ["m21", "m22", "m23", "m24", "m25"]]);
    expect(model.calls.map((call) => shownIn(call).match(/"word \d+"/g)?.length)).toEqual([10, 10]);
  });

  it("a message of megabytes is read in windows, of which there are at most a hundred, each bounded", async () => {
    const { brain, model } = brainWith();
    brain.addTalk(createMessage(Array.from({ length: 200_000 }, (_, n) => `story ${n}`).join(" "), { id: "m1", timestamp: 1 }));
    brain.addAnswer(createMessage("Read.", { id: "m2", timestamp: 2 }));
    await brain.compress();
    expect(model.calls.length).toBeLessThanOrEqual(103);
    expect(Math.max(...model.calls.map((call) => shownIn(call).length))).toBeLessThan(40_000);
    expect([idsOf(brain.history), brain.summary]).toEqual([["m2"], `summary ${model.calls.length}`]);
  });
});

describe("what arrives, fails or is asked twice meanwhile", () => {
  it("BrainMemory.B1 [R082: the history was cleared after the model had answered] what arrives during the call stays", async () => {
    const answer = gate<string>();
    const { brain, model } = brainWith(() => answer.promise);
    talk(brain, 1, 10);
    const compressing = brain.compress();
    await nextMacrotask();
    talk(brain, 11, 12);
    expect([model.calls.length, idsOf(brain.history).length]).toEqual([1, 12]);
    answer.open("summary");
    await compressing;
    expect([idsOf(brain.history), brain.summary]).toEqual([["m11", "m12"], "summary"]);
  });

  it.each([
    ["fails", () => modelError("MODEL_SERVER", "down"), "MODEL_SERVER"],
    ["says nothing", () => " ", "MODEL_EMPTY"],
    ["is cut off", () => ({ content: "half a summ", finishReason: "length" as const }), "MODEL_TRUNCATED"],
    ["declines", () => ({ content: "", refusal: "no" }), "MODEL_REFUSED"],
  ])(
    "BrainMemory.B2 [R082: a failing model took the history along] a model that %s leaves everything as it was",
    async (_how, answer, code) => {
      const { brain } = brainWith((_request, n) => (n === 0 ? answer() : "summary"));
      talk(brain, 1, 10);
      const before = JSON.stringify(brain);
      expect(await errorOf(() => brain.compress())).toMatchObject({ code });
      expect(JSON.stringify(brain)).toBe(before);
      expect(await brain.compress()).toBe(true);
      expect([brain.summary, brain.history]).toEqual(["summary", []]);
    },
  );

  it("a failure in the second of two parts keeps the first, which is not asked again", async () => {
    const { brain, model } = brainWith((_request, n) => (n === 1 ? modelError("MODEL_SERVER", "down") : `summary ${n}`));
    talk(brain, 1, 20);
    await errorOf(() => brain.compress());
    expect([idsOf(brain.history).length, brain.summary]).toEqual([10, "summary 0"]);
    await brain.compress();
    expect([model.calls.length, brain.history, brain.summary]).toEqual([3, [], "summary 0\n\nsummary 2"]);
  });

  it("BrainMemory.B4 [R082: two calls asked twice] who asks while it is under way waits for the same work", async () => {
    const answer = gate<string>();
    const { brain, model } = brainWith(() => answer.promise);
    talk(brain, 1, 10);
    const first = brain.compress();
    await nextMacrotask();
    const both = [first, brain.compress()];
    await nextMacrotask();
    answer.open("summary");
    expect([await Promise.all(both), model.calls.length, brain.summary]).toEqual([[true, false], 1, "summary"]);
  });

  it("BrainMemory.B4 [R082: not idempotent] the same history is asked for once, also when what came of it was lost", async () => {
    const sets: string[] = [];
    const cache = {
      get: async () => ({ kind: "miss" as const }),
      set: async (_key: string, value: string) => {
        if (sets.push(value) === 1) throw new Error("not stored");
      },
      delete: async () => undefined,
      close: async () => undefined,
    };
    const { brain, model } = brainWith(undefined, { cache, key: "k" });
    talk(brain, 1, 10);
    const before = JSON.stringify(brain);
    await expect(brain.compress()).rejects.toThrow("not stored");
    expect([JSON.stringify(brain), brain.isDirty]).toEqual([before, true]);
    expect(await brain.compress()).toBe(true);
    expect([model.calls.length, brain.summary, brain.isDirty]).toEqual([1, "summary 1", false]);
  });

  it("a signal ends the waiting, a model that never answers is given up, and nothing is lost", async () => {
    const clock = simulatedClock();
    const { brain } = brainWith(() => new Promise<string>(() => undefined), { clock, timeout: 1000 });
    talk(brain, 1, 10);
    const stop = new AbortController();
    const stopped = errorOf(() => brain.compress({ signal: stop.signal }));
    await nextMacrotask();
    stop.abort();
    expect(await stopped).toMatchObject({ code: "ABORTED" });
    const late = errorOf(() => brain.compress());
    await clock.advance(1000);
    expect([await late, idsOf(brain.history).length]).toEqual([expect.objectContaining({ code: "TIMEOUT" }), 10]);
  });
});

describe("the levels of a summary", () => {
  it("[R095: the trigger was a count modulo ten, and the second level had no bound] ten become one, and ten of those one", async () => {
    const { brain, model } = brainWith();
    let most = 0;
    for (let n = 1; n <= 2500; n++) {
      brain.addAnswer(said(n));
      if (n % 7 !== 0) continue;
      await brain.compress();
      const { recent, older } = brain.toJSON().levels;
      most = Math.max(most, recent.length, older.length);
    }
    await brain.compress();
    expect([most, brain.history.length]).toEqual([9, 0]);
    const { oldest, older, recent } = brain.toJSON().levels;
    expect([oldest !== "", older.length, recent.length]).toEqual([true, 5, 0]);
    // 250 of messages, 25 of ten of those, 2 of ten of those.
    expect(model.calls.length).toBe(250 + 25 + 2);
  });

  it("BrainMemory.B3 [R082: the old summary was not in the prompt] every summary is made with what is known before it", async () => {
    const { brain, model } = brainWith();
    for (let n = 1; n <= 2000; n++) {
      brain.addAnswer(said(n));
      if (!(await brain.shouldCompress())) continue;
      const before = brain.toJSON().levels;
      const calls = model.calls.length;
      await brain.compress();
      const shown = model.calls.slice(calls).map(shownIn);
      const old = [before.oldest, ...before.older].filter((text) => text !== "");
      for (const prompt of shown) expect(old.filter((text) => !prompt.includes(text))).toEqual([]);
      if (shown[0] !== undefined) expect(before.recent.filter((text) => !shown[0]?.includes(text))).toEqual([]);
    }
    expect(brain.toJSON().levels.oldest).not.toBe("");
  });

  it("a failure of a merge keeps its parts, and the next attempt makes it good before anything else", async () => {
    const { brain, model } = brainWith((_request, n) => (n === 10 ? modelError("MODEL_SERVER", "down") : `summary ${n}`));
    talk(brain, 1, 100);
    await errorOf(() => brain.compress());
    expect(brain.toJSON().levels).toMatchObject({ older: [], recent: Array.from({ length: 10 }, (_, n) => `summary ${n}`) });
    await brain.compress();
    expect([brain.toJSON().levels, model.calls.length]).toEqual([{ oldest: "", older: ["summary 11"], recent: [] }, 12]);
  });

  it("a model that writes too much is cut to three hundred words", async () => {
    const { brain } = brainWith(() => "A short sentence. ".repeat(5000));
    talk(brain, 1, 10);
    await brain.compress();
    expect(brain.summary).toBe("A short sentence. ".repeat(100).trim());
  });
});
