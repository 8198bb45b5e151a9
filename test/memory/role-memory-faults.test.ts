import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { KeptMemory } from "../../src/memory/kept-memory.ts";
import { roleMemoryParts, type RoleMemoryParts } from "../../src/memory/role-memory.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf } from "../team/recorded.ts";
import { answerer, isSummary, paidEmbedder, parrot, recallsIn, rememberedIn, storedIn, storeUnderTest } from "./role-setup.ts";
import { say } from "./storage-setup.ts";

function warningsOf(run: Run): string[] {
  const told: string[] = [];
  run.on("warning", ({ text }) => told.push(text));
  return told;
}

/** A store with messages of an earlier run, that nobody has made vectors of. */
async function unread(count: number): Promise<ReturnType<typeof inMemoryStore>> {
  const store = inMemoryStore();
  const messages = Array.from({ length: count }, (_, n) => ({ runId: "old", addedAt: n, message: say(`m${n}`, `fact number ${n}`) }));
  await store.add("Ann", messages);
  return store;
}

describe("a memory that fails recalls nothing, and is reported", () => {
  it("KeptMemory.K6 an embedder fails on the third of five batches: the role continues without, the next recall from there", async () => {
    const embedder = paidEmbedder({ maxBatch: 2 });
    embedder.before = (n) => {
      if (n === 3) throw new Error("out of memory");
    };
    const store = await unread(10);
    const journal = memoryJournal();
    const model = parrot();
    const team = new Team({ model, journal, roles: [answerer("Ann", { memory: { store, embedder } })] });
    const run = team.run("fact number 3", { id: "r" });
    const told = warningsOf(run);
    expect((await run.result).status).toBe("finished");
    const [recalled] = recallsIn(await eventsOf(journal, "r"));
    expect(recalled?.failed).toMatchObject({ code: "EMBEDDING_FAILED" });
    expect(recalled?.failed?.message).toContain("out of memory");
    expect(told.join()).toContain("out of memory");
    expect(rememberedIn(model.calls[0])).toBe("");
    // The question, and two batches that came; then the other three, and what the first run said.
    const before = embedder.calls.length;
    expect(before).toBe(4);
    await team.run("What is fact number 3?", { id: "s" }).result;
    expect(
      embedder.calls
        .slice(before)
        .flat()
        .filter((text) => /^fact number [0-3]$/.test(text)),
    ).toEqual(["fact number 3"]);
    expect(rememberedIn(model.calls.at(-1))).toContain("fact number 3");
    expect((await team.replay("r").result).error).toBeUndefined();
  });

  it("an embedder whose server is busy is asked again, and each try records its cost", async () => {
    const clock = simulatedClock();
    const embedder = paidEmbedder({ price: { input: 1, output: 0 } });
    embedder.before = (n) => {
      if (n === 0) throw new ModelError("MODEL_RATE_LIMIT", "busy", { retryable: true, data: { retryAfterMs: 500 } });
      if (n === 1) throw new ModelError("MODEL_SERVER", "broken", { retryable: true, data: { retryAfterMs: 500 } });
    };
    const journal = memoryJournal();
    const team = new Team({ clock, model: parrot(), journal, roles: [answerer("Ann", { memory: { store: await unread(1), embedder } })] });
    const run = team.run("fact number", { id: "r" });
    for (let n = 0; n < 40; n++) await clock.advance(100);
    expect((await run.result).status).toBe("finished");
    const events = await eventsOf(journal, "r");
    const keys = new Set(events.flatMap((event) => (event.type === "step.started" && event.kind === "embedding" ? [event.key] : [])));
    const ends = events.flatMap((event) =>
      event.type === "step.ended" && keys.has(event.key) ? [[event.try, event.ok, event.basis, event.cost]] : [],
    );
    // Refused before it ran costs nothing; a server that failed may have run it, and costs what was held.
    expect(ends).toEqual([
      [1, false, "none", 0],
      [2, false, "hold", 68],
      [3, true, "usage", 2],
      [1, true, "usage", 3],
    ]);
  });

  it.each(["one that costs", "one that is free"])(
    "an embedder that never answers, %s: the role continues without, long before its time is up",
    async (kind) => {
      const clock = simulatedClock();
      const inner = paidEmbedder();
      const embedder = { ...inner, isFree: kind === "one that is free", embed: () => new Promise<never>(() => {}) };
      const journal = memoryJournal();
      const ann = answerer("Ann", { memory: { store: await unread(3), embedder }, timeout: 60_000 });
      const team = new Team({ clock, model: parrot(), journal, roles: [ann] });
      const run = team.run("fact", { id: "r" });
      const told = warningsOf(run);
      for (let n = 0; n < 40; n++) await clock.advance(1_000);
      const result = await run.result;
      expect([result.status, result.output?.content]).toEqual(["finished", "I heard: fact"]);
      expect(recallsIn(await eventsOf(journal, "r"))[0]?.failed?.code).toBe("EMBEDDING_FAILED");
      expect(told.join()).toContain("Ann could not search its memory");
      expect((await team.replay("r").result).error).toBeUndefined();
    },
  );

  it("Recollection.C5 a store that cannot be read", async () => {
    const store = storeUnderTest();
    store.before = () => {
      throw new Error("disk gone");
    };
    const team = new Team({ model: parrot(), roles: [answerer("Ann", { memory: { store } })] });
    const run = team.run("go");
    const told = warningsOf(run);
    expect((await run.result).output?.content).toBe("I heard: go");
    expect(told.join("\n")).toMatch(/could not search its memory.*disk gone/);
    expect(told.join("\n")).toMatch(/not stored, until the run is resumed.*disk gone/);
  });

  it("RoleMemories.R3 a store that never answers: the run ends all the same, and says what is not stored", async () => {
    const clock = simulatedClock();
    const store = storeUnderTest();
    let isStuck = false;
    store.before = (method) => (isStuck && method === "add" ? new Promise(() => {}) : undefined);
    const Hold = defineAction({
      name: "Hold",
      run: () => {
        isStuck = true;
        return "held";
      },
    });
    const run = new Team({ clock, roles: [answerer("Ann", { actions: [Hold], memory: { store } })] }).run("go");
    const told = warningsOf(run);
    for (let n = 0; n < 20; n++) await clock.advance(10_000);
    expect((await run.result).status).toBe("finished");
    expect(told.join("\n")).toMatch(/2 changes of what Ann remembers are not stored/);
  });

  it("a model that cannot summarize: what is remembered stays as it was, and is summarized the next time", async () => {
    let isBroken = true;
    const model = scriptedModel((request) => {
      if (!isSummary(request)) return "yes";
      return isBroken ? new ModelError("MODEL_BAD_REQUEST", "no summaries today") : "what was said";
    });
    const Hear = defineAction({
      name: "Hear",
      run: async (ctx) => {
        for (let n = 0; n < 10; n++) ctx.memory.add(ctx.message(`${n} ${"x".repeat(300)}`));
        await ctx.ask("one?");
        await ctx.ask("two?", { recall: "something" });
      },
    });
    const memory = { summary: true, recall: { maxTokens: 600 } };
    const journal = memoryJournal();
    const team = new Team({ model, journal, roles: [answerer("Ann", { actions: [Hear], memory })] });
    const run = team.run("go", { id: "r" });
    const told = warningsOf(run);
    await run.result;
    const more = team.fork("r", { id: "f", add: ["again"] });
    const toldMore = warningsOf(more);
    expect((await more.result).status).toBe("finished");
    // Asked once in an activation, not once for each question.
    expect(model.calls.filter(isSummary).length).toBe(1);
    expect(toldMore.filter((text) => text.includes("could not summarize")).length).toBe(1);
    expect(told).toEqual([]);
    isBroken = false;
    expect((await team.fork("f", { id: "g", add: ["and again"] }).result).status).toBe("finished");
    expect(rememberedIn(model.calls.at(-1))).toContain('{"text":"what was said"}');
  });

  it("Recollection.C4 a model that never can is asked again only when twice as much waits, and that is reported once", async () => {
    const model = scriptedModel((request) => (isSummary(request) ? new ModelError("MODEL_BAD_REQUEST", "never") : "yes"));
    const Talk = defineAction({
      name: "Talk",
      run: async (ctx) => {
        const said = await ctx.ask(`what of this? ${"x".repeat(300)}`);
        ctx.publish(ctx.message(`${said} ${ctx.memory.size} ${"x".repeat(300)}`, { sendTo: ["<self>"] }));
      },
    });
    const memory = { summary: true, recall: { maxTokens: 600 } };
    const team = new Team({ model, roles: [answerer("Ann", { actions: [Talk], memory })] });
    const run = team.run("go", { id: "r", rounds: 30 });
    const told = warningsOf(run);
    expect((await run.result).rounds).toBe(30);
    const tries = model.calls.filter(isSummary).length;
    expect(tries).toBeGreaterThan(1);
    expect(tries).toBeLessThanOrEqual(5);
    expect(told.filter((text) => text.includes("could not summarize")).length).toBe(1);
    // The wait is part of the record: a replay waits as long.
    expect((await team.replay("r").result).error).toBeUndefined();
  });
});

