// @module-tag science
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readExperiment, type Row, runExperiment, verifyExperiment } from "../../../src/research/index.ts";
import type { AnyExperiment } from "../../../src/research/experiment/experiment.ts";
import { olderOrNewerNode } from "../nodes.ts";
import { errorOf, scratchFolder } from "../../workspace/scratch.ts";

const path = join(import.meta.dirname, "walks.mjs");
const module = pathToFileURL(path).href;
const { walks } = (await import(path)) as { readonly walks: Parameters<typeof runExperiment>[0] };

async function withHarm<T>(kind: string, work: () => Promise<T>): Promise<T> {
  process.env["WALKS_HARM"] = kind;
  try {
    return await work();
  } finally {
    delete process.env["WALKS_HARM"];
  }
}

/** Milliseconds for a run that never ends. The others take milliseconds, and their processes may start slowly. */
const LATE = 8_000;

describe("a sweep over processes", () => {
  it("has the rows of one in this process, with any number of workers", async () => {
    const { rows, series } = await runExperiment(walks);
    for (const workers of [1, 3]) expect(await runExperiment(walks, { module, workers })).toMatchObject({ rows, series, failed: 0 });
  });

  it.each([
    [
      "ends its process",
      "ends",
      "EXPERIMENT_DIED: Expected the process of the run to live, but it ended with exit code 3, in each of 3 tries.",
    ],
    ["throws where nobody catches", "later", "but it ended with exit code 1 after Error: It fell, in each of 3 tries."],
    ["is killed", "killed", "it was ended by SIGKILL"],
    ["never ends", "never", `EXPERIMENT_LATE: Expected the run to end within ${LATE} ms`],
    ["fills the heap", "heap", "EXPERIMENT_MEMORY: Expected the run to take at most 200 megabytes"],
    ["fills buffers", "buffers", "EXPERIMENT_MEMORY"],
    ["throws", "throws", "no world"],
  ])("Sweep.W3 CellProcess.P1 continues when a run %s", async (_name, kind, said) => {
    const { rows: whole } = await runExperiment(walks);
    const { rows, failed } = await withHarm(kind, () =>
      runExperiment(walks, { module, workers: 2, timeLimit: kind === "never" ? LATE : 60_000, memory: 200 }),
    );
    expect(failed).toBe(1);
    const isHarmed = ({ steps, rep }: Row): boolean => steps === 8 && rep === 1;
    expect(rows.filter((row) => !isHarmed(row))).toEqual(whole.filter((row) => !isHarmed(row)));
    expect(rows.find(isHarmed)?.["error"]).toContain(said);
  });

  it("UseWatch.W2 counts what runs spent whose process died, in the tries of one that ended well too", async () => {
    const file = join(import.meta.dirname, "asking.mjs");
    const { asking } = (await import(file)) as { readonly asking: AnyExperiment };
    const out = scratchFolder();
    process.env["ASKING_MARK"] = join(out, "mark");
    const { rows, spent, lost } = await runExperiment(asking, { module: pathToFileURL(file).href, out, workers: 1, tries: 2 });
    delete process.env["ASKING_MARK"];
    expect(rows.map(({ status, calls }) => [status, calls])).toEqual([
      ["done", 2],
      ["done", 2],
      ["failed", null],
    ]);
    expect([spent, lost]).toEqual([
      { calls: 10, usd: 0.003, unpriced: 0 },
      { calls: 6, usd: 0.0018, unpriced: 0 },
    ]);
    const { manifest, ...kept } = await readExperiment(out);
    expect(kept).toMatchObject({ spent, lost });
    expect(manifest.used?.models).toEqual([{ id: "priced", price: { input: 1, output: 2 } }]);
  });

  it.skipIf(olderOrNewerNode() === undefined)("is verified in processes of two versions of Node", async () => {
    const nodes = [process.execPath, olderOrNewerNode() ?? ""];
    const found = await verifyExperiment(walks, { module, nodes, runs: 3 });
    expect(found).toMatchObject({ isEqual: true, runs: 3, warnings: [] });
    expect(found.ways).toHaveLength(8);
  });

  it("gives the first difference where a run depends on what its process did before", async () => {
    const leaky = join(import.meta.dirname, "leaky.mjs");
    const { leak } = (await import(leaky)) as { readonly leak: AnyExperiment };
    const { isEqual, differences } = await verifyExperiment(leak, { module: pathToFileURL(leaky).href, concurrency: [1] });
    expect([isEqual, differences.length, differences[0]?.right]).toEqual([false, 1, "a process of its own"]);
    expect(differences[0]?.text).toContain("message");
  });

  it("starts no process with another text of the module than the first ones had", async () => {
    const file = join(scratchFolder(), "changing.mjs");
    const from = (entry: string): string => JSON.stringify(new URL(`../../../dist/src/${entry}`, import.meta.url).href);
    writeFileSync(
      file,
      `import { appendFileSync } from "node:fs";
import { experiment } from ${from("research/index.js")};
import { Environment } from ${from("index.js")};
function world() {
  if (process.env.TROUPE_CELL === undefined) return new Environment({ seed: 1 });
  appendFileSync(${JSON.stringify(file)}, "// another text\\n");
  process.exit(3);
}
export const changing = experiment({ name: "changing", params: { n: [1, 2] }, world });
`,
    );
    const { changing } = (await import(pathToFileURL(file).href)) as { readonly changing: AnyExperiment };
    const error = await errorOf(() => runExperiment(changing, { module: pathToFileURL(file).href, workers: 1 }));
    expect(error).toMatchObject({ code: "EXPERIMENT_CHANGED" });
  });

  it("says so where the memory that is given is too little for any process", async () => {
    const file = join(scratchFolder(), "loading.mjs");
    const from = (entry: string): string => JSON.stringify(new URL(`../../../dist/src/${entry}`, import.meta.url).href);
    writeFileSync(
      file,
      `import { experiment } from ${from("research/index.js")};
if (process.env.TROUPE_CELL !== undefined) await new Promise((resolve) => setTimeout(resolve, 600_000));
export const loading = experiment({ name: "loading", params: { n: [1] }, world: () => undefined });
`,
    );
    const { loading } = (await import(pathToFileURL(file).href)) as { readonly loading: AnyExperiment };
    const error = await errorOf(() => runExperiment(loading, { module: pathToFileURL(file).href, workers: 1, memory: 1 }));
    expect(error).toMatchObject({ code: "EXPERIMENT_UNREADABLE", message: expect.stringContaining("it took more than 1 megabytes") });
  });

  it("refuses a module that gives another experiment in each process", async () => {
    process.env["WALKS_MORE"] = "32";
    const error = await errorOf(() => runExperiment(walks, { module, workers: 1 }));
    delete process.env["WALKS_MORE"];
    expect(error).toMatchObject({ code: "EXPERIMENT_CHANGED" });
  });
});
