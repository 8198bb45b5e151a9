import { assert, constantFrom, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { cellsOf, jobsOf, latinHypercube } from "../../../src/research/experiment/cell.ts";
import { tries } from "../../long.ts";
import { errorOf } from "../../workspace/scratch.ts";

describe("the cells of an experiment", () => {
  it("of a grid are all combinations, of which the last parameter changes first", () => {
    expect(cellsOf({ n: [1, 2], who: ["a", "b"] })).toEqual([
      { n: 1, who: "a" },
      { n: 1, who: "b" },
      { n: 2, who: "a" },
      { n: 2, who: "b" },
    ]);
  });

  it.each<[string, unknown, string]>([
    ["no parameter", {}, "at least one cell"],
    ["no cell", [], "at least one cell"],
    ["a parameter without values", { n: [] }, "a list with values for n"],
    ["a value that is no list", { n: 3 }, "a list with values for n"],
    ["a value that is no number", { n: [1, Number.NaN] }, "got NaN"],
    ["a value that is an object", { n: [{}] }, "as a value of n"],
    ["a value that stands there twice", { n: [1, 2, 1] }, "as cell 0 and as cell 2"],
    [
      "a cell that is there twice",
      [
        { n: 1, p: 2 },
        { p: 2, n: 1 },
      ],
      "as cell 0 and as cell 1",
    ],
    ["cells of other parameters", [{ n: 1 }, { m: 1 }], "the same parameters"],
    ["the name of a column", { seed: [1] }, "Rename the parameter seed"],
    ["no space", 5, "a grid or a list"],
    ["a cell that is no object", [5], "as cell 0"],
    ["too many", { a: Array.from({ length: 2000 }, (_, n) => n), b: Array.from({ length: 2000 }, (_, n) => n) }, "at most 1000000"],
  ])("are refused: %s", async (_name, params, said) => {
    const error = await errorOf(async () => cellsOf(params as never));
    expect([(error as { code?: string }).code, error.message.includes(said)]).toEqual(["EXPERIMENT_PARAMS", true]);
  });
});

describe("the seeds of an experiment", () => {
  const plan = { reps: 3, seed: "s" };

  it("are equal in all cells of a repetition, and differ between repetitions", () => {
    const jobs = jobsOf([{ n: 1 }, { n: 2 }], { ...plan, seeds: "common" });
    expect(jobs.slice(0, 3).map(({ seed }) => seed)).toEqual(jobs.slice(3).map(({ seed }) => seed));
    expect(new Set(jobs.map(({ seed }) => seed)).size).toBe(3);
  });

  it("are all different where they are independent, and do not depend on other cells", () => {
    const jobs = jobsOf([{ n: 1 }, { n: 2 }], { ...plan, seeds: "independent" });
    expect(new Set(jobs.map(({ seed }) => seed)).size).toBe(6);
    expect(jobsOf([{ n: 2 }], { ...plan, seeds: "independent" }).map(({ seed }) => seed)).toEqual(jobs.slice(3).map(({ seed }) => seed));
  });
});

describe("a Latin hypercube", () => {
  it("has one cell in each share of each range, and is equal for equal seeds", { tags: "numbers" }, () => {
    assert(
      property(integer({ min: 1, max: 40 }), integer(), (n, seed) => {
        const ranges = { a: { from: -1, to: 3 }, b: { from: 1, to: 1000, scale: "log" } } as const;
        const cells = latinHypercube(ranges, { n, seed });
        const shares = Array.from({ length: n }, (_, share) => share);
        const inOrder = (list: readonly number[]): readonly number[] =>
          list.map((value) => Math.floor(value * n)).sort((one, other) => one - other);
        expect(inOrder(cells.map(({ a }) => (a + 1) / 4))).toEqual(shares);
        expect(inOrder(cells.map(({ b }) => Math.log(b) / Math.log(1000)))).toEqual(shares);
        expect(latinHypercube(ranges, { n, seed })).toEqual(cells);
      }),
      { numRuns: tries(20, 300) },
    );
  });

  it("has whole numbers of the whole range where they are asked for", () => {
    const cells = latinHypercube({ n: { from: 1, to: 4, whole: true } }, { n: 8 });
    expect(cells.map(({ n }) => n).toSorted((one, other) => one - other)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
  });

  it("refuses an invalid range", () => {
    const range = constantFrom<unknown>(
      { from: 2, to: 1 },
      { from: 0, to: 1, scale: "log" },
      { from: Number.NaN, to: 1 },
      { from: 0.1, to: 0.2, whole: true },
      { from: 0 },
      null,
    );
    assert(
      property(range, (bad) => {
        expect(() => latinHypercube({ a: bad as never }, { n: 2 })).toThrow(/Expected/);
      }),
    );
    expect(() => latinHypercube({ a: { from: 0, to: 1 } }, { n: 0 })).toThrow("a whole number from 1");
  });
});
