import { describe, expect, it } from "vitest";
import { Environment } from "../../../src/index.ts";
import { experiment, runExperiment, sensitivity } from "../../../src/research/index.ts";

const turn = { from: -Math.PI, to: Math.PI };
const ranges = { x1: turn, x2: turn, x3: turn };
type Point = { readonly x1: number; readonly x2: number; readonly x3: number };
/** The function of Ishigami and Homma 1990. */
const ishigami = ({ x1, x2, x3 }: Point): number => Math.sin(x1) + 7 * Math.sin(x2) ** 2 + 0.1 * x3 ** 4 * Math.sin(x1);

const small = sensitivity(ranges, { n: 32, seed: 1 });
const rows = small.cells.map((cell) => ({ ...cell, y: ishigami(cell) }));

describe("sensitivity", () => {
  it("estimates as scipy.stats.sobol_indices of SciPy 1.17 does from the same values", () => {
    // y as func={"f_A": y[:32], "f_B": y[32:64], "f_AB": the rest, by parameter}
    const found = small.indices(rows, "y");
    expect(found.map(({ parameter, first, total }) => [parameter, first.estimate.toFixed(8), total.estimate.toFixed(8)])).toEqual([
      ["x1", "0.21106384", "0.33757015"],
      ["x2", "0.35277180", "0.36319715"],
      ["x3", "-0.03964132", "0.17253112"],
    ]);
    for (const { first, total } of found)
      for (const { low, estimate, high } of [first, total]) expect(low < estimate && estimate < high).toBe(true);
  });

  it("finds the exact indices of Ishigami's function within four of its own half widths", () => {
    const { cells, indices } = sensitivity(ranges, { n: 1_000, seed: 3 });
    const found = indices(
      cells.map((cell) => ({ ...cell, y: ishigami(cell) })),
      "y",
    );
    const exact = [
      [0.31390519, 0.55758886],
      [0.44241114, 0.44241114],
      [0, 0.24368366],
    ] as const;
    for (const [index, [first, total]] of exact.entries())
      for (const [interval, value] of [
        [found[index]?.first, first],
        [found[index]?.total, total],
      ] as const)
        expect(Math.abs((interval?.estimate ?? 9) - value)).toBeLessThan(2 * ((interval?.high ?? 0) - (interval?.low ?? 0)));
  });

  it("ignores the origin and the unit of a measure, the order of rows, and runs that the default limit cut", () => {
    const moved = rows.map((row) => ({ ...row, y: 100 - 7 * row.y })).toReversed();
    const cut = { ...rows[3], y: 1e6, ended: "limit" };
    for (const [index, { first, total }] of small.indices([...moved, cut], "y").entries()) {
      expect(first.estimate).toBeCloseTo(small.indices(rows, "y")[index]?.first.estimate ?? 9, 9);
      expect(total.estimate).toBeCloseTo(small.indices(rows, "y")[index]?.total.estimate ?? 9, 9);
    }
  });

  it("has each cell once, also for whole ranges, and reads the rows of an experiment", async () => {
    const { cells, indices } = sensitivity({ people: { from: 1, to: 3, whole: true }, coins: { from: 0, to: 1 } }, { n: 8 });
    const coarse = sensitivity({ people: { from: 1, to: 3, whole: true }, coins: { from: 1, to: 2, whole: true } }, { n: 20 });
    expect(coarse.cells).toHaveLength(6);
    const plan = experiment({
      params: cells,
      reps: 2,
      world: ({ seed }) => new Environment({ seed }),
      measure: ({ params: { people, coins }, rep }) => ({ wealth: people + rep, isRich: coins > 0.5 }),
    });
    const found = await runExperiment(plan);
    expect(indices(found.rows, "wealth").map(({ total }) => total.estimate)).toEqual([expect.closeTo(1, 0), 0]);
    expect(indices(found.rows, "isRich").map(({ total }) => total.estimate)).toEqual([0, expect.any(Number)]);
    expect(() => indices(found.rows.slice(2), "wealth")).toThrow(/"wealth".*got none for 1, such as/);
    expect(() => indices(found.rows, "seed")).toThrow(expect.objectContaining({ code: "EXPERIMENT_COLUMN" }));
    expect(() => indices(found.rows, "rounds")).toThrow(expect.objectContaining({ code: "SAMPLE_INVALID" }));
  });

  it("refuses what is no plan", () => {
    expect(() => sensitivity(ranges, { n: 1 })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(() => sensitivity(ranges, {} as never)).toThrow(/n of sensitivity/);
    expect(() => sensitivity({ x: { from: 2, to: 1 } }, { n: 4 })).toThrow(expect.objectContaining({ code: "EXPERIMENT_PARAMS" }));
    expect(() => sensitivity(5 as never, { n: 4 })).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    expect(() => small.indices([{ ...rows[0], y: "much" } as never], "y")).toThrow(/got none for 160/);
  });
});
