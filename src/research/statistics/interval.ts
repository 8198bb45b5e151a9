import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { distributions } from "./distributions.ts";
import { deviationOf, meanOf, sampleOf } from "./sample.ts";

/** An estimate and the interval around it. */
export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
  /** The share of intervals of this kind that contain the true value, between 0 and 1. */
  readonly confidence: number;
  /** The number of values. */
  readonly n: number;
  readonly method: "t" | "wilson" | "percentile" | "bca";
}

/** Options of an interval. All have defaults. */
export interface IntervalOptions {
  /** Between 0 and 1. Default 0.95. */
  readonly confidence?: number;
}

const intervalOptions: Known<IntervalOptions> = { confidence: kinds.amount };

/** The default share of intervals that contain the true value. */
export const DEFAULT_CONFIDENCE = 0.95;

/**
 * Returns the t interval of the mean of at least two values: `mean ± t(n - 1) · standard error`. It is exact for values from a normal
 * distribution, and good for means of many values from others. It needs the package `jstat`.
 *
 * @throws UsageError `SAMPLE_INVALID` for too few values, or one that is no finite number; `OPTION_INVALID`; `PACKAGE_MISSING`
 * @example
 * import { tInterval } from "troupe/research";
 *
 * const { estimate, low, high } = await tInterval([12, 15, 11, 14]);
 * console.log(estimate, low.toFixed(2), high.toFixed(2)); // 13 10.09 15.91
 */
export async function tInterval(values: Iterable<number>, o: IntervalOptions = {}): Promise<Interval> {
  checkKnownOptions("tInterval", o, intervalOptions);
  const confidence = checkedConfidence("tInterval", o.confidence);
  const sample = sampleOf("tInterval", values, 2);
  const estimate = meanOf(sample, "tInterval");
  const { tQuantile } = await distributions();
  const half = (tQuantile((1 + confidence) / 2, sample.length - 1) * deviationOf(sample, "tInterval")) / Math.sqrt(sample.length);
  return { estimate, low: estimate - half, high: estimate + half, confidence, n: sample.length, method: "t" };
}

/**
 * Returns the score interval of a share (Wilson 1927), such as the accuracy of a model over some questions. It stays within 0 and 1, and has a width also
 * where all values are equal, which a t interval has not. It needs the package `jstat`.
 *
 * @param values at least one: 1 for a hit and 0 for a miss
 * @throws UsageError `SAMPLE_INVALID` for no value, or one that is neither 0 nor 1; `OPTION_INVALID`; `PACKAGE_MISSING`
 * @example
 * import { shareInterval } from "troupe/research";
 *
 * const { estimate, low, high } = await shareInterval([1, 1, 0, 1, 0]);
 * console.log(estimate, low.toFixed(2), high.toFixed(2)); // 0.6 0.23 0.88
 */
export async function shareInterval(values: Iterable<number>, o: IntervalOptions = {}): Promise<Interval> {
  checkKnownOptions("shareInterval", o, intervalOptions);
  const confidence = checkedConfidence("shareInterval", o.confidence);
  const sample = sampleOf("shareInterval", values, 1);
  const other = sample.find((value) => value !== 0 && value !== 1);
  if (other !== undefined)
    throw new UsageError(
      "SAMPLE_INVALID",
      `Expected zeros and ones in the values of shareInterval, got ${valueText(other)}. Use tInterval for means.`,
    );
  const n = sample.length;
  const estimate = meanOf(sample, "shareInterval");
  const z = (await distributions()).normalQuantile((1 + confidence) / 2);
  const half = z * Math.sqrt((estimate * (1 - estimate)) / n + (z / (2 * n)) ** 2);
  const [low = 0, high = 1] = [-half, half].map((side) => (estimate + z ** 2 / (2 * n) + side) / (1 + z ** 2 / n));
  // Rounding must not leave the estimate outside, as it would where all values are equal.
  return {
    estimate,
    low: Math.max(0, Math.min(low, estimate)),
    high: Math.min(1, Math.max(high, estimate)),
    confidence,
    n,
    method: "wilson",
  };
}

/** @throws UsageError `OPTION_INVALID` */
export function checkedConfidence(caller: string, confidence: unknown = DEFAULT_CONFIDENCE): number {
  if (typeof confidence === "number" && confidence > 0 && confidence < 1) return confidence;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the option confidence of ${caller} to be a number between 0 and 1, got ${valueText(confidence)}. Write 0.95 for 95 %.`,
  );
}
