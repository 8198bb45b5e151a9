import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { array, assert, constantFrom, nat, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/kernel/json.ts";
import { type CellUse, UseSum } from "../../../src/research/experiment/cell-use.ts";
import {
  type ChatModel,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  type EnvironmentOptions,
  Team,
  usd,
} from "../../../src/index.ts";
import { experiment, policyModel, readExperiment, runExperiment } from "../../../src/research/index.ts";
import type { CellBudget } from "../../../src/research/experiment/experiment.ts";
import { scratchFolder } from "../../workspace/scratch.ts";

const PRICE = { input: 1, output: 2 };
/** An answer that costs 300 micro-dollars at that price. */
const answer = () => ({ content: "Yes.", usage: { inputTokens: 100, outputTokens: 100 } });
const priced = policyModel({ id: "priced", answer, price: PRICE });

/** Asks so often, once in a round, and throws after that where it shall. */
function asker(times: number, isFaulty: boolean = false) {
  return defineRole({
    name: "Asker",
    description: "You ask.",
    watch: [],
    async react(rc) {
      const n = Number(rc.inbox.at(-1)?.content);
      await rc.ask(`Question ${n}?`);
      if (n + 1 >= times && isFaulty) throw new RangeError("It falls.");
      return n + 1 < times ? rc.message(String(n + 1), { sendTo: "<self>" }) : undefined;
    },
  });
}

interface Hall extends Pick<EnvironmentOptions, "prices"> {
  readonly times: number;
  readonly isFaulty?: boolean;
  readonly model: ChatModel;
  readonly seed: string;
}

function hall({ times, isFaulty, ...rest }: Hall): Environment {
  return new Environment(rest).addRole(asker(times, isFaulty));
}

const begin = (world: Environment) => world.publishMessage(createMessage("0", { sendTo: "Asker" }));

describe("the spending of a sweep", () => {
  it("SweepUse.S1 UseWatch.W1 counts runs that fail, which no row does, and once more where they run again", async () => {
    const out = scratchFolder();
    const faulty = experiment({
      params: { isFaulty: [false, true] },
      world: ({ params, seed }) => hall({ times: 3, ...params, model: priced, seed }),
      begin,
    });
    const { rows, spent, lost } = await runExperiment(faulty, { out });
    expect(rows.map(({ status, calls, usd: cost }) => [status, calls, cost])).toEqual([
      ["done", 3, 0.0009],
      ["failed", null, null],
    ]);
    expect([spent, lost]).toEqual([
      { calls: 6, usd: 0.0018, unpriced: 0 },
      { calls: 3, usd: 0.0009, unpriced: 0 },
    ]);
    expect(await readExperiment(out)).toMatchObject({ spent, lost });
    const again = await runExperiment(faulty, { out, again: true });
    expect([again.kept, again.spent.calls, again.lost.calls]).toEqual([1, 9, 6]);
  });

  it("counts runs of teams, whose time was up, and of a model without a price", async () => {
    // Its second question is never answered.
    const waits = policyModel({
      id: "waits",
      price: PRICE,
      answer: ({ messages }) => (String(messages.at(-1)?.content).includes("1") ? new Promise<never>(() => undefined) : answer()),
    });
    const { price: _price, ...unpriced } = policyModel({ id: "unpriced", answer });
    const Ask = defineAction({ name: "Ask", run: async (ctx) => `${await ctx.ask("Question 0?")} ${await ctx.ask("Question 1?")}` });
    const teams = experiment({
      params: { isSlow: [true, false] },
      world: ({ params, seed }) => {
        const team = new Team({ seed, roles: [defineRole({ name: "Asker", actions: [Ask] })], model: params.isSlow ? waits : unpriced });
        return { run: (o) => team.run("go", o) };
      },
    });
    const { rows, spent, lost } = await runExperiment(teams, { timeLimit: 200 });
    expect(rows.map(({ error }) => String(error).split(":")[0])).toEqual(["EXPERIMENT_LATE", "null"]);
    expect([spent.calls, spent.unpriced, lost.calls]).toEqual([3, 2, 1]);
    expect(lost.usd).toBeGreaterThanOrEqual(0.0003);
  });

  it("comes from the result where a world cannot be observed", async () => {
    const hidden = experiment({
      params: { isFaulty: [false, true] },
      world: ({ params, seed }) => {
        const world = hall({ times: 2, ...params, model: priced, seed });
        begin(world);
        return { run: (o) => world.run(o) };
      },
    });
    const out = scratchFolder();
    const { spent, lost } = await runExperiment(hidden, { out });
    expect([spent.usd, lost.usd]).toEqual([0.0012, 0.0006]);
    expect((await readExperiment(out)).manifest.used?.models).toEqual([{ id: "priced", price: null }]);
  });
});

describe("the manifest of a sweep", () => {
  it("UseSum.U1 has the prices that calls were settled by: of the model, of the world, of the list, or none", async () => {
    const world = { input: 7, output: 7 };
    const listed: ChatModel = { ...policyModel({ id: "gpt-4o-mini", answer }) };
    const { price: _free, ...byList } = listed;
    const { price: _none, ...unknown } = policyModel({ id: "unknown", answer });
    const models: Readonly<Record<string, ChatModel>> = { priced, byList, unknown };
    const out = scratchFolder();
    const sweep = experiment({
      params: { of: ["priced", "byList", "unknown"], isOwn: [false, true] },
      world: ({ params, seed }) =>
        hall({
          times: 1,
          isFaulty: params.of === "byList",
          model: models[params.of] ?? priced,
          seed,
          ...(params.isOwn ? { prices: { priced: world } } : {}),
        }),
      begin,
    });
    await runExperiment(sweep, { out });
    const { used } = (await readExperiment(out)).manifest;
    expect(used?.models).toEqual([
      { id: "gpt-4o-mini", price: expect.objectContaining({ input: 0.15, output: 0.6 }) as object },
      { id: "priced", price: PRICE },
      { id: "priced", price: world },
      { id: "unknown", price: null },
    ]);
    expect(used?.prompts.count).toBe(1);
  });

  it("UseSum.U1 has how models were asked, and the versions and fingerprints that answered", async () => {
    const out = scratchFolder();
    const served = (n: number) => ({ model: "versioned-2026-01-01", fingerprint: `fp_${n}` });
    const versioned = policyModel({ id: "versioned", price: PRICE, answer });
    const asks = experiment({
      params: { n: [1, 2] },
      reps: 2,
      world: ({ params, seed }) => {
        const chat: ChatModel["chat"] = async (request, o) => ({ ...(await versioned.chat(request, o)), served: served(params.n) });
        const model: ChatModel = { ...versioned, streams: false, extra: { top_p: 0.5 }, chat };
        const asking = defineRole({ name: "Asker", watch: [], react: async (rc) => void (await rc.ask("Well?", { temperature: 0 })) });
        return new Environment({ seed, model }).addRole(asking);
      },
      begin,
    });
    await runExperiment(asks, { out });
    const options = { temperature: 0, extra: { top_p: 0.5 } };
    expect((await readExperiment(out)).manifest.used?.asked).toEqual([1, 2].map((n) => ({ id: "versioned", options, served: served(n) })));
  });

  it("has the commit of the folder of the module, whether files there differ from it, and the machine", async () => {
    const folder = scratchFolder();
    const git = (...words: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], { cwd: folder, encoding: "utf8" });
    const module = join(folder, "walk.mjs");
    writeFileSync(module, "export {};\n");
    git("init", "--quiet");
    git("add", "walk.mjs");
    git("commit", "--quiet", "-m", "A walk");
    const id = git("rev-parse", "HEAD").trim();
    const { manifestOf } = await import("../../../src/research/experiment/manifest.ts");
    const { plan } = experiment({ params: { n: [1] }, world: ({ seed }) => new Environment({ seed }) });
    const made = () => manifestOf({ experiment: plan, asked: [1], part: null }, pathToFileURL(module).href, { troupe: "0", now: 0 });
    expect(await made()).toMatchObject({
      commit: { id, changed: false },
      machine: {
        cpu: cpus()[0]?.model,
        cores: cpus().length,
        memory: totalmem(),
        platform: expect.stringContaining(process.platform) as string,
      },
      versions: { node: process.versions.node, v8: process.versions.v8 },
      began: "1970-01-01T00:00:00.000Z",
    });
    writeFileSync(module, `${readFileSync(module, "utf8")}// changed\n`);
    expect((await made()).commit).toEqual({ id, changed: true });
  });
});

