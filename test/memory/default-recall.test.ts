import { describe, expect, it } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { exactIndex } from "../../src/memory/exact-index.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import type { RecallOptions, RoleMemoryOptions } from "../../src/memory/role-memory.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel, simulatedClock } from "../../src/testing/index.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf } from "../team/recorded.ts";
import { minisearch } from "../../src/memory/word-index.ts";
import { answerer, linesOf, parrot, recallsIn, rememberedIn } from "./role-setup.ts";
import { idsOf, say } from "./storage-setup.ts";

function codeOf(work: () => unknown): [string, string] {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return [error.code, error.message];
    throw error;
  }
  return ["none", ""];
}

async function storageOf(contents: Readonly<Record<string, string>>, store?: MessageStore): Promise<MemoryStorage> {
  const storage = new MemoryStorage({ roleId: "Ann", store });
  await storage.addBatch(Object.entries(contents).map(([id, content]) => say(id, content)));
  return storage;
}

/** A store in which these were said to Ann, one a day from 2026-01-01 on, each in a run of its own unless it names one. */
async function storeOf(said: readonly (string | readonly [text: string, runId: string])[]): Promise<MessageStore> {
  const store = inMemoryStore();
  const first = Date.UTC(2026, 0, 1, 9, 30);
  const entries = said.map((each, n) => {
    const [content, runId] = typeof each === "string" ? [each, `run ${n}`] : each;
    const timestamp = first + n * 86_400_000;
    return { runId, addedAt: timestamp, message: say(`m${n}`, content, { timestamp, sentFrom: "Bob" }) };
  });
  await store.add("Ann", entries);
  return store;
}

/** The lines of what was related, as a model got them with its last question. */
async function relatedLines(store: MessageStore, question: string, recall: RecallOptions = {}): Promise<readonly Record<string, string>[]> {
  const model = parrot();
  await new Team({ model, roles: [answerer("Ann", { memory: { store, recall } })] }).run(question).result;
  return linesOf(rememberedIn(model.calls.at(-1)), "Related").map((line) => JSON.parse(line) as Record<string, string>);
}

describe("a memory without an embedder", () => {
  it("finds by words, and makes no vectors", async () => {
    const store = inMemoryStore();
    const storage = await storageOf({ a: "The ferry leaves at nine.", b: "The bridge is of steel.", c: "数据库迁移失败" }, store);
    expect(idsOf(await storage.searchSimilar("when does the ferry leave?"))).toEqual(["a"]);
    expect(idsOf(await storage.searchSimilar("数据库"))).toEqual(["c"]);
    expect(await storage.searchSimilar("zebra")).toEqual([]);
    expect(storage.pending).toBe(0);
    for await (const page of store.readVectors("Ann", "any", 0)) expect(page).toEqual([]);
  });

  it("ranks by the words that say what a question is about", async () => {
    const storage = await storageOf({
      a: "What is it that you do when you are there, and who is it for?",
      b: "Steel, for the new bridge.",
    });
    expect(idsOf(await storage.searchSimilar("What is it that the bridge is made of?", { k: 1 }))).toEqual(["b"]);
    expect(idsOf(await storage.searchSimilar("What is it that the bridge is made of?"))).toEqual(["b"]);
  });

  it("looks for function words where a question has no others, and finds those of other languages", async () => {
    const storage = await storageOf({ a: "Who is it?", b: "Der Hut war rot.", c: "On y va." });
    expect(idsOf(await storage.searchSimilar("who is it"))).toEqual(["a"]);
    expect(idsOf(await storage.searchSimilar("was war rot"))).toEqual(["b"]);
    expect(idsOf(await storage.searchSimilar("on"))).toEqual(["c"]);
  });

  it("refuses a threshold, an index of vectors and a search with an embedder, and says why", async () => {
    const storage = await storageOf({ a: "one" });
    const reason = /without an embedder.*it is for vectors/;
    const bad: readonly RoleMemoryOptions[] = [{ recall: { threshold: 0.2 } }, { index: exactIndex }];
    for (const memory of bad) {
      const [code, message] = codeOf(() => new Environment({ model: parrot() }).addRole(answerer("Ann", { memory })));
      expect([code, message]).toEqual(["OPTION_INVALID", expect.stringMatching(reason)]);
    }
    const withVectors = { embedder: hashingEmbedder(), index: exactIndex };
    const own = answerer("Ann", { memory: { recall: { threshold: 0.2 } } });
    expect(codeOf(() => new Environment({ memory: withVectors }).addRole(own))[0]).toBe("none");
    expect(codeOf(() => new MemoryStorage({ roleId: "Ann", threshold: 0.2 }))).toEqual(["OPTION_INVALID", expect.stringMatching(reason)]);
    expect(codeOf(() => new MemoryStorage({ roleId: "Ann", index: exactIndex() }))[0]).toBe("OPTION_INVALID");
    await expect(storage.searchSimilar("one", { threshold: 0.2 })).rejects.toThrow(reason);
    await expect(storage.searchSimilar("one", { embedder: hashingEmbedder() })).rejects.toThrow(UsageError);
  });

  it("refuses an index of words with an embedder, and says why", () => {
    const embedder = hashingEmbedder();
    const answer = ["OPTION_INVALID", expect.stringMatching(/^Expected embedder or lexical .*, got both: .*Leave one out\.$/)];
    const both = { embedder, lexical: minisearch };
    expect(codeOf(() => new MemoryStorage({ roleId: "Ann", embedder, lexical: minisearch() }))).toEqual(answer);
    expect(codeOf(() => answerer("Ann", { memory: both }))).toEqual(answer);
    expect(codeOf(() => new Environment({ memory: { embedder } }).addRole(answerer("Ann", { memory: { lexical: minisearch } })))).toEqual(
      answer,
    );
  });
});

