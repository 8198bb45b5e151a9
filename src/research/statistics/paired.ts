import { iterable, object, takes } from "../../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { UsageError } from "../../kernel/errors.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import { checkResamples, checkSeed } from "./bootstrap.ts";
import { type Distributions, distributions } from "./distributions.ts";
import { checkedConfidence, type Interval, type IntervalOptions } from "./interval.ts";
import { deviationOf, isRounding, meanOf, sampleOf } from "./sample.ts";

/** A value and the seed of its run. */
export interface SeededValue {
  readonly seed: string | number;
  readonly value: number;
}

/** Options of a paired comparison. All have defaults. */
export interface PairedOptions extends IntervalOptions {
  /** Number of random sign changes where there are too many pairs to try all. From 100 to 1,000,000. Default 10,000. */
  readonly resamples?: number;
  /** The seed of the random sign changes. Default `paired`. */
  readonly seed?: string | number;
}

const pairedOptions: Known<PairedOptions> = { confidence: kinds.amount, resamples: kinds.size, seed: kinds.seed };

/** What two conditions differ by, where each seed was run under both. All probabilities are two-sided. */
export interface PairedComparison {
  /** The mean of the differences, `a` minus `b`, with its t interval. */
  readonly difference: Interval;
  /** The paired t test. Undefined when all differences are equal but for rounding: then there is no t. */
  readonly t: { readonly value: number; readonly degrees: number; readonly p: number } | undefined;
  /** The sign test: how many differences are above 0, below 0 and 0. Those of 0 do not count in `p`. */
  readonly sign: { readonly above: number; readonly below: number; readonly equal: number; readonly p: number };
  /** The permutation test: how many sign changes of the differences give a mean as far from 0. `exact` when all were tried. */
  readonly permutation: { readonly p: number; readonly exact: boolean };
  /** The mean of the differences over their standard deviation. Undefined when all differences are equal but for rounding. */
  readonly effectSize: number | undefined;
}

/** The most pairs with all sign changes tried: 65,536 of them. */
const MOST_EXACT = 16;
const DEFAULT_RESAMPLES = 10_000;

/**
 * Compares two conditions seed by seed: with common random numbers the difference of one seed varies much less than either value. It needs
 * the package `jstat`.
 *
 * @param a values of one condition, one for each seed
 * @param b values of the other condition for the same seeds, in any order
 * @throws UsageError `PAIRS_INVALID` for a seed that came twice or on one side only; `SAMPLE_INVALID` for fewer than two pairs, or a value
 * that is no finite number; `OPTION_INVALID`; `PACKAGE_MISSING`
 * @example
 * import { compareBySeed } from "troupe/research";
 *
 * const ring = [1, 2, 3, 4, 5].map((seed) => ({ seed, value: 10 + seed }));
 * const star = [1, 2, 3, 4, 5].map((seed) => ({ seed, value: 8 + seed + (seed % 2) }));
 * const { difference, permutation } = await compareBySeed(ring, star);
 * console.log(difference.estimate.toFixed(1), permutation.p); // 1.4 0.0625
 */
export async function compareBySeed(a: Iterable<SeededValue>, b: Iterable<SeededValue>, o: PairedOptions = {}): Promise<PairedComparison> {
  checkKnownOptions("compareBySeed", o, pairedOptions);
  const { resamples = DEFAULT_RESAMPLES, seed = "paired" } = o;
  const confidence = checkedConfidence("compareBySeed", o.confidence);
  checkResamples("compareBySeed", resamples);
  checkSeed("compareBySeed", seed);
  const [first, second] = [bySeed("a", a), bySeed("b", b)];
  const differences = pairedDifferences(first, second);
  const math = await distributions();
  const n = differences.length;
  const estimate = meanOf(differences, "compareBySeed");
  const deviation = deviationOf(differences, "compareBySeed");
  const error = deviation / Math.sqrt(n);
  const half = math.tQuantile((1 + confidence) / 2, n - 1) * error;
  const isEqual = isRounding(deviation, first.values(), second.values());
  const t = isEqual ? undefined : { value: estimate / error, degrees: n - 1, p: math.tTails(estimate / error, n - 1) };
  return {
    difference: { estimate, low: estimate - half, high: estimate + half, confidence, n, method: "t" },
    t,
    sign: signTest(differences, math),
    permutation: permutationTest(differences, resamples, randomStream(String(seed), "paired")),
    effectSize: isEqual ? undefined : estimate / deviation,
  };
}

function bySeed(side: "a" | "b", rows: Iterable<SeededValue>): ReadonlyMap<string, number> {
  takes("compareBySeed", side, rows, iterable("values with their seeds"));
  const values = new Map<string, number>();
  for (const row of rows) {
    takes("compareBySeed", `an item of ${side}`, row, object("an object { seed, value }"));
    const { seed, value } = row;
    checkSeed("compareBySeed", seed);
    const [number] = sampleOf("compareBySeed", [value], 1);
    if (values.has(String(seed)))
      throw new UsageError(
        "PAIRS_INVALID",
        `Expected one value for each seed in ${side} of compareBySeed, got two for the seed ${valueText(seed)}. Compare one measure of two conditions.`,
      );
    values.set(String(seed), number ?? 0);
  }
  return values;
}

function pairedDifferences(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): readonly number[] {
  const alone = [...a.keys()].find((seed) => !b.has(seed)) ?? [...b.keys()].find((seed) => !a.has(seed));
  if (alone !== undefined)
    throw new UsageError(
      "PAIRS_INVALID",
      `Expected the same seeds in a and b of compareBySeed, got ${valueText(alone)} on one side only. Run both conditions with it, or leave it out.`,
    );
  const differences = [...a].map(([seed, value]) => value - (b.get(seed) ?? 0));
  return sampleOf("compareBySeed", differences, 2);
}

function signTest(differences: readonly number[], math: Distributions): PairedComparison["sign"] {
  const above = differences.filter((difference) => difference > 0).length;
  const below = differences.filter((difference) => difference < 0).length;
  const trials = above + below;
  const p = trials === 0 ? 1 : Math.min(1, 2 * math.coinShare(Math.min(above, below), trials));
  return { above, below, equal: differences.length - trials, p };
}

/** Without a difference of conditions, each difference of a pair has either sign equally often (Fisher 1935). */
function permutationTest(differences: readonly number[], resamples: number, random: Random): PairedComparison["permutation"] {
  const sum = differences.reduce((total, difference) => total + difference, 0);
  const size = differences.reduce((total, difference) => total + Math.abs(difference), 0);
  // Sums of the same numbers in another order differ in their last digits.
  const least = Math.abs(sum) - size * 1e-12;
  if (differences.length <= MOST_EXACT) {
    const all = 2 ** differences.length;
    let reached = 0;
    for (let signs = 0; signs < all; signs += 1)
      if (Math.abs(signedSum(differences, (place) => (signs & (1 << place)) !== 0)) >= least) reached += 1;
    return { p: reached / all, exact: true };
  }
  // The observed signs count as one of the tries, so that p is never 0 (Phipson and Smyth 2010).
  let reached = 1;
  for (let n = 0; n < resamples; n += 1) if (Math.abs(signedSum(differences, () => random() < 0.5)) >= least) reached += 1;
  return { p: reached / (resamples + 1), exact: false };
}

function signedSum(differences: readonly number[], isTurned: (place: number) => boolean): number {
  let sum = 0;
  for (let place = 0; place < differences.length; place += 1) {
    const difference = differences[place] ?? 0;
    sum += isTurned(place) ? -difference : difference;
  }
  return sum;
}
