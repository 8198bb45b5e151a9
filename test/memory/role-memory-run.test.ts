import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { usd } from "../../src/model/money.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { Answer, answerer, isSummary, paidEmbedder, parrot, recallsIn, rememberedIn, storedIn, storeUnderTest } from "./role-setup.ts";
import { cutsOf } from "../long.ts";

const MEMORY = { summary: true, recall: { maxTokens: 400 } };

/** Two roles that talk until the rounds are over, each remembering; what they say grows old quickly. */
function talkers(memory: object): Role[] {
  const Ask = defineAction({ name: "Ask", run: (ctx) => ctx.ask(`Go on: ${ctx.text.slice(0, 60)} ${"words ".repeat(20)}`) });
  return [
    answerer("Ann", { watch: ["UserRequirement", "Ask"], memory }),
    defineRole({ name: "Bob", watch: [Answer], actions: [Ask], memory }),
  ];
}

function teamOver(
  journal: Journal,
  store: MessageStore,
  options: Partial<TeamOptions> = {},
): { team: Team; model: ReturnType<typeof parrot> } {
  const model = parrot();
  const roles = talkers({ store, embedder: paidEmbedder(), ...MEMORY });
  return { team: new Team({ model, seed: "s", journal, roles, ...options }), model };
}

/** A store with something in it that was said in another run. */
async function library(): Promise<MessageStore> {
  const store = inMemoryStore();
  const roles = ["Ann", "Bob"].map((name) => answerer(name, { memory: { store } }));
  await new Team({ model: parrot(), roles }).run("words were said before, and go on", { id: "before" }).result;
  return store;
}

async function copyOf(store: MessageStore): Promise<MessageStore> {
  const copy = inMemoryStore();
  for (const role of ["Ann", "Bob"]) for await (const page of store.read(role, 0)) await copy.add(role, page);
  return copy;
}

/** A run as text, but for which vectors the store had to have made: that depends on what it had. */
function textOf(events: readonly RunEvent[]): string {
  return canonical(events)
    .split("\n")
    .filter((line) => !line.includes('"kind":"embedding"'))
    .join("\n");
}

async function wholeRun(): Promise<{ events: RunEvent[]; store: MessageStore; before: MessageStore }> {
  const store = await library();
  const before = await copyOf(store);
  const journal = memoryJournal();
  const { team, model } = teamOver(journal, store);
  expect((await team.run("go", { id: "r", rounds: 9 }).result).status).toBe("rounds");
  expect(model.calls.filter(isSummary).length).toBeGreaterThan(1);
  return { events: await eventsOf(journal, "r"), store, before };
}

