import { describe, expect, it } from "vitest";
import { canonical, type ChatModel, defineAction, defineRole, memoryJournal, Team, usd } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { askServedModel, effectTeam, remoteEffects, type RunDriver, startWorker } from "../../src/fleet/index.ts";
import type { Working } from "../../src/team/run-driver.ts";
import { forget } from "../../src/memories.ts";
import { localEffects, type EffectPort } from "../../src/kernel/effect.ts";
import type { Embedder } from "../../src/memory/embedder.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { effectPortContract, memoryRunDriver, scriptedModel, simulatedClock } from "../../src/testing/index.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { eventsOf } from "../team/recorded.ts";

const kit = { describe, it, expect };

effectPortContract(kit, {
  name: "this process",
  findsAgain: false,
  make: () => ({ open: () => localEffects, close: async () => undefined }),
});

effectPortContract(kit, {
  name: "a worker of a queue",
  findsAgain: true,
  async make(effect) {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const team = effectTeam("action:work", (request, { signal }) => effect(request, signal), { journal });
    const worker = await startWorker({ driver, journal, teams: [team] });
    return {
      open: () => remoteEffects({ driver, journal, effects: ["action:work"] }),
      close: async () => {
        await worker.drain();
        await driver.close();
      },
    };
  },
});

interface Gate<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

function gate<T = void>(): Gate<T> {
  let resolve = (_value: T): void => undefined;
  const promise = new Promise<T>((opened) => (resolve = opened));
  return { promise, resolve: (value) => resolve(value) };
}

function smith(journal: Journal, effects?: ReturnType<typeof remoteEffects>, here: () => Promise<unknown> = async () => "a nail"): Team {
  const Forge = defineAction({ name: "Forge", run: (ctx) => ctx.step("forge", { of: ctx.text }, here) as Promise<string> });
  const roles = [defineRole({ name: "Finn", actions: [Forge] })];
  return new Team({ journal, roles, seed: "s", ...(effects === undefined ? {} : { effects }) });
}

const priced = { cost: 7, basis: "usage", usage: { inputTokens: 1, outputTokens: 2 } } as const;