describe("a sum of uses", () => {
  it("UseSum.U1 UseSum.U2 has each model at each price once, in whatever order uses come", () => {
    const model = record({
      id: constantFrom("a", "b"),
      price: constantFrom(null, PRICE, { output: 2, input: 1 }, { input: 3, output: 4 }),
    });
    const some = record({
      calls: nat(),
      microUsd: nat(),
      unpriced: nat(),
      models: array(model),
      prompts: array(constantFrom("p", "q", "r")),
    });
    const sumOf = (uses: readonly CellUse[]): CellUse => {
      const sum = new UseSum();
      for (const one of uses) sum.add(one);
      return sum.use;
    };
    assert(
      property(array(some), (uses) => {
        const { models, prompts, calls } = sumOf(uses);
        expect(new Set(models.map((one) => canonicalJson(one))).size).toBe(models.length);
        expect([new Set(prompts).size, calls]).toEqual([prompts.length, uses.reduce((sum, one) => sum + one.calls, 0)]);
        expect(canonicalJson(sumOf(uses.toReversed()))).toBe(canonicalJson(sumOf(uses)));
      }),
    );
  });
});

describe("a budget of an experiment", () => {
  it.each<[string, CellBudget, readonly unknown[]]>([
    ["of calls ends a run in the round that reaches it", { calls: 3 }, ["calls", 3, 3, 0.0009]],
    ["of dollars too", { usd: usd(0.001) }, ["usd", 4, 4, 0.0012]],
    ["of messages too", { messages: 2 }, ["messages", 1, 1, 0.0003]],
    ["that is not reached ends none", { calls: 7, usd: usd(1), messages: 100 }, ["idle", 6, 6, 0.0018]],
  ])("%s", async (_name, budget, expected) => {
    const bounded = experiment({
      params: { times: [6] },
      world: ({ params, seed }) => hall({ ...params, model: priced, seed }),
      begin,
      budget,
    });
    const { rows } = await runExperiment(bounded);
    expect(rows.map(({ ended, rounds, calls, usd: cost }) => [ended, rounds, calls, cost])).toEqual([expected]);
  });
});