describe("in a run, a memory is journaled like everything else", () => {
  it("two runs of one seed over equal stores are the same, whatever they are called and when", async () => {
    const store = await library();
    const texts: string[] = [];
    for (const id of ["one", "another"]) {
      const journal = memoryJournal();
      await teamOver(journal, await copyOf(store)).team.run("go", { id, rounds: 8 }).result;
      texts.push(canonical(await eventsOf(journal, id)));
    }
    expect(texts[0]).toContain('"kind":"memory"');
    expect(texts[0]).toContain('"runId":"before"');
    expect(texts[0]).toMatch(/"summary":\{"covered":\["(user|outside)#1"/);
    expect(texts[0]).toBe(texts[1]);
  });

  it("Recollection.C1 a replay recalls the same, asks no one and opens no store", async () => {
    const { events } = await wholeRun();
    const store = storeUnderTest();
    const { team, model } = teamOver(await journalWith("r", events), store);
    const replayed: RunEvent[] = [];
    const run = team.replay("r");
    for await (const event of run) replayed.push(event);
    expect((await run.result).error).toBeUndefined();
    expect(canonical(replayed)).toBe(canonical(events));
    expect([store.calls, model.calls]).toEqual([[], []]);
  });

  it(
    "KeptMemory.K2 continues from every place of its record: recalls the same, stores nothing twice and loses nothing",
    { tags: "numbers", timeout: 120_000 },
    async () => {
      const { events, store, before } = await wholeRun();
      const [ann, bob] = [await storedIn(store, "Ann"), await storedIn(store, "Bob")];
      expect(ann.length).toBeGreaterThan(8);
      let paid = 0;
      for (const at of cutsOf(events.length).filter((place) => place > 0)) {
        // A store that is behind, and one that is ahead, in turns: of a run that died, or of a record that lost its end.
        const kept = await copyOf(at % 2 === 0 ? before : store);
        const journal = await journalWith("r", events.slice(0, at));
        const { team, model } = teamOver(journal, kept);
        expect((await team.run("go", { id: "r", rounds: 9 }).result).status).toBe("rounds");
        expect(textOf(await eventsOf(journal, "r")) === textOf(events), `from event ${at}`).toBe(true);
        expect([await storedIn(kept, "Ann"), await storedIn(kept, "Bob")].map((all) => all.toSorted())).toEqual([
          ann.toSorted(),
          bob.toSorted(),
        ]);
        paid += model.calls.length;
      }
      expect(paid).toBeGreaterThan(0);
    },
  );

  it("stores nothing of an activation that fails, and all of it once it has ended", async () => {
    const store = inMemoryStore();
    let isBroken = true;
    const Write = defineAction({
      name: "Write",
      run: (ctx) => {
        ctx.memory.add(ctx.message("a thought"));
        if (isBroken) throw new Error("broken");
        return "done";
      },
    });
    const journal = memoryJournal();
    const team = new Team({ journal, roles: [defineRole({ name: "Ann", actions: [Write], memory: { store } })] });
    expect((await team.run("go", { id: "r" }).result).status).toBe("failed");
    expect(await storedIn(store, "Ann")).toEqual([]);
    isBroken = false;
    expect((await team.resume("r").result).status).toBe("finished");
    expect(await storedIn(store, "Ann")).toEqual(["r user#1: go", "r Ann#0.0: a thought", "r Ann#0.1: done"]);
  });

  it("KeptMemory.K1 stores what is durable, and never before it is", async () => {
    const order: string[] = [];
    const inner = memoryJournal();
    const journal = new Proxy(inner, {
      get: (target, name) => {
        if (name === "append") {
          return async (...args: Parameters<Journal["append"]>) => {
            await inner.append(...args);
            if (args[3].some(({ type }) => type === "act.ended")) order.push("durable");
          };
        }
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
    const store = storeUnderTest();
    store.before = (method) => void (method === "add" && order.push("stored"));
    await new Team({ model: parrot(), journal, roles: [answerer("Ann", { memory: { store } })] }).run("go").result;
    expect(order).toEqual(["durable", "stored"]);
  });

  it("RoleMemories.R2 a finished run that died before it had stored all stores it when it is resumed, and once", async () => {
    const journal = memoryJournal();
    const store = storeUnderTest();
    const told: string[] = [];
    const make = (): Team => new Team({ model: parrot(), journal, roles: [answerer("Ann", { memory: { store } })] });
    store.before = (method) => {
      if (method === "add") throw new Error("disk full");
    };
    const run = make().run("go", { id: "r" });
    run.on("warning", ({ text }) => told.push(text));
    expect((await run.result).status).toBe("finished");
    expect(told.some((text) => text.includes("disk full") && text.includes("not stored"))).toBe(true);
    expect(await storedIn(store, "Ann")).toEqual([]);
    // It takes a while, and whoever has the result has it stored.
    store.before = (method) => (method === "add" ? nextMacrotask() : undefined);
    for (let n = 0; n < 2; n++) expect((await make().resume("r").result).status).toBe("finished");
    expect(await storedIn(store, "Ann")).toEqual(["r user#1: go", "r Ann#0.0: I heard: go"]);
  });

  it("RoleMemories.R2 an environment that is restored from its record stores what it had not stored", async () => {
    const journal = memoryJournal();
    const store = storeUnderTest();
    const options = { model: parrot() };
    const ann = answerer("Ann", { memory: { store } });
    store.before = (method) => {
      if (method === "add") throw new Error("disk full");
    };
    const world = new Environment({ ...options, journal, id: "r" }).addRole(ann);
    world.publishMessage("go");
    await world.run();
    expect(await storedIn(store, "Ann")).toEqual([]);
    store.before = () => {};
    await (await Environment.restore({ journal, id: "r" }, { ...options, roles: [ann] })).run();
    expect(await storedIn(store, "Ann")).toEqual(["r user#1: go", "r Ann#0.0: I heard: go"]);
  });
});

describe("a fork", () => {
  it("pays for nothing that it shares, and recalls the same", async () => {
    const { events, store } = await wholeRun();
    const { team, model } = teamOver(await journalWith("r", events), store);
    const { status, fork } = await team.fork("r", { id: "f", at: 1, rounds: 9 }).result;
    expect([status, fork?.difference, model.calls.length]).toEqual(["rounds", undefined, 0]);
    expect(fork?.reused).toBeGreaterThan(10);
  });

  it("KeptMemory.K4 writes under its own name alone, and nothing of what it shares", async () => {
    const { events, store } = await wholeRun();
    const before = await storedIn(store, "Ann");
    const at = events.findIndex(({ type }, n) => type === "round.ended" && n > events.length / 2);
    const { team } = teamOver(await journalWith("r", events), store);
    await team.fork("r", { id: "f", at, add: ["something else"], rounds: 9 }).result;
    const after = await storedIn(store, "Ann");
    expect(after.slice(0, before.length)).toEqual(before);
    const own = after.slice(before.length);
    expect(own.length).toBeGreaterThan(1);
    expect(own.every((line) => line.startsWith("f "))).toBe(true);
    const shared = new Set(
      events.slice(0, at).flatMap((event) => (event.type === "act.ended" ? event.said.map(({ message }) => message.id) : [])),
    );
    expect(own.filter((line) => shared.has(line.split(" ")[1]?.slice(0, -1) ?? ""))).toEqual([]);
  });

  it("does not know what its parent, or a fork before it, said later; what it forgets they do not forget", async () => {
    const store = inMemoryStore();
    const journal = memoryJournal();
    const model = parrot();
    const make = (): Team =>
      new Team({
        model,
        journal,
        seed: 1,
        roles: [answerer("Ann", { memory: { store, embedder: hashingEmbedder(), recall: { threshold: -1, k: 50 } } })],
      });
    await make().run("a start", { id: "r" }).result;
    await make().fork("r", { id: "later", add: ["the parent's secret future"] }).result;
    await make().fork("later", { id: "child", at: 1, add: ["what future?"] }).result;
    await make().fork("r", { id: "other", at: 1, add: ["what future?"] }).result;
    const foundBy = async (id: string): Promise<string[]> => {
      const recalls = recallsIn(await eventsOf(journal, id));
      return recalls.flatMap(({ related }) => related.messages.map(({ runId }) => runId ?? "own"));
    };
    // A fork finds only the events that it shares with its ancestors. Another fork of the same run counts as a foreign run.
    expect(new Set(await foundBy("child"))).toEqual(new Set());
    expect(new Set(await foundBy("other"))).toEqual(new Set(["later", "child"]));
    const asked = model.calls.filter((call) => call.messages.at(-1)?.content?.includes("what future?") === true);
    expect(asked.length).toBeGreaterThan(0);
    // The one is no run of the other's past: its words are another run's, and may be found.
    expect(asked.map(rememberedIn).some((block) => block.includes("secret future"))).toBe(true);
    expect((await storedIn(store, "Ann")).filter((line) => line.startsWith("r "))).toEqual([
      "r user#1: a start",
      "r Ann#0.0: I heard: a start",
    ]);
  });
});

describe("money", () => {
  const PRICE = { input: 1_000_000, output: 0 };

  it("embeddings are held before and settled after, and stand in the ledger", async () => {
    const journal = memoryJournal();
    const embedder = paidEmbedder({ price: PRICE, model: "mine" });
    const team = new Team({
      model: parrot(),
      journal,
      budget: usd(1_000),
      roles: [answerer("Ann", { memory: { store: await library(), embedder } })],
    });
    const result = await team.run("two words", { id: "r" }).result;
    expect(result.status).toBe("finished");
    const steps = (await eventsOf(journal, "r")).filter((event) => event.type === "step.started" || event.type === "step.ended");
    const starts = steps.flatMap((event) => (event.type === "step.started" && event.kind === "embedding" ? [event] : []));
    expect(starts.map(({ name, hold }) => [name, hold])).toEqual([
      ["mine", 66_000_000],
      ["mine", 134_000_000],
    ]);
    const ends = steps.flatMap((event) => (event.type === "step.ended" && starts.some(({ key }) => key === event.key) ? [event] : []));
    expect(ends.map(({ cost, basis }) => [cost, basis])).toEqual([
      [2_000_000, "usage"],
      [16_000_000, "usage"],
    ]);
    expect(result.cost.known).toBe(18_000_000);
  });

  it("a budget binds them: the run ends before the call, never above, and continues with more", async () => {
    const journal = memoryJournal();
    const embedder = paidEmbedder({ price: PRICE, model: "mine" });
    const roles = [answerer("Ann", { memory: { store: await library(), embedder } })];
    const team = new Team({ model: parrot(), journal, budget: usd(100), roles });
    const poor = await team.run("two words", { id: "r" }).result;
    expect([poor.status, poor.cost.known, embedder.calls.length]).toEqual(["budget", 2_000_000, 1]);
    const rich = await team.invest(usd(200)).resume("r").result;
    expect([rich.status, rich.cost.known, embedder.calls.length]).toEqual(["finished", 18_000_000, 2]);
  });

  it("an embedder without a price is refused under a budget and reported, and its run continues without it", async () => {
    const embedder = paidEmbedder({ model: "unheard of" });
    const team = new Team({ model: parrot(), budget: usd(1), roles: [answerer("Ann", { memory: { store: await library(), embedder } })] });
    const told: string[] = [];
    const run = team.run("two words");
    run.on("warning", ({ text }) => told.push(text));
    expect((await run.result).status).toBe("finished");
    expect(told.join()).toContain("Expected a price for unheard of");
    expect(embedder.calls).toEqual([]);
  });
});
