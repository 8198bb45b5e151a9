import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createMessage, defineAction, defineRole, Environment } from "../../src/index.ts";
import { experiment, policyModel, runExperiment } from "../../src/research/index.ts";
import { road } from "../research/experiment/walkers.ts";
import { command, expectRefusal, freshFolder, linesIn } from "./kept-run.ts";

const walks = experiment({
  name: "walks",
  params: { n: [1, 2], kind: ["a"] },
  reps: 2,
  rounds: 2,
  world: (setting) => (setting.params.n === 2 && setting.rep === 1 ? (undefined as never) : road(setting)),
  collect: { said: ({ delivered }) => delivered },
  measure: ({ params, rep }) => ({ size: params.n + rep }),
});

/** A working folder with the results of an experiment, one run of which failed. */
const cwd = freshFolder();
beforeAll(async () => {
  await runExperiment(walks, { out: join(cwd, "walks") });
});

describe("troupe experiment", () => {
  it("status tells how far it is, what failed, and what it was made by; ends with 1 where a run failed", async () => {
    const { code, stdout } = await command(cwd, ["experiment", "status", "walks"]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/walks\n.*2, 2 repetitions, seed 1\n.*4 of 4, 1 failed/)]);
    expect(stdout).toContain("cell 1, repetition 1: EXPERIMENT_INVALID");
    const [facts] = linesIn((await command(cwd, ["experiment", "status", "walks", "--json"])).stdout);
    expect(facts).toMatchObject({ type: "status", total: 4, done: 4, failed: 1, manifest: { experiment: { name: "walks" } } });
  });

  it("status tells what was spent, and the part of it that no row has", async () => {
    const model = policyModel({
      price: { input: 1, output: 2 },
      answer: () => ({ content: "Yes.", usage: { inputTokens: 100, outputTokens: 100 } }),
    });
    const Ask = defineAction({
      name: "Ask",
      async run(ctx) {
        await ctx.ask("Well?");
        if (ctx.text === "2") throw new RangeError("It falls.");
        return "";
      },
    });
    const asks = experiment({
      params: { n: [1, 2] },
      world: ({ seed }) => new Environment({ seed, model }).addRole(defineRole({ name: "Asker", actions: [Ask] })),
      begin: (world, { params }) => world.publishMessage(createMessage(`${params.n}`, { sendTo: "Asker" })),
    });
    await runExperiment(asks, { out: join(cwd, "asks") });
    const { stdout } = await command(cwd, ["experiment", "status", "asks"]);
    expect(stdout).toContain("2 calls, $0.0006; 1 call, $0.0003 of it are in no row: the run failed, or its process died");
    const [facts] = linesIn((await command(cwd, ["experiment", "status", "asks", "--json"])).stdout);
    expect(facts).toMatchObject({ spent: { calls: 2, usd: 0.0006 }, lost: { calls: 1, usd: 0.0003 } });
  });

  it("table shows means and standard errors by parameter", async () => {
    const shown = await command(cwd, ["experiment", "table", "walks", "--by", "n"]);
    expect([shown.code, shown.stdout.split("\n").slice(0, 3)]).toEqual([
      0,
      ["n  runs  failed  ended     size", "1  2     0       rounds 2  1.50 ± 0.50", "2  2     1       rounds 1  2"],
    ]);
    expect((await command(cwd, ["experiment", "table", "walks", "--by", "kind", "--csv"])).stdout.split("\r\n")[0]).toBe(
      "kind,runs,failed,ended,size,size_se",
    );
    const [group] = linesIn((await command(cwd, ["experiment", "table", "walks", "--of", "messages", "--json"])).stdout);
    expect(group).toMatchObject({ type: "group", n: 1, kind: "a", runs: 2, messages: 3, messages_se: 0 });
  });

  it("plot draws measures, and series by round", { tags: ["company", "long"] }, async () => {
    expect((await command(cwd, ["experiment", "plot", "walks"])).code).toBe(0);
    expect(readFileSync(join(cwd, "walks/plot.svg"), "utf8")).toContain("size");
    await command(cwd, ["experiment", "plot", "walks", "--x", "round", "--series", "n", "--out", "by-round.html"]);
    expect(readFileSync(join(cwd, "by-round.html"), "utf8")).toContain("said");
  });

  it.each<[string, readonly string[], string]>([
    ["a folder without results", ["table", "."], "EXPERIMENT_UNKNOWN"],
    ["a column that is not there", ["table", "walks", "--by", "m"], "EXPERIMENT_COLUMN"],
    ["a picture of another kind", ["plot", "walks", "--out", "plot.png"], "OPTION_INVALID"],
    ["another kind of plot", ["plot", "walks", "--kind", "pie"], "OPTION_INVALID"],
    ["a picture that cannot be written", ["plot", "walks", "--kind", "points", "--out", "none/plot.svg"], "OPTION_INVALID"],
    ["held values of another axis than rounds", ["plot", "walks", "--x", "n", "--hold"], "OPTION_INVALID"],
    ["a module that is not there", ["run", "walks.mjs"], "EXPERIMENT_UNREADABLE"],
    ["a module without an experiment", ["run", "none.mjs"], "EXPERIMENT_UNREADABLE"],
    ["a module that cannot be loaded", ["verify", "broken.mjs"], "EXPERIMENT_UNREADABLE"],
    ["no cell", ["replay", "none.mjs"], "COMMAND_INVALID"],
  ])("refuses %s", async (_name, words, code) => {
    writeFileSync(join(cwd, "none.mjs"), "export const n = 1;");
    writeFileSync(join(cwd, "broken.mjs"), "export const");
    await expectRefusal(cwd, ["experiment", ...words], code);
  });

  it("tells in one sentence why a module cannot be loaded", async () => {
    writeFileSync(join(cwd, "throws.mjs"), 'throw new Error("Expected a road, got none.");');
    const { stderr } = await command(cwd, ["experiment", "run", "throws.mjs"]);
    expect(stderr).toContain("cannot be loaded: Expected a road, got none. (");
  });

  it("plot draws a heat map of two parameters, and series whose runs keep their last values", { tags: ["company", "long"] }, async () => {
    const heat = await command(cwd, ["experiment", "plot", "walks", "--kind", "heatmap", "--out", "heat.html", "--json"]);
    expect(linesIn(heat.stdout)).toMatchObject([{ kind: "heatmap", x: "n", y: "kind", value: "size" }]);
    expect((await command(cwd, ["experiment", "plot", "walks", "--x", "round", "--hold", "--out", "held.svg"])).code).toBe(0);
  });
});
