import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert, asyncProperty, integer } from "fast-check";
import { describe, expect, it } from "vitest";
import { experiment, readExperiment, runExperiment } from "../../../src/research/index.ts";
import { tries } from "../../long.ts";
import { errorOf, scratchFolder } from "../../workspace/scratch.ts";
import { road } from "./walkers.ts";

const options = {
  params: { n: [1, 2, 3] },
  reps: 2,
  rounds: 2,
  world: road,
  collect: { said: ({ delivered }: { readonly delivered: number }) => delivered },
};
const walks = experiment(options);
const read = (out: string, file: string): string => readFileSync(join(out, file), "utf8");

describe("the folder of a sweep", () => {
  it("SweepFolder.F3 has the rows, the series, and what they were made from", async () => {
    const out = join(scratchFolder(), "new/walks");
    const { rows, series } = await runExperiment(walks, { out });
    expect(readdirSync(out).sort()).toEqual([
      "ODD.md",
      "cells.jsonl",
      "manifest.json",
      "rows.csv",
      "rows.jsonl",
      "rows.parquet",
      "series.csv",
      "series.jsonl",
      "series.parquet",
    ]);
    expect(
      read(out, "rows.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(rows);
    expect(read(out, "series.jsonl").trim().split("\n")).toHaveLength(series.length);
    expect(read(out, "rows.csv").split("\r\n")[0]).toBe(
      "cell,n,rep,seed,status,ended,rounds,tick,messages,unread,calls,usd,unpriced,error",
    );
    expect(JSON.parse(read(out, "manifest.json"))).toMatchObject({
      v: 3,
      experiment: { seed: "1", reps: 2 },
      versions: { node: process.versions.node },
      module: null,
    });
  });

  it("SweepFolder.F2 Sweep.W1 Sweep.W2 continues wherever it was cut off, to the same table", { tags: "numbers" }, async () => {
    const whole = scratchFolder();
    await runExperiment(walks, { out: whole });
    const { length } = read(whole, "cells.jsonl");
    await assert(
      asyncProperty(integer({ min: 0, max: length }), async (at) => {
        const out = scratchFolder();
        for (const file of ["manifest.json", "cells.jsonl"]) writeFileSync(join(out, file), read(whole, file));
        truncateSync(join(out, "cells.jsonl"), at);
        const kept = read(out, "cells.jsonl").split("\n").length - 1;
        expect((await runExperiment(walks, { out })).kept).toBe(kept);
        expect(["rows.jsonl", "series.jsonl", "rows.csv"].map((file) => read(out, file))).toEqual(
          ["rows.jsonl", "series.jsonl", "rows.csv"].map((file) => read(whole, file)),
        );
      }),
      { numRuns: tries(5, 200) },
    );
  });

  it("runs nothing again once it is finished, and failed runs where that is asked for", async () => {
    const out = scratchFolder();
    let isBroken = true;
    const flaky = experiment({
      ...options,
      world: (setting) => {
        if (isBroken && setting.params.n === 2) throw new Error("away");
        return road(setting);
      },
    });
    expect((await runExperiment(flaky, { out })).failed).toBe(2);
    isBroken = false;
    expect(await runExperiment(flaky, { out })).toMatchObject({ failed: 2, kept: 6 });
    expect(await runExperiment(flaky, { out, again: true })).toMatchObject({ failed: 0, kept: 4 });
  });

  it.each<[string, object, string]>([
    ["another seed", { seed: 2 }, 'seed was "1" and is "2"'],
    ["another parameter", { params: { m: [1, 2, 3] } }, "its parameters were n and are m"],
    ["another bound", { budget: { messages: 3 } }, "budget was {}"],
  ])("is refused for another experiment: %s", async (_name, other, said) => {
    const out = scratchFolder();
    await runExperiment(walks, { out });
    const error = await errorOf(() => runExperiment(experiment({ ...options, ...other }), { out }));
    expect([(error as { code?: string }).code, error.message.includes(said)]).toEqual(["EXPERIMENT_CHANGED", true]);
  });

  it("takes more repetitions and more values, to the table of one that had them at once, and runs nothing again", async () => {
    const counted = (more: object) => {
      const ran: string[] = [];
      const world: typeof road = (setting) => {
        const { params, rep } = setting as unknown as { readonly params: object; readonly rep: number };
        ran.push(JSON.stringify([params, rep]));
        return road(setting);
      };
      return { ran, sweep: experiment({ ...options, ...more, world }) };
    };
    const out = scratchFolder();
    await runExperiment(counted({}).sweep, { out });
    const whole = counted({ params: { n: [1, 2, 3, 9] }, reps: 4 });
    const at = scratchFolder();
    await runExperiment(whole.sweep, { out: at });
    const more = counted({ params: { n: [1, 2, 3, 9] } });
    const { kept } = await runExperiment(more.sweep, { out, reps: 4 });
    expect([kept, more.ran.length, new Set(more.ran).size]).toEqual([6, 10, 10]);
    for (const file of ["rows.jsonl", "series.jsonl"]) expect(read(out, file)).toBe(read(at, file));
    // The folder has what it was ever asked for.
    const less = counted({ params: { n: [2] } });
    expect((await runExperiment(less.sweep, { out, reps: 1 })).rows).toHaveLength(16);
    expect(less.ran).toEqual([]);
    expect(await readExperiment(out)).toMatchObject({ total: 16, done: 16, manifest: { asked: [4, 4, 4, 4] } });
  });

  it("runs some cells alone, and refuses one that is not there", async () => {
    const out = scratchFolder();
    expect((await runExperiment(walks, { out, cells: [2, 0], reps: 1 })).rows.map(({ cell, rep }) => [cell, rep])).toEqual([
      [0, 0],
      [2, 0],
    ]);
    expect(await readExperiment(out)).toMatchObject({ total: 2, done: 2 });
    expect(await errorOf(() => runExperiment(walks, { out, cells: [3] }))).toMatchObject({ code: "EXPERIMENT_CELL" });
    expect((await runExperiment(walks, { out })).kept).toBe(2);
  });

  it("is refused when a line of it was changed, and not touched", async () => {
    const out = scratchFolder();
    await runExperiment(walks, { out });
    const before = read(out, "cells.jsonl");
    appendFileSync(join(out, "cells.jsonl"), '{"cell":0}\n');
    expect(await errorOf(() => runExperiment(walks, { out }))).toMatchObject({ code: "EXPERIMENT_DAMAGED" });
    expect(read(out, "cells.jsonl")).toBe(`${before}{"cell":0}\n`);
    writeFileSync(join(out, "manifest.json"), "{}");
    expect(await errorOf(() => runExperiment(walks, { out }))).toMatchObject({ code: "EXPERIMENT_DAMAGED" });
  });

  it("SweepFolder.F1 takes one sweep at a time, and lets go of it at its end", async () => {
    const out = scratchFolder();
    let refused: unknown;
    const first = experiment({
      ...options,
      params: { n: [1] },
      reps: 1,
      world: async (setting) => {
        refused ??= await errorOf(() => runExperiment(first, { out }));
        return road(setting);
      },
    });
    await runExperiment(first, { out });
    expect(refused).toMatchObject({ code: "EXPERIMENT_BUSY" });
    expect(existsSync(join(out, "sweep.lock"))).toBe(false);
  });

  it("whose module was changed is refused until the change is accepted, keeps its runs, and says so", async () => {
    const out = scratchFolder();
    const of = (n: readonly number[]) => experiment({ ...options, params: { n }, reps: 1, world: road });
    await runExperiment(of([1]), { out });
    expect((await readExperiment(out)).warnings).toEqual([]);
    const manifest = JSON.parse(read(out, "manifest.json")) as object;
    const module = { sha256: "other", imports: {} };
    writeFileSync(join(out, "manifest.json"), JSON.stringify({ ...manifest, module }));
    expect(await errorOf(() => runExperiment(of([1, 2]), { out }))).toMatchObject({ code: "EXPERIMENT_CHANGED" });
    expect((await runExperiment(of([1, 2]), { out, acceptChange: true })).kept).toBe(1);
    const { warnings, manifest: now } = await readExperiment(out);
    expect([warnings, now.formerModules]).toEqual([[expect.stringContaining("change was accepted")], [module]]);
  });

  it("is refused where it cannot be made, and where its manifest is none", async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "file"), "");
    expect(await errorOf(() => runExperiment(walks, { out: join(folder, "file") }))).toMatchObject({ code: "OPTION_INVALID" });
    await runExperiment(walks, { out: join(folder, "out") });
    const manifest = JSON.parse(readFileSync(join(folder, "out/manifest.json"), "utf8")) as { readonly experiment: object };
    writeFileSync(join(folder, "out/manifest.json"), JSON.stringify({ ...manifest, v: 9 }));
    const error = await errorOf(() => readExperiment(join(folder, "out")));
    expect(error).toMatchObject({ code: "EXPERIMENT_VERSION", message: expect.stringContaining("got one of version 9") as string });
    for (const broken of [{}, { ...manifest, experiment: {} }, { ...manifest, experiment: { ...manifest.experiment, cells: [1] } }]) {
      writeFileSync(join(folder, "out/manifest.json"), JSON.stringify(broken));
      expect(await errorOf(() => readExperiment(join(folder, "out")))).toMatchObject({ code: "EXPERIMENT_DAMAGED" });
      expect(await errorOf(() => runExperiment(walks, { out: join(folder, "out") }))).toMatchObject({ code: "EXPERIMENT_DAMAGED" });
    }
  });

  it("is refused when its module was changed", async () => {
    const folder = scratchFolder();
    const module = pathToFileURL(join(folder, "walks.mjs")).href;
    const out = join(folder, "out");
    const text = "export const a = 1;\nexport const b = 2;\n";
    const stopped = new AbortController();
    writeFileSync(join(folder, "walks.mjs"), text);
    const begun = runExperiment(walks, { out, module, signal: stopped.signal, onProgress: () => stopped.abort() });
    expect(await errorOf(() => begun)).toMatchObject({ code: "ABORTED" });
    writeFileSync(join(folder, "walks.mjs"), text.replace("b = 2", "b = 3"));
    const error = await errorOf(() => runExperiment(walks, { out, module }));
    expect(error.message).toContain("its module has changed");
  });

  it("is refused when a file that its module imports was changed, also one that an imported file imports", async () => {
    const folder = scratchFolder();
    const module = pathToFileURL(join(folder, "walks.mjs")).href;
    const files = {
      "walks.mjs": 'import "./road.js";',
      "road.ts": 'export * from "./lib/steps.mjs";',
      "lib/steps.mjs": 'import data from "./data.json";',
    };
    mkdirSync(join(folder, "lib"));
    for (const [name, text] of Object.entries({ ...files, "lib/data.json": "[1]" })) writeFileSync(join(folder, name), text);
    const sweep = async (out: string): Promise<Error> => {
      const stopped = new AbortController();
      return errorOf(() =>
        runExperiment(walks, { out: join(folder, out), module, signal: stopped.signal, onProgress: () => stopped.abort() }),
      );
    };
    for (const name of ["road.ts", "lib/steps.mjs", "lib/data.json"]) {
      const out = `out-${name.replace("/", "-")}`;
      expect(await sweep(out)).toMatchObject({ code: "ABORTED" });
      expect(await sweep(out)).toMatchObject({ code: "ABORTED" });
      appendFileSync(join(folder, name), " ");
      expect(await sweep(out)).toMatchObject({
        code: "EXPERIMENT_CHANGED",
        message: expect.stringContaining(`${name}, which its module imports, has changed`),
      });
    }
    rmSync(join(folder, "lib/data.json"));
    expect((await sweep("out-lib-data.json")).message).toContain("is gone or no longer imported");
  });
});
