import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../../src/adapters/sqlite.ts";
import { canonical, createMessage, defineAction, defineRole, Environment, Team } from "../../../src/index.ts";
import { experiment, experimentTable, readExperiment, replayCell, runExperiment, verifyExperiment } from "../../../src/research/index.ts";
import { placeOfError } from "../../../src/research/experiment/manifest.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { errorOf, scratchFolder } from "../../workspace/scratch.ts";
import { emptyRoad, road } from "./walkers.ts";

const go = (made: Environment): unknown => made.publishMessage(createMessage("go", { sendTo: ["Walker"] }));
const options = { name: "walks", params: { n: [1, 2] }, reps: 2, rounds: 3, world: emptyRoad, begin: go };
const walks = experiment({ ...options, measure: ({ result }) => ({ last: result.messages.at(-1)?.content ?? "" }) });

describe("the place of an error", () => {
  it.each([
    ["at process.processTicksAndRejections (node:internal/process/task_queues:95:5)", undefined],
    ["at async file:///study/coins.mjs:3:4", "/study/coins.mjs:3:4"],
    ["at async Object.measure (/study/coins.mjs:3:4)", "/study/coins.mjs:3:4"],
    ["at /study/coins.mjs:3:4", "/study/coins.mjs:3:4"],
    ["at Object.step (file:///study/a%20b/coins.mjs:3:4)", "/study/a b/coins.mjs:3:4"],
    ["at draw (/study/node_modules/vega/index.js:3:4)", undefined],
  ])("is a line of the program alone: %s", (line, place) => {
    const error = Object.assign(new Error("It falls."), { stack: `Error: It falls.\n    ${line}` });
    expect(placeOfError(error)).toBe(place);
  });
});

describe("a replay of a cell", () => {
  it("has the row of the sweep, and its whole record in a journal", async () => {
    const out = join(scratchFolder(), "walks");
    const { rows } = await runExperiment(walks, { out });
    const { row, changed, journal: kept, events } = await replayCell(walks, { cell: 1, rep: 1, out });
    expect([row, changed]).toEqual([rows[3], []]);
    const journal = sqlite({ path: kept?.path ?? "" });
    const read = [];
    for await (const event of journal.read(kept?.runId ?? "", 0)) read.push(event);
    await journal.close();
    expect(canonical(read)).toBe(canonical(events));
    expect([read[0]?.type, read[1]?.type, read.at(-1)]).toMatchObject(["run.started", "message", { type: "run.ended", status: "rounds" }]);
    expect((await replayCell(walks, { cell: 1, rep: 1, out })).changed).toEqual([]);
  });

  it("reports the columns in which a changed program differs", async () => {
    const out = scratchFolder();
    await runExperiment(walks, { out });
    const other = experiment({ ...options, rounds: 2, measure: () => ({ last: "?" }) });
    expect((await replayCell(other, { cell: 0, out })).changed).toEqual(["rounds", "tick", "messages", "last"]);
  });

  it("refuses a cell that is not there, and a world whose record is not whole", async () => {
    expect(await errorOf(() => replayCell(walks, { cell: 2 }))).toMatchObject({ code: "EXPERIMENT_CELL" });
    expect(await errorOf(() => replayCell(walks, { cell: 0, rep: 2 }))).toMatchObject({ code: "EXPERIMENT_CELL" });
    expect(await errorOf(() => replayCell(experiment({ params: { n: [1] }, world: road }), { cell: 0 }))).toMatchObject({
      code: "EXPERIMENT_RECORD",
    });
  });

  it("reports the error and its place of a run that fails, with a record and without", async () => {
    const faller = defineRole({
      name: "Walker",
      react: () => {
        throw new RangeError("It falls.");
      },
    });
    const falls = experiment({ params: { n: [1] }, world: ({ seed }) => new Environment({ seed }).addRole(faller), begin: go });
    const out = scratchFolder();
    await runExperiment(falls, { out });
    const here = expect.stringMatching(/again\.test\.ts:\d+:\d+$/) as string;
    expect((await readExperiment(out)).failures).toMatchObject([
      { cell: 0, rep: 0, error: expect.stringContaining("It falls"), place: here },
    ]);
    expect(await replayCell(falls, { cell: 0, out })).toMatchObject({ row: { status: "failed" }, place: here, changed: [] });
    const none = experiment({
      params: { n: [1] },
      world: () => {
        throw new RangeError("There is no road.");
      },
    });
    const error = await errorOf(() => replayCell(none, { cell: 0 }));
    expect(error).toMatchObject({
      code: "EXPERIMENT_RECORD",
      message: expect.stringMatching(/it failed at .*again.*: There is no road\. Correct/),
    });
  });

  it("records a team, its calls and what it was asked with", async () => {
    const Greet = defineAction({ name: "Greet", prompt: (ctx) => `Greet ${ctx.text}.` });
    const greetings = experiment({
      params: { who: ["Ada", "Bob"] },
      world: ({ params, seed }) => {
        const team = new Team({ seed, roles: [defineRole({ name: "Hana", actions: [Greet] })], model: scriptedModel(["Welcome."]) });
        return { run: (o) => team.run(params.who, o) };
      },
    });
    const out = scratchFolder();
    const { rows } = await runExperiment(greetings, { out });
    expect(rows.map(({ calls, ended, status }) => [calls, ended, status])).toEqual([
      [1, "idle", "done"],
      [1, "idle", "done"],
    ]);
    const { used } = (await readExperiment(out)).manifest;
    expect(used).toMatchObject({ models: [{ price: { input: 0, output: 0 } }], prompts: { count: 1 } });
    const { events, changed } = await replayCell(greetings, { cell: 0, out });
    expect([changed, events.some(({ type }) => type === "step.ended")]).toEqual([[], true]);
  });
});