describe("a step that a worker does", () => {
  it("is recorded as a local one, with its cost and its usage", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const far = effectTeam("step:forge", (_request, door) => (door.attempts.settle(priced), "a nail"), { journal });
    const worker = await startWorker({ driver, journal, teams: [far] });
    const effects = remoteEffects({ driver, journal, effects: ["step:forge"] });
    const asked = smith(journal, effects, () => Promise.reject(new Error("not here")));
    const result = await asked.run("iron", { id: "r" }).result;
    const local = memoryJournal();
    await smith(local).run("iron", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    expect(canonical(events)).toBe(canonical(await eventsOf(local, "r")));
    expect(events.find(({ type }) => type === "step.ended")).toMatchObject(priced);
    expect(result).toMatchObject({ status: "finished", cost: { known: 7 } });
    await worker.drain();
  });

  it("is no question to a person, no embedding and no write that a resumed run repeats", async () => {
    const names: string[] = [];
    const effects: EffectPort = {
      run: (call, effect) => (names.push(`${call.kind}:${call.name}`), localEffects.run(call, effect)),
    };
    let embedded = 0;
    const embedder: Embedder = {
      ...{ id: "paid", maxBatch: 8, maxChars: 1_000, threshold: 0 },
      embed: async (texts) => ((embedded += texts.length), texts.map(() => [1])),
    };
    const Work = defineAction({
      name: "Work",
      run: async (ctx) => {
        await ctx.step("render", {}, async () => "a page");
        await ctx.step("write", {}, async () => "a file", { again: true });
        return `${await ctx.human.ask("Good?")} ${await ctx.ask("Say it.")}`;
      },
    });
    const roles = [defineRole({ name: "Ann", actions: [Work], memory: { store: inMemoryStore(), embedder } })];
    const team = new Team({ roles, model: scriptedModel(["one", "two"], { id: "poet" }), effects, human: () => "yes" });
    await team.run("go").result;
    const { output, error } = await team.run("go on").result;
    expect([output?.content, error]).toEqual(["yes two", undefined]);
    expect(embedded).toBeGreaterThan(0);
    expect(new Set(names)).toEqual(new Set(["step:render", "memory:recall", "model:poet"]));
  });

  it("has the scope of the run that asked, so what it was asked is forgotten too", async () => {
    for (const [scope, whole] of [
      [{ tenant: "shop", user: "ann" }, { user: "ann" }],
      [undefined, { conversation: "r" }],
    ] as const) {
      const [journal, driver] = [memoryJournal(), memoryRunDriver()];
      const worker = await startWorker({ driver, journal, teams: [effectTeam("step:forge", () => "a nail", { journal })] });
      const effects = remoteEffects({ driver, journal, effects: ["step:forge"] });
      const { status } = await smith(journal, effects).run("iron778899", { id: "r", ...(scope && { scope }) }).result;
      const all = async (): Promise<readonly string[]> =>
        Promise.all((await journal.runs()).map(async ({ runId }) => JSON.stringify(await eventsOf(journal, runId))));
      expect([status, (await all()).map((text) => text.includes("iron778899"))]).toEqual(["finished", [true, true]]);
      await worker.drain();
      expect((await forget(whole, { journal })).runs).toBe(2);
      expect((await all()).map((text) => text.includes("iron778899"))).toEqual([false, false]);
    }
  });

  it("RemoteEffects.E1 RemoteEffects.E3 continues when its coordinator is killed, and gives the next one its answer", async () => {
    const driver = memoryRunDriver();
    const host = simulatedProcesses(memoryJournal());
    const [far, coordinator, next] = [host.start(), host.start(), host.start()];
    const began = gate();
    const finish = gate<string>();
    let times = 0;
    const forge = effectTeam("step:forge", () => ((times += 1), began.resolve(), finish.promise), { journal: far.journal });
    const worker = await startWorker({ driver, journal: far.journal, teams: [forge] });
    const asking = (journal: Journal): Team => smith(journal, remoteEffects({ driver, journal, effects: ["step:forge"] }));
    void asking(coordinator.journal).run("iron", { id: "r" });
    await began.promise;
    coordinator.kill();
    const resumed = asking(next.journal).resume("r").result;
    finish.resolve("a nail");
    expect(await resumed).toMatchObject({ status: "finished" });
    expect(times).toBe(1);
    await worker.drain();
    const { runId = "" } = (await next.journal.runs()).find((run) => run.runId.startsWith("effect-")) ?? {};
    const call = { key: runId.replace("effect-", ""), kind: "step", name: "forge", request: {}, idempotent: false, began: true };
    const port = remoteEffects({ driver, journal: next.journal, effects: ["step:forge"] });
    const { answer } = await port.run({ ...call, signal: new AbortController().signal }, async () => "here");
    expect([answer, await driver.list({ limit: 1 })]).toEqual([{ ok: true, value: "a nail" }, []]);
  });

  it("that must not happen twice is uncertain when its worker dies in it", async () => {
    const driver = memoryRunDriver();
    const host = simulatedProcesses(memoryJournal());
    const [first, second, coordinator] = [host.start(), host.start(), host.start()];
    const began = gate();
    let times = 0;
    const pay = (journal: Journal): Team =>
      effectTeam("tool:pay", () => ((times += 1), began.resolve(), new Promise(() => {})), { journal });
    let lost: Working | undefined;
    const doomed: RunDriver = {
      submit: (job) => driver.submit(job),
      work: async (...given) => (lost = await driver.work(...given)),
      cancel: (runId) => driver.cancel(runId),
      list: (o) => driver.list(o),
      close: () => driver.close(),
    };
    await startWorker({ driver: doomed, journal: first.journal, teams: [pay(first.journal)] });
    const Pay = defineAction({
      name: "Pay",
      run: async (ctx) => ctx.steps.step({ kind: "tool", name: "pay", request: {}, idempotent: false }, async () => "here"),
    });
    const { journal } = coordinator;
    const effects = remoteEffects({ driver, journal, effects: ["tool:pay"] });
    const { result } = new Team({ journal, roles: [defineRole({ name: "Pam", actions: [Pay] })], effects }).run("x");
    await began.promise;
    first.kill();
    if (lost !== undefined) driver.lose(lost);
    const worker = await startWorker({ driver, journal: second.journal, teams: [pay(second.journal)] });
    expect(await result).toMatchObject({ status: "failed", error: { code: "STEP_UNCERTAIN" } });
    expect(times).toBe(1);
    await worker.drain();
  });

  it("asks a model elsewhere, within the budget of the run that asks", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const price = { input: 1, output: 2 };
    const model = scriptedModel(() => ({ content: "Rain.", usage: { inputTokens: 10, outputTokens: 3 } }), { id: "poet", price });
    const worker = await startWorker({ driver, journal, teams: [effectTeam("model:poet", askServedModel, { journal, model })] });
    const away = scriptedModel(() => new Error("not here"), { id: "poet", price });
    const Write = defineAction({ name: "Write", prompt: (ctx) => ctx.text });
    const writers = (record: Journal, given: ChatModel, effects?: EffectPort): Team =>
      new Team({
        ...{ journal: record, model: given, seed: "s", budget: usd(1) },
        ...{ roles: [defineRole({ name: "Wes", actions: [Write] })], ...(effects === undefined ? {} : { effects }) },
      });
    const run = writers(journal, away, remoteEffects({ driver, journal, effects: ["model:poet"] })).run("a poem", { id: "r" });
    const told: string[] = [];
    run.on("model.delta", ({ text }) => void told.push(text));
    const result = await run.result;
    expect([result.output?.content, told.join(""), result.error]).toEqual(["Rain.", "Rain.", undefined]);
    expect([model.calls.length, away.calls.length]).toEqual([1, 0]);
    const local = memoryJournal();
    expect(result.cost).toEqual((await writers(local, model).run("a poem", { id: "r" }).result).cost);
    expect(canonical(await eventsOf(journal, "r"))).toBe(canonical(await eventsOf(local, "r")));
    await worker.drain();
  });

  it("RemoteEffects.E4 that must not happen twice is uncertain when its queue fails, and an effect that may is not", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const port = remoteEffects({ driver, journal, effects: ["tool:t"] });
    await driver.close();
    const { signal } = new AbortController();
    const call = { kind: "tool", name: "t", request: 1, began: false, signal };
    const here = (): Promise<unknown> => Promise.resolve("here");
    expect(await codeOf(() => port.run({ ...call, key: "a", idempotent: true }, here))).toBe("DRIVER_CLOSED");
    expect(await codeOf(() => port.run({ ...call, key: "b", idempotent: false }, here))).toBe("STEP_UNCERTAIN");
  });

  it("RemoteEffects.E2 does not wait for a queue that is away when the run that asked is stopped", async () => {
    const [journal, clock] = [memoryJournal(), simulatedClock()];
    const asked = gate();
    const driver: RunDriver = {
      ...{ submit: async () => undefined, list: async () => [], close: async () => undefined },
      work: () => Promise.reject(new Error("no worker")),
      cancel: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    };
    const port = remoteEffects({ driver, journal, effects: ["tool:t"], clock });
    const stop = new AbortController();
    const call = { key: "k", kind: "tool", name: "t", request: 1, idempotent: true, began: false, signal: stop.signal };
    const ended = codeOf(() => port.run(call, async () => 1));
    stop.abort();
    await asked.promise;
    await clock.advance(2_000);
    expect(await ended).toBe("ABORTED");
  });

  it("RemoteEffects.E2 ends at its limit, and refuses what no worker can read", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const call = { key: "k", kind: "tool", name: "t", request: "x".repeat(1_000_001), idempotent: true, began: false };
    const { signal } = new AbortController();
    const clock = simulatedClock();
    const refusing = remoteEffects({ driver, journal, effects: ["tool:t"], clock });
    expect(await codeOf(() => refusing.run({ ...call, signal }, async () => 1))).toBe("EFFECT_TOO_LONG");
    // A timer that is left keeps a process running.
    expect(clock.pending).toBe(0);
    const port = remoteEffects({ driver, journal, effects: ["tool:t"], limit: 5 });
    expect(await codeOf(() => port.run({ ...call, request: 1, signal }, async () => 1))).toBe("TIMEOUT");
    expect(await driver.list({ limit: 1 })).toEqual([]);
    expect(await codeOf(() => effectTeam("render", () => 1))).toBe("ARGUMENT_INVALID");
  });
});
