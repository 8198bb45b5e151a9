import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createMessage, defineRole, Environment } from "../../../src/index.ts";
import { experiment, policyModel, readExperiment, replayCell, runExperiment } from "../../../src/research/index.ts";
import { SweepFolder } from "../../../src/research/experiment/sweep-folder.ts";
import { mergeParts } from "../../../src/research/experiment/merge.ts";
import { errorOf, scratchFolder } from "../../workspace/scratch.ts";
import { road } from "./walkers.ts";

const walks = experiment({
  name: "walks",
  params: { n: [1, 2, 3] },
  reps: 4,
  rounds: 2,
  world: road,
  collect: { said: ({ delivered }) => delivered },
});

async function partsOf(of: number): Promise<readonly string[]> {
  const folder = scratchFolder();
  const parts = Array.from({ length: of }, (_, n) => join(folder, `part-${n + 1}`));
  for (const [n, out] of parts.entries()) await runExperiment(walks, { out, part: `${n + 1}/${of}` });
  return parts;
}

const tablesOf = (out: string): readonly string[] => ["rows.jsonl", "series.jsonl"].map((file) => readFileSync(join(out, file), "utf8"));

describe("parts of a sweep", () => {
  it.each([1, 3, 5])("%i together have each run once, and merge to the table of the whole", async (of) => {
    const whole = scratchFolder();
    await runExperiment(walks, { out: whole });
    const parts = await partsOf(of);
    const runs = await Promise.all(parts.map(async (part) => (await readExperiment(part)).done));
    expect([runs.reduce((sum, n) => sum + n, 0), Math.max(...runs) - Math.min(...runs) <= 2]).toEqual([12, true]);
    const out = join(scratchFolder(), "all");
    expect(await mergeParts(out, parts)).toEqual({ total: 12, done: 12, failed: 0 });
    expect(tablesOf(out)).toEqual(tablesOf(whole));
    // A second merge changes nothing, and the whole grows as any folder.
    const lines = readFileSync(join(out, "cells.jsonl"), "utf8");
    await mergeParts(out, [...parts, ...parts, out]);
    expect(readFileSync(join(out, "cells.jsonl"), "utf8")).toBe(lines);
    expect((await runExperiment(walks, { out, reps: 5 })).kept).toBe(12);
  });

  it("bring what there is, and tell what is missing", async () => {
    const [first = ""] = await partsOf(3);
    const out = scratchFolder();
    expect(await mergeParts(out, [first])).toEqual({ total: 12, done: 4, failed: 0 });
    expect((await runExperiment(walks, { out })).kept).toBe(4);
  });

  it("are refused with the first difference where they are of another sweep, part or version, and while a sweep writes there", async () => {
    const [first = "", second = ""] = await partsOf(3);
    const out = scratchFolder();
    const other = join(scratchFolder(), "other");
    await runExperiment(walks, { out: other, seed: 2 });
    const refused = await errorOf(() => mergeParts(out, [first, second, other]));
    expect(refused).toMatchObject({ code: "EXPERIMENT_CHANGED", message: expect.stringContaining('seed was "1" and is "2"') as string });
    const moved = join(scratchFolder(), "moved");
    await runExperiment(experiment({ ...walks.options, params: { n: [2, 1, 3] } }), { out: moved });
    expect((await errorOf(() => mergeParts(out, [first, moved]))).message).toContain('cell 0 was {"n":1} and is {"n":2}');
    // Both have cells that the first has not, and not the same.
    const grown: string[] = [];
    for (const n of [[1], [1, 2], [1, 3]] as const) {
      grown.push(join(scratchFolder(), `of-${n.join("-")}`));
      await runExperiment(experiment({ ...walks.options, params: { n } }), { out: grown.at(-1) ?? "" });
    }
    expect((await errorOf(() => mergeParts(out, grown))).message).toContain('cell 1 was {"n":2} and is {"n":3}');
    expect((await errorOf(() => runExperiment(walks, { out: first, part: "2/3" }))).message).toContain("its part was 1/3 and is 2/3");
    expect(await errorOf(() => mergeParts(out, [join(out, "none")]))).toMatchObject({ code: "EXPERIMENT_UNKNOWN" });
    const busy = await SweepFolder.open(first, () => undefined);
    expect(await errorOf(() => mergeParts(out, [first, second]))).toMatchObject({ code: "EXPERIMENT_BUSY" });
    await busy.close();
    expect(existsSync(join(out, "cells.jsonl"))).toBe(false);
    appendFileSync(join(second, "manifest.json"), "?");
    expect(await errorOf(() => mergeParts(out, [first, second]))).toMatchObject({ code: "EXPERIMENT_DAMAGED" });
  });

  it("bring their records", async () => {
    const model = policyModel({
      price: { input: 1, output: 2 },
      answer: () => ({ content: "Yes.", usage: { inputTokens: 100, outputTokens: 100 } }),
    });
    const asks = experiment({
      params: { n: [1, 2] },
      world: ({ seed, run }) =>
        new Environment({ seed, model, ...run }).addRole(
          defineRole({
            name: "Asker",
            watch: [],
            async react(rc) {
              await rc.ask("Well?");
            },
          }),
        ),
      begin: (world) => world.publishMessage(createMessage("go", { sendTo: "Asker" })),
    });
    const folder = scratchFolder();
    const parts = [join(folder, "1"), join(folder, "2")];
    for (const [n, out] of parts.entries()) await runExperiment(asks, { out, part: `${n + 1}/2` });
    const out = join(folder, "all");
    await mergeParts(out, parts);
    expect((await readExperiment(out)).spent.calls).toBe(2);
    for (const cell of [0, 1]) expect(await replayCell(asks, { cell, out })).toMatchObject({ isRecorded: true, changed: [] });
  });
});