describe("a verification", () => {
  it("finds equal runs equal, and says how they ran", async () => {
    expect(await verifyExperiment(walks)).toEqual({
      isEqual: true,
      runs: 4,
      ways: ["concurrency 1", "concurrency 2", "concurrency 64"],
      differences: [],
      warnings: [],
    });
  });

  it("gives the first difference of a run that depends on its concurrency", async () => {
    const roles = [1, 2, 3].map((n) => defineRole({ name: `R${n}`, react: async (rc) => rc.message(`${(last += 1)}`) }));
    let last = 0;
    const counted = experiment({
      params: { n: [1] },
      world: ({ concurrency }) => new Environment({ seed: 1, concurrency }).addRoles(roles),
      begin: (made) => {
        last = 0;
        made.publishMessage(createMessage("go", { sendTo: concurrencyFirst() }));
      },
    });
    let calls = 0;
    const concurrencyFirst = (): readonly string[] => ((calls += 1) % 2 === 1 ? ["R1", "R2"] : ["R2", "R3"]);
    const { isEqual, differences } = await verifyExperiment(counted, { concurrency: [1, 2] });
    expect([isEqual, differences[0]?.left, differences[0]?.right]).toEqual([false, "concurrency 1", "concurrency 2"]);
    expect(differences[0]?.text).toContain("message");
  });

  it("gives the column where the records are equal and the rows are not", async () => {
    let n = 0;
    const drifting = experiment({ ...options, measure: () => ({ count: (n += 1) }) });
    expect((await verifyExperiment(drifting, { runs: 1 })).differences[0]?.text).toContain("column count");
  });

  it("warns of a world that does not take the concurrency, and of runs that fail", async () => {
    const fixed = experiment({
      ...options,
      world: ({ seed }) => emptyRoad({ seed, concurrency: 1 }),
      measure: () => {
        throw new Error("broken");
      },
    });
    const { warnings, runs } = await verifyExperiment(fixed, { runs: 1 });
    expect([runs, warnings.length, warnings[0]?.includes("concurrency"), warnings[1]?.includes("fails")]).toEqual([1, 2, true, true]);
  });
});

describe("a table", () => {
  const rows = [
    { n: 1, kind: "a", status: "done", x: 1, good: true },
    { n: 1, kind: "b", status: "done", x: 3, good: false },
    { n: 2, kind: "a", status: "failed" },
    { n: 2, kind: "a", status: "done", x: 5, good: true },
  ];

  /** Wilson 1927 at 95 %, in the form of Newcombe 1998. */
  const share = (p: number, n: number) => {
    const z = 1.959964;
    const root = z * Math.sqrt(z * z + 4 * n * p * (1 - p));
    const [low, high] = [-1, 1].map((side) => (2 * n * p + z * z + side * root) / (2 * (n + z * z)));
    return { low: expect.closeTo(low ?? 0, 5) as number, high: expect.closeTo(high ?? 0, 5) as number };
  };

  it("has the mean and the standard error of each group, and the share of true with its interval", () => {
    expect(experimentTable(rows, { by: ["n"] })).toEqual([
      { n: 1, runs: 2, failed: 0, x: 2, x_se: 1, good: 0.5, good_low: share(0.5, 2).low, good_high: share(0.5, 2).high },
      { n: 2, runs: 2, failed: 1, x: 5, x_se: null, good: 1, good_low: share(1, 1).low, good_high: 1 },
    ]);
    expect(experimentTable(rows, { by: ["kind"], of: ["good"] })).toMatchObject([
      { kind: "a", good: 1 },
      { kind: "b", good: 0, good_low: 0 },
    ]);
    expect(experimentTable(rows, { by: [] })).toMatchObject([{ runs: 4, x: 3 }]);
    expect(experimentTable([], { by: ["n"] })).toEqual([]);
  });

  it("refuses columns that are not there, or are no numbers", () => {
    expect(() => experimentTable(rows, { by: ["m"] })).toThrow(/Expected a column of the rows, got "m"/);
    expect(() => experimentTable(rows, { by: ["n"], of: ["kind"] })).toThrow(/Expected numbers in the column kind/);
    expect(() => experimentTable([{ n: 1, x: 1, x_se: 2 }], { by: ["n"] })).toThrow(/got x and x_se/);
    for (const name of ["runs", "failed"]) expect(() => experiment({ params: { [name]: [1] }, world: road })).toThrow(/columns/);
  });

  it("is read from the folder of a sweep, also while it is cut off", async () => {
    const out = scratchFolder();
    const stop = new AbortController();
    const sweep = runExperiment(walks, { out, signal: stop.signal, onProgress: ({ done }) => void (done === 3 && stop.abort()) });
    expect(await errorOf(() => sweep)).toMatchObject({ code: "ABORTED" });
    expect(await readExperiment(out)).toMatchObject({ total: 4, done: 3, failed: 0, params: ["n"], manifest: { used: null } });
    expect(await errorOf(() => readExperiment(scratchFolder()))).toMatchObject({ code: "EXPERIMENT_UNKNOWN" });
  });
});
