import { aText, listOf, numberWith, object, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { randomStream } from "../../kernel/random.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { quantileOf } from "../statistics/bootstrap.ts";
import { DEFAULT_CONFIDENCE, type Interval } from "../statistics/interval.ts";
import { deviationOf, isRounding, meanOf } from "../statistics/sample.ts";
import { latinHypercube, type LatinHypercubeOptions, type ParamRange } from "./cell.ts";
import { isCut, type Row } from "./tables.ts";

/** The shares of the variance of a measure that one parameter explains (Sobol 1993), with bootstrap intervals of 95 %. */
export interface SensitivityIndices {
  readonly parameter: string;
  /** The share that it explains alone. */
  readonly first: Interval;
  /** The share that it explains alone and together with others. Near 0: the parameter can be fixed. */
  readonly total: Interval;
}

export interface Sensitivity<N extends string> {
  /** The cells for `params` of an experiment: up to n times two more than there are ranges. */
  readonly cells: readonly { readonly [Name in N]: number }[];
  /**
   * Returns the indices of each parameter for a measure, a column of the rows of these cells: first order by Saltelli et al. 2010 (table 2, b),
   * total by Jansen 1999. Repetitions of a cell are averaged; the rest of their noise counts as an interaction.
   *
   * @throws UsageError `EXPERIMENT_COLUMN` for a cell without a number in the column; `SAMPLE_INVALID` for a measure that does not vary
   */
  indices(rows: readonly Row[], measure: string): readonly SensitivityIndices[];
}

const RESAMPLES = 1_000;
const sensitivityOptions: Known<LatinHypercubeOptions> = {
  n: numberWith("a whole number from 2 to 100,000", (value) => Number.isInteger(value) && value >= 2 && value <= 1e5),
  seed: kinds.seed,
};

/**
 * Plans a global sensitivity analysis: which parameters decide a measure, over the whole of their ranges. The base samples are two Latin
 * hypercubes of `n` cells; take some hundreds.
 *
 * @throws UsageError `EXPERIMENT_PARAMS` as {@link latinHypercube} does
 * @example
 * import { sensitivity } from "troupe/research";
 *
 * const { cells, indices } = sensitivity({ a: { from: 0, to: 1 }, b: { from: 0, to: 1 } }, { n: 500 });
 * const rows = cells.map(({ a, b }, cell) => ({ cell, a, b, y: 3 * a + b })); // in a study: the rows of runExperiment
 * console.log(indices(rows, "y").map(({ parameter, total }) => `${parameter} ${total.estimate.toFixed(1)}`)); // [ 'a 0.9', 'b 0.1' ]
 */
export function sensitivity<N extends string>(ranges: { readonly [Name in N]: ParamRange }, o: LatinHypercubeOptions): Sensitivity<N> {
  takes("sensitivity", "ranges", ranges, object("an object of ranges"));
  checkGivenOptions("sensitivity", o, sensitivityOptions);
  takes("sensitivity", "n", o.n, sensitivityOptions.n);
  const { n, seed = 1 } = o;
  const names = Object.keys(ranges) as N[];
  const [a, b] = ["a", "b"].map((base) => latinHypercube(ranges, { n, seed: `${seed}/${base}` })) as [Cell<N>[], Cell<N>[]];
  // In each of the others one parameter of a has the value that it has in b.
  const mixed = names.map((name) => a.map((cell, index) => ({ ...cell, [name]: b[index]?.[name] ?? 0 })));
  const keyOf = (cell: Row): string => canonicalJson(names.map((name) => cell[name] ?? null));
  const cells = new Map([a, b, ...mixed].flat().map((cell) => [keyOf(cell), cell]));
  return {
    cells: [...cells.values()],
    indices(rows, measure) {
      takes("indices", "rows", rows, listOf({ says: "a row", fits: isRecord }));
      takes("indices", "measure", measure, aText);
      const found = new Map<string, number[]>();
      for (const row of rows) {
        const value = row[measure];
        if (isCut(row) || !Number.isFinite(Number(value ?? Number.NaN)) || typeof value === "string") continue;
        const key = keyOf(row);
        if (cells.has(key)) found.set(key, [...(found.get(key) ?? []), Number(value)]);
      }
      const missing = [...cells].find(([key]) => !found.has(key));
      if (missing !== undefined) throw withoutValue(measure, missing[1], cells.size - found.size);
      const valuesOf = (some: readonly Row[]): readonly number[] => some.map((cell) => meanOf(found.get(keyOf(cell)) ?? []));
      const [ofA, ofB] = [valuesOf(a), valuesOf(b)];
      if (isRounding(deviationOf([...ofA, ...ofB]), ofA, ofB))
        throw new UsageError("SAMPLE_INVALID", `Expected a measure that varies, got one value of ${valueText(measure)} in all cells.`);
      const random = randomStream(String(seed), "sensitivity");
      const draws = Array.from({ length: RESAMPLES }, () => Uint32Array.from(a, () => random() * n));
      return names.map((parameter, nth) => ({ parameter, ...estimated(ofA, ofB, valuesOf(mixed[nth] ?? []), draws) }));
    },
  };
}

type Cell<N extends string> = { readonly [Name in N]: number };

function estimated(
  a: readonly number[],
  b: readonly number[],
  mixed: readonly number[],
  draws: readonly Uint32Array[],
): Pick<SensitivityIndices, "first" | "total"> {
  const centre = meanOf([...a, ...b]);
  const shares = [Uint32Array.from(a.keys()), ...draws].map((indices) => {
    let [sum, squares, alone, moved] = [0, 0, 0, 0];
    for (const index of indices) {
      // The first order has a smaller error around a mean of 0.
      const one = (a[index] ?? 0) - centre;
      const other = (b[index] ?? 0) - centre;
      const change = (mixed[index] ?? 0) - centre - one;
      sum += one + other;
      squares += one * one + other * other;
      alone += other * change;
      moved += change * change;
    }
    const variance = squares / 2 - (sum / 2) ** 2 / indices.length;
    return { first: alone / variance, total: moved / 2 / variance };
  });
  const intervalOf = (order: "first" | "total"): Interval => {
    const [estimate = 0, ...drawn] = shares.map((share) => share[order]);
    // A draw of equal values alone has no shares.
    const sorted = Float64Array.from(drawn.filter(Number.isFinite)).sort();
    const tail = (1 - DEFAULT_CONFIDENCE) / 2;
    const [low, high] = [quantileOf(sorted, tail), quantileOf(sorted, 1 - tail)];
    return { estimate, low, high, confidence: DEFAULT_CONFIDENCE, n: a.length, method: "percentile" };
  };
  return { first: intervalOf("first"), total: intervalOf("total") };
}

function withoutValue(measure: string, cell: Row, count: number): UsageError {
  return new UsageError(
    "EXPERIMENT_COLUMN",
    `Expected rows with a number in the column ${valueText(measure)} for every cell of the sensitivity analysis, got none for ${count}, such as ${valueText(cell)}. Repeat the failed runs, and set rounds where the default limit cut them.`,
  );
}
