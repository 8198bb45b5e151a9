import { aFunction, orNothing, takes } from "../../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { UsageError } from "../../kernel/errors.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import { type Distributions, distributions } from "./distributions.ts";
import { checkedConfidence, type Interval, type IntervalOptions } from "./interval.ts";
import { meanOf, sampleOf } from "./sample.ts";

/** Options of a bootstrap interval. All have defaults. */
export interface BootstrapOptions extends IntervalOptions {
  /** The number that is estimated. Default: the mean. */
  readonly statistic?: (values: readonly number[]) => number;
  /** `bca` corrects bias and skewness; `percentile` takes the quantiles of the resamples as they are. Default `bca`. */
  readonly method?: "bca" | "percentile";
  /** Number of resamples, from 100 to 1,000,000. Default 10,000. */
  readonly resamples?: number;
  /** The same seed gives the same interval on every machine. Default `bootstrap`. */
  readonly seed?: string | number;
}

const bootstrapOptions: Known<BootstrapOptions> = {
  confidence: kinds.amount,
  statistic: kinds.function,
  method: kinds.oneOf("bca", "percentile"),
  resamples: kinds.size,
  seed: kinds.seed,
};

const DEFAULT_RESAMPLES = 10_000;
const FEWEST_RESAMPLES = 100;
const MOST_RESAMPLES = 1_000_000;

/**
 * Returns a bootstrap interval of a statistic of at least two values: the values are drawn again with replacement, and the interval is cut
 * from the statistics of the resamples (Efron and Tibshirani 1993, chapters 13 and 14). It needs the package `jstat`.
 *
 * @throws UsageError `SAMPLE_INVALID` for too few values, or one that is no finite number; `STATISTIC_INVALID` for a statistic that gives no
 * finite number; `OPTION_INVALID`; `PACKAGE_MISSING`
 * @example
 * import { bootstrapInterval } from "troupe/research";
 *
 * const interval = await bootstrapInterval([3, 5, 4, 8, 21], { statistic: (values) => Math.max(...values), seed: 1 });
 * console.log(interval.estimate, interval.high); // 21 21
 */
export async function bootstrapInterval(values: Iterable<number>, o: BootstrapOptions = {}): Promise<Interval> {
  checkKnownOptions("bootstrapInterval", o, bootstrapOptions);
  const { method = "bca", resamples = DEFAULT_RESAMPLES, seed = "bootstrap" } = o;
  takes("bootstrapInterval", "statistic", o.statistic, orNothing(aFunction));
  if (method !== "bca" && method !== "percentile") throw invalid("method", '"bca" or "percentile"', method);
  const confidence = checkedConfidence("bootstrapInterval", o.confidence);
  checkResamples("bootstrapInterval", resamples);
  checkSeed("bootstrapInterval", seed);
  const sample = sampleOf("bootstrapInterval", values, 2);
  const statistic = checked(o.statistic ?? ((drawn) => meanOf(drawn, "bootstrapInterval")));
  const estimate = statistic(sample);
  const drawn = redrawn(sample, statistic, resamples, randomStream(String(seed), "bootstrap"));
  const shares =
    method === "percentile"
      ? ([(1 - confidence) / 2, (1 + confidence) / 2] as const)
      : correctedShares(sample, { statistic, estimate, drawn, confidence, math: await distributions() });
  return { estimate, low: quantileOf(drawn, shares[0]), high: quantileOf(drawn, shares[1]), confidence, n: sample.length, method };
}

/** Returns the sorted statistics of the resamples. */
function redrawn(sample: readonly number[], statistic: Statistic, resamples: number, random: Random): Float64Array {
  const drawn = new Float64Array(resamples);
  const one = [...sample];
  for (let n = 0; n < resamples; n += 1) {
    for (let place = 0; place < one.length; place += 1) one[place] = sample[Math.floor(random() * sample.length)] ?? 0;
    drawn[n] = statistic(one);
  }
  return drawn.sort();
}

type Statistic = (values: readonly number[]) => number;

interface Resampled {
  readonly statistic: Statistic;
  readonly estimate: number;
  /** Sorted. */
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
  const without = sample.map((_, place) => statistic(sample.filter((__, other) => other !== place)));
  const centre = meanOf(without, "bootstrapInterval");
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
function quantileOf(sorted: Float64Array, share: number): number {
  const place = Math.min(1, Math.max(0, share)) * (sorted.length - 1);
  const before = sorted[Math.floor(place)] ?? 0;
  const after = sorted[Math.ceil(place)] ?? before;
  return before + (after - before) * (place - Math.floor(place));
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

/** @throws UsageError `OPTION_INVALID` */
export function checkResamples(caller: string, resamples: unknown): void {
  if (Number.isInteger(resamples) && Number(resamples) >= FEWEST_RESAMPLES && Number(resamples) <= MOST_RESAMPLES) return;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the option resamples of ${caller} to be a whole number from ${FEWEST_RESAMPLES} to ${MOST_RESAMPLES}, got ${valueText(resamples)}.`,
  );
}

/** @throws UsageError `OPTION_INVALID` */
export function checkSeed(caller: string, seed: unknown): void {
  if (typeof seed === "string" || Number.isFinite(seed)) return;
  throw new UsageError("OPTION_INVALID", `Expected the option seed of ${caller} to be a text or a number, got ${valueText(seed)}.`);
}

function invalid(option: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected the option ${option} of bootstrapInterval to be ${expected}, got ${valueText(came)}.`);
}
