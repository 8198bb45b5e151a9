import { aNumber, iterable, takes } from "../../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { isList } from "../../kernel/value-kind.ts";
import { aConfidence, DEFAULT_CONFIDENCE, distributions, type Interval, type IntervalOptions } from "./interval.ts";
import { deviationOf, inRange, invalid, isRounding, meanOf, sampleOf } from "./sample.ts";

/** The line of least squares through points. */
export interface Regression {
  readonly slope: Interval;
  readonly intercept: Interval;
  /** The two-sided test of a slope of 0. Undefined when all points are on the line but for rounding. */
  readonly t: { readonly value: number; readonly degrees: number; readonly p: number } | undefined;
  /** The share of the variance of `y` that the line explains. Undefined when all `y` are equal. */
  readonly rSquared: number | undefined;
  /** The standard deviation of `y` from the line. */
  readonly deviation: number;
}

const regressionOptions: Known<IntervalOptions> = { confidence: aConfidence };
const aPoint = {
  says: "a pair of numbers [x, y]",
  fits: (value: unknown) => isList(value) && value.length === 2 && value.every((part) => aNumber.fits(part)),
};

/**
 * Returns the line of least squares through at least three points `[x, y]`, with t intervals. It needs the package `jstat`.
 *
 * @throws UsageError `SAMPLE_INVALID`, also where all x are equal; `PACKAGE_MISSING`
 * @example
 * import { linearRegression } from "troupe/research";
 *
 * const { slope, rSquared } = await linearRegression([[1, 2.1], [2, 3.9], [3, 6.2], [4, 7.8]]);
 * console.log(slope.estimate.toFixed(2), rSquared?.toFixed(3)); // 1.94 0.996
 */
export async function linearRegression(points: Iterable<readonly [x: number, y: number]>, o: IntervalOptions = {}): Promise<Regression> {
  takes("linearRegression", "points", points, iterable("pairs of numbers [x, y]"));
  checkKnownOptions("linearRegression", o, regressionOptions);
  const { confidence = DEFAULT_CONFIDENCE } = o;
  const pairs = [...points];
  for (const pair of pairs) takes("linearRegression", "a point", pair, aPoint);
  const [xs, ys] = [0, 1].map((side) =>
    sampleOf(
      "linearRegression",
      pairs.map((pair) => pair[side] ?? 0),
      3,
    ),
  ) as [number[], number[]];
  const n = pairs.length;
  const [x, y] = [meanOf(xs), meanOf(ys)];
  if (isRounding(deviationOf(xs), xs)) throw invalid("different x in the points of linearRegression, got one. Vary the parameter.");
  const squares = deviationOf(xs) ** 2 * (n - 1);
  const slope = inRange(xs.reduce((sum, one, index) => sum + (one - x) * ((ys[index] ?? 0) - y), 0) / squares);
  const left = ys.reduce((sum, one, index) => sum + (one - y - slope * ((xs[index] ?? 0) - x)) ** 2, 0);
  const deviation = Math.sqrt(left / (n - 2));
  const { tQuantile, tTails } = await distributions();
  const quantile = tQuantile((1 + confidence) / 2, n - 2);
  const around = (estimate: number, error: number): Interval => {
    return { estimate, low: estimate - quantile * error, high: estimate + quantile * error, confidence, n, method: "t" };
  };
  const error = deviation / Math.sqrt(squares);
  return {
    slope: around(slope, error),
    intercept: around(y - slope * x, deviation * Math.sqrt(1 / n + x ** 2 / squares)),
    t: isRounding(deviation, ys) ? undefined : { value: slope / error, degrees: n - 2, p: tTails(slope / error, n - 2) },
    rSquared: isRounding(deviationOf(ys), ys) ? undefined : 1 - left / (deviationOf(ys) ** 2 * (n - 1)),
    deviation,
  };
}
