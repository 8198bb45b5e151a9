import { describe, expect, it } from "vitest";
import { type Environment, usd } from "../../../src/index.ts";
import { experiment, runExperiment } from "../../../src/research/index.ts";
import { errorOf } from "../../workspace/scratch.ts";
import { road } from "./walkers.ts";

const steps = { steps: [3, 5] };
const walks = experiment({
  params: steps,
  reps: 2,
  rounds: (cell) => cell.steps,
  world: road,
  measure: ({ result }) => ({ said: result.messages.length }),
});

describe("an experiment in this process", () => {
  it("has a row for each repetition of each cell", async () => {
    const { rows, failed, series } = await runExperiment(walks);
    expect([failed, series]).toEqual([0, []]);
    expect(rows.map((row) => [row["cell"], row["steps"], row["rep"], row["ended"], row["rounds"], row["messages"], row["said"]])).toEqual([
      [0, 3, 0, "rounds", 3, 4, 4],
      [0, 3, 1, "rounds", 3, 4, 4],
      [1, 5, 0, "rounds", 5, 6, 6],
      [1, 5, 1, "rounds", 5, 6, 6],
    ]);
    expect(rows.map(({ seed }) => seed)).toEqual(walks.jobs.map(({ seed }) => seed));
  });

  it("CellSeries.S1 collects by round, up to the round that ends the run", async () => {
    const { rows, series } = await runExperiment(
      experiment({
        params: { last: [2, 3] },
        world: road,
        stop: ({ rounds }, { params }) => rounds === params.last,
        collect: { said: ({ delivered }) => delivered },
      }),
    );
    expect(rows.map(({ ended }) => ended)).toEqual(["stop", "stop"]);
    expect(series.map(({ last, round, said }) => [last, round, said])).toEqual([
      [2, 0, 1],
      [2, 1, 2],
      [2, 2, 3],
      [3, 0, 1],
      [3, 1, 2],
      [3, 2, 3],
      [3, 3, 4],
    ]);
  });

  it("CellSeries.S2 gives every cell the same bound of messages, and says that it ended the run", async () => {
    const { rows } = await runExperiment(
      experiment({ params: { n: [1, 2] }, world: road, budget: { messages: 6, calls: 9, usd: usd(1) } }),
    );
    expect(rows.map(({ ended, messages }) => [ended, messages])).toEqual([
      ["messages", 6],
      ["messages", 6],
    ]);
  });

  it("continues after a cell that fails, and its row says why", async () => {
    const failing = experiment({
      params: { how: ["world", "measure", "nan", "object", "column", "nothing"] },
      rounds: 1,
      world: (setting): Environment => {
        if (setting.params.how === "world") throw new RangeError("no room");
        return setting.params.how === "nothing" ? (undefined as never) : road(setting);
      },
      measure: ({ params: { how } }): Record<string, never> => {
        if (how === "measure") throw new Error("no measure");
        const values: Record<string, unknown> = { nan: { x: Number.NaN }, object: { x: {} }, column: { rep: 1 } };
        return (values[how] ?? {}) as Record<string, never>;
      },
    });
    const { rows, failed } = await runExperiment(failing);
    expect(failed).toBe(6);
    const said = [
      "no room",
      "no measure",
      "the measure x to be a finite number",
      "got {}",
      "names of their own",
      "world to return an Environment",
    ];
    expect(rows.map(({ error, status }, nth) => [status, String(error).includes(said[nth] ?? "?")])).toEqual(
      said.map(() => ["failed", true]),
    );
  });

  it("reports its progress", async () => {
    const told: string[] = [];
    await runExperiment(walks, { onProgress: ({ done, total, failed, kept }) => void told.push(`${done}/${total} ${failed} ${kept}`) });
    expect(told).toEqual(["0/4 0 0", "1/4 0 0", "2/4 0 0", "3/4 0 0", "4/4 0 0"]);
  });

  it("ends with the signal", async () => {
    const stop = new AbortController();
    const run = runExperiment(walks, { signal: stop.signal, onProgress: ({ done }) => void (done === 1 && stop.abort()) });
    expect(await errorOf(() => run)).toMatchObject({ code: "ABORTED" });
  });

  it("fails a run that waits for longer than it may", async () => {
    const never = experiment({
      params: { n: [1] },
      world: () => ({ run: ({ signal }) => new Promise((_, fail) => signal.addEventListener("abort", () => fail(new Error("late")))) }),
    });
    expect((await runExperiment(never, { timeLimit: 1 })).rows[0]?.["error"]).toContain("EXPERIMENT_LATE");
  });
});

describe("the options of an experiment", () => {
  it.each<[string, object, string]>([
    ["an unknown one", { repetitions: 3 }, "OPTION_UNKNOWN"],
    ["no world", { world: undefined }, "ARGUMENT_INVALID"],
    ["no repetition", { reps: 0 }, "OPTION_INVALID"],
    ["half a repetition", { reps: 1.5 }, "OPTION_INVALID"],
    ["a seed that is no number", { seed: Number.NaN }, "OPTION_INVALID"],
    ["seeds of another kind", { seeds: "paired" }, "OPTION_INVALID"],
    ["rounds below none", { rounds: -1 }, "OPTION_INVALID"],
    ["a collector that is none", { collect: { gini: 1 } }, "OPTION_INVALID"],
    ["a collector of the name of a column", { collect: { round: () => 1 } }, "OPTION_INVALID"],
    ["a collector of the name of a parameter", { collect: { n: () => 1 } }, "OPTION_INVALID"],
    ["an unknown bound", { budget: { dollars: 1 } }, "OPTION_UNKNOWN"],
    ["a bound that is no number", { budget: { messages: -1 } }, "OPTION_INVALID"],
    ["a measure that is none", { measure: 1 }, "OPTION_INVALID"],
    ["no name", { name: "" }, "OPTION_INVALID"],
  ])("are refused: %s", async (_name, options, code) => {
    expect(await errorOf(async () => experiment({ params: { n: [1] }, world: road, ...options } as never))).toMatchObject({ code });
  });
});