describe("what a role recalls", () => {
  it("has the one fact after any number of runs with the same question", async () => {
    const [store, model] = [inMemoryStore(), parrot()];
    const team = new Team({ model, roles: [answerer("Ann", { memory: { store } })] });
    await team.run("The ferry to the island of Ven leaves at nine.").result;
    const questions = ["When does the ferry to Ven leave?", "when does the ferry to Ven leave", "So when does the ferry leave to Ven?"];
    for (let run = 0; run < 9; run += 1) {
      await team.run(questions[run % questions.length] ?? "").result;
      const lines = linesOf(rememberedIn(model.calls.at(-1)), "Related");
      expect(lines.join()).toContain("leaves at nine.");
      for (const question of questions) expect(lines.join()).not.toContain(`"text":${JSON.stringify(question)}`);
    }
  });

  it("shows messages with the same words once, the newest of them", async () => {
    const store = await storeOf([
      "The bridge is closed.",
      "the bridge is closed",
      "The bridge is not closed.",
      "The bridge is open at 9.",
      "The bridge is open at 10.",
    ]);
    const lines = await relatedLines(store, "What about the bridge?", { k: 10 });
    expect(lines.map(({ at, text }) => [at, text])).toEqual([
      ["2026-01-05T09:30Z", "The bridge is open at 10."],
      ["2026-01-04T09:30Z", "The bridge is open at 9."],
      ["2026-01-03T09:30Z", "The bridge is not closed."],
      ["2026-01-02T09:30Z", "the bridge is closed"],
    ]);
  });

  it("keeps an answer that is made of the question's words", async () => {
    const store = await storeOf(["The bridge is of stone."]);
    expect((await relatedLines(store, "Is the bridge of stone?")).map(({ text }) => text)).toEqual(["The bridge is of stone."]);
  });

  it("has what was said next to a hit in its run, within the budget, and none where none is asked for", async () => {
    const store = await storeOf([
      ["Good morning.", "a"],
      ["Any news from the bakery?", "a"],
      ["Elsewhere it rains.", "b"],
      ["They want me there from March.", "a"],
      ["How nice for you.", "a"],
    ]);
    const texts = async (recall: RecallOptions): Promise<readonly (string | undefined)[]> =>
      (await relatedLines(store, "When does the work at the bakery begin?", recall)).map(({ text }) => text);
    expect(await texts({})).toEqual(["They want me there from March.", "Any news from the bakery?", "Good morning."]);
    expect(await texts({ neighbours: 2 })).toHaveLength(4);
    expect(await texts({ neighbours: 0 })).toEqual(["Any news from the bakery?"]);
    expect(await texts({ maxTokens: 120 })).not.toContain("They want me there from March.");
    expect(await texts({ maxTokens: 120 })).toContain("Any news from the bakery?");
    expect(codeOf(() => new Environment({ memory: { recall: { neighbours: -1 } } }))[0]).toBe("OPTION_INVALID");
  });

  it("has no time of a clock of its own run, which is equal whatever the latencies and replays as it was", async () => {
    const texts = await Promise.all(
      [1, 45_000].map(async (latency) => {
        const clock = simulatedClock();
        const journal = memoryJournal();
        const model = scriptedModel(async (request) => {
          await clock.advance(latency);
          return `I heard: ${request.messages.at(-1)?.content ?? ""}`;
        });
        const memory = { store: await storeOf(["The bridge is of steel."]), recall: { shares: { related: 1 } } };
        const make = (): Team => new Team({ model, journal, seed: 1, clock, roles: [answerer("Ann", { memory })] });
        await make().run("A bridge of stone?", { id: "r" }).result;
        await make().fork("r", { id: "f", add: ["And which bridge is older?"] }).result;
        const recalled = recallsIn(await eventsOf(journal, "f")).at(-1)?.related.messages ?? [];
        expect(recalled.map(({ at }) => at)).toContain("this run");
        expect((await make().replay("f").result).error).toBeUndefined();
        return canonical(await eventsOf(journal, "f"));
      }),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});
