import { type Shape, numberWith } from "../../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { UsageError } from "../../kernel/errors.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import { aConfidence, DEFAULT_CONFIDENCE, type Distributions, distributions, type Interval, type IntervalOptions } from "./interval.ts";
import { meanOf, sampleOf } from "./sample.ts";

export interface BootstrapOptions extends IntervalOptions {
  /** The number that is estimated. Default: the mean. */
  readonly statistic?: (values: readonly number[]) => number;
  readonly resamples?: number;
  /** The same seed gives the same interval on every machine. Default `bootstrap`. */
  readonly seed?: string | number;
}

export const DEFAULT_RESAMPLES = 10_000;
export const someResamples: Shape = numberWith(
  "a whole number from 100 to 1,000,000",
  (value) => Number.isInteger(value) && value >= 100 && value <= 1e6,
);
const bootstrapOptions: Known<BootstrapOptions> = {
  confidence: aConfidence,
  statistic: kinds.function,
  resamples: someResamples,
  seed: kinds.seed,
};

/**
 * Returns a bootstrap interval of a statistic of at least two values, corrected for bias and skewness (BCa: Efron and Tibshirani 1993, chapters
 * 13 and 14). For fewer than 30 values it has a warning. It needs the package `jstat`.
 *
 * @throws UsageError `SAMPLE_INVALID`; `STATISTIC_INVALID` for a statistic that is no finite number; `PACKAGE_MISSING`
 */
export async function bootstrapInterval(values: Iterable<number>, o: BootstrapOptions = {}): Promise<Interval> {
  checkKnownOptions("bootstrapInterval", o, bootstrapOptions);
  const { confidence = DEFAULT_CONFIDENCE, resamples = DEFAULT_RESAMPLES, seed = "bootstrap" } = o;
  const sample = sampleOf("bootstrapInterval", values, 2);
  const statistic = checked(o.statistic ?? meanOf);
  const estimate = statistic(sample);
  const drawn = redrawn(sample, statistic, resamples, randomStream(String(seed), "bootstrap"));
  const [low, high] = correctedShares(sample, { statistic, estimate, drawn, confidence, math: await distributions() });
  const interval = {
    estimate,
    low: quantileOf(drawn, low),
    high: quantileOf(drawn, high),
    confidence,
    n: sample.length,
    method: "bca",
  } as const;
  if (sample.length >= FEW) return interval;
  return {
    ...interval,
    warning: `A bootstrap of ${sample.length} values, fewer than ${FEW}, contains the true value less often than it says. Use tInterval, or more values.`,
  };
}

/** Below it the true coverage of a bootstrap interval is noticeably lower (Hesterberg 2015, The American Statistician 69, section 4). */
const FEW = 30;

function redrawn(sample: readonly number[], statistic: Statistic, resamples: number, random: Random): Float64Array {
  const drawn = new Float64Array(resamples);
  const one = [...sample];
  for (let n = 0; n < resamples; n += 1) {
    for (let index = 0; index < one.length; index += 1) one[index] = sample[Math.floor(random() * sample.length)] ?? 0;
    drawn[n] = statistic(one);
  }
  return drawn.sort();
}

type Statistic = (values: readonly number[]) => number;

interface Resampled {
  readonly statistic: Statistic;
  readonly estimate: number;
  readonly drawn: Float64Array;
  readonly confidence: number;
  readonly math: Distributions;
}

/** Returns where the interval is cut: Efron and Tibshirani 1993, equations 14.9 to 14.15. A resample equal to the estimate counts half. */
function correctedShares(sample: readonly number[], resampled: Resampled): readonly [number, number] {
  const { drawn, estimate, confidence, math } = resampled;
  let below = 0;
  for (const value of drawn) below += value < estimate ? 1 : value === estimate ? 0.5 : 0;
  const edge = 0.5 / drawn.length;
  const bias = math.normalQuantile(Math.min(1 - edge, Math.max(edge, below / drawn.length)));
  const acceleration = accelerationOf(sample, resampled.statistic);
  const shareAt = (probability: number): number => {
    const moved = bias + math.normalQuantile(probability);
    return math.normalShare(bias + moved / (1 - acceleration * moved));
  };
  return [shareAt((1 - confidence) / 2), shareAt((1 + confidence) / 2)];
}

/** Returns the skewness of the statistic, from leaving out each value once. */
function accelerationOf(sample: readonly number[], statistic: Statistic): number {
  const without = sample.map((_, index) => statistic(sample.filter((__, other) => other !== index)));
  const centre = meanOf(without);
  let squares = 0;
  let cubes = 0;
  for (const value of without) {
    const distance = centre - value;
    squares += distance ** 2;
    cubes += distance ** 3;
  }
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}

/** Returns a quantile of sorted values, with linear interpolation (type 7 of Hyndman and Fan 1996). */
export function quantileOf(sorted: Float64Array, share: number): number {
  const index = Math.min(1, Math.max(0, share)) * (sorted.length - 1);
  const before = sorted[Math.floor(index)] ?? 0;
  const after = sorted[Math.ceil(index)] ?? before;
  return before + (after - before) * (index - Math.floor(index));
}

function checked(statistic: Statistic): Statistic {
  return (values) => {
    const result: unknown = statistic(values);
    if (typeof result === "number" && Number.isFinite(result)) return result;
    throw new UsageError(
      "STATISTIC_INVALID",
      `Expected a finite number from the statistic of bootstrapInterval, got ${valueText(result)} for ${values.length} values. Resamples repeat values: the statistic must be defined for them.`,
    );
  };
}