describe("what comes before what", () => {
  it("a stop during a recall leaves the run open, and it continues with the same question", async () => {
    const embedder = paidEmbedder();
    const journal = memoryJournal();
    const team = new Team({ model: parrot(), journal, roles: [answerer("Ann", { memory: { store: await unread(3), embedder } })] });
    const begun = new Promise<AbortSignal | undefined>((resolve) => {
      embedder.before = (_n, signal) => {
        resolve(signal);
        return new Promise(() => {});
      };
    });
    const run = team.run("fact number 1", { id: "r" });
    const signal = await begun;
    run.stop();
    expect((await run.result).status).toBe("stopped");
    expect(signal?.aborted).toBe(true);
    embedder.before = () => {};
    expect((await team.resume("r").result).status).toBe("finished");
    expect(recallsIn(await eventsOf(journal, "r"))[0]?.related.messages.length).toBeGreaterThan(0);
  });

  it("an activation that is tried again recalls what it had recalled, and is stored once", async () => {
    const store = await unread(3);
    const embedder = paidEmbedder();
    let fails = 1;
    const Fragile = defineAction({
      name: "Fragile",
      run: async (ctx) => {
        const answer = await ctx.ask("fact?");
        await ctx.step("break", {}, () => (fails-- > 0 ? Promise.reject(new Error("broken")) : Promise.resolve(null)));
        return answer;
      },
    });
    const model = parrot();
    const roles = [answerer("Ann", { actions: [Fragile], memory: { store, embedder }, onFailure: retry(2) })];
    expect((await new Team({ model, roles }).run("fact number 2", { id: "r" }).result).status).toBe("finished");
    expect([model.calls.length, embedder.calls.length]).toEqual([1, 2]);
    expect((await storedIn(store, "Ann")).filter((line) => line.startsWith("r ")).length).toBe(2);
  });

  it("a question that no one awaits is refused when its activation has ended, and ends nothing else", async () => {
    const Careless = defineAction({
      name: "Careless",
      run: (ctx) => {
        void ctx.ask("anyone?");
        return "gone";
      },
    });
    const model = parrot();
    const { status } = await new Team({ model, roles: [answerer("Ann", { actions: [Careless], memory: { store: await unread(2) } })] }).run(
      "go",
    ).result;
    expect([status, model.calls.length]).toEqual(["finished", 0]);
  });
});

describe("KeptMemory", () => {
  it("KeptMemory.K5 makes a role wait while too much waits for its store, and reports what is wrong when it does not get less", async () => {
    const store = storeUnderTest();
    const told: unknown[] = [];
    const parts = roleMemoryParts({ store }, undefined) as RoleMemoryParts;
    const clock = simulatedClock();
    const kept = new KeptMemory({ parts, role: "Ann", runId: "r", isAncestor: () => false, clock, onError: (error) => told.push(error) });
    store.before = (method) => {
      if (method === "add") throw new Error("disk full");
    };
    kept.learn(
      Array.from({ length: 10_000 }, (_, n) => ["+", say(`m${n}`)] as const),
      "r",
    );
    await expect(kept.ready()).rejects.toThrow("disk full");
    expect([kept.unsaved, told.length > 0]).toEqual([10_000, true]);
    store.before = () => {};
    await kept.ready();
    expect(kept.unsaved).toBe(0);
    expect((await storedIn(store, "Ann")).length).toBe(10_000);
  });
});
