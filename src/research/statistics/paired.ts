import { iterable, object, takes } from "../../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { UsageError } from "../../kernel/errors.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import { DEFAULT_RESAMPLES, someResamples } from "./bootstrap.ts";
import { aConfidence, DEFAULT_CONFIDENCE, distributions, type Interval, type IntervalOptions } from "./interval.ts";
import { deviationOf, invalid, isRounding, meanOf, sampleOf } from "./sample.ts";

export interface SeededValue {
  readonly seed: string | number;
  readonly value: number;
}

export interface PairedOptions extends IntervalOptions {
  /** Number of random sign changes where there are too many pairs to try all. From 100 to 1,000,000. Default 10,000. */
  readonly resamples?: number;
  /** The seed of the random sign changes. Default `paired`. */
  readonly seed?: string | number;
}

const pairedOptions: Known<PairedOptions> = { confidence: aConfidence, resamples: someResamples, seed: kinds.seed };

/** The difference between two conditions, each seed run under both. All probabilities are two-sided. */
export interface PairedComparison {
  /** The mean of the differences, `a` minus `b`, with its t interval. */
  readonly difference: Interval;
  /** The paired t test. Undefined when all differences are equal but for rounding: then there is no t. */
  readonly t: { readonly value: number; readonly degrees: number; readonly p: number } | undefined;
  /** The permutation test: how many sign changes of the differences give a mean as far from 0. `exact` when all were tried. */
  readonly permutation: { readonly p: number; readonly exact: boolean };
  /** The mean of the differences over their standard deviation. Undefined when all differences are equal but for rounding. */
  readonly effectSize: number | undefined;
}

/** The most pairs with all sign changes tried: 65,536 of them. */
const MAX_EXACT = 16;

/**
 * Compares two conditions seed by seed: with common random numbers the difference of one seed varies much less than either value. It needs
 * the package `jstat`.
 *
 * @throws UsageError `PAIRS_INVALID` for a repeated seed, or one on one side only; `SAMPLE_INVALID` for fewer than two pairs;
 * `PACKAGE_MISSING`
 */
export async function compareBySeed(a: Iterable<SeededValue>, b: Iterable<SeededValue>, o: PairedOptions = {}): Promise<PairedComparison> {
  checkKnownOptions("compareBySeed", o, pairedOptions);
  const { confidence = DEFAULT_CONFIDENCE, resamples = DEFAULT_RESAMPLES, seed = "paired" } = o;
  const [first, second] = [bySeed("a", a), bySeed("b", b)];
  const differences = pairedDifferences(first, second);
  const math = await distributions();
  const n = differences.length;
  const estimate = meanOf(differences);
  const deviation = deviationOf(differences);
  const error = deviation / Math.sqrt(n);
  const half = math.tQuantile((1 + confidence) / 2, n - 1) * error;
  const isEqual = isRounding(deviation, first.values(), second.values());
  const t = isEqual ? undefined : { value: estimate / error, degrees: n - 1, p: math.tTails(estimate / error, n - 1) };
  return {
    difference: { estimate, low: estimate - half, high: estimate + half, confidence, n, method: "t" },
    t,
    permutation: permutationTest(differences, resamples, randomStream(String(seed), "paired")),
    effectSize: isEqual ? undefined : estimate / deviation,
  };
}

const aSeededValue = object("an object { seed, value }", { seed: kinds.seed });

function bySeed(side: "a" | "b", rows: Iterable<SeededValue>): ReadonlyMap<string, number> {
  takes("compareBySeed", side, rows, iterable("values with their seeds"));
  const values = new Map<string, number>();
  for (const row of rows) {
    takes("compareBySeed", `an item of ${side}`, row, aSeededValue);
    const { seed, value } = row;
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
  return sampleOf(
    "compareBySeed",
    [...a].map(([seed, value]) => value - (b.get(seed) ?? 0)),
    2,
  );
}

/** Without a difference of conditions, each difference of a pair has either sign equally often (Fisher 1935). */
function permutationTest(differences: readonly number[], resamples: number, random: Random): PairedComparison["permutation"] {
  const sum = differences.reduce((total, difference) => total + difference, 0);
  const size = differences.reduce((total, difference) => total + Math.abs(difference), 0);
  // Sums of the same numbers in another order differ in their last digits.
  const least = Math.abs(sum) - size * 1e-12;
  if (differences.length <= MAX_EXACT) {
    const all = 2 ** differences.length;
    let reached = 0;
    for (let signs = 0; signs < all; signs += 1)
      if (Math.abs(signedSum(differences, (index) => (signs & (1 << index)) !== 0)) >= least) reached += 1;
    return { p: reached / all, exact: true };
  }
  // The observed signs count as one of the tries, so that p is never 0 (Phipson and Smyth 2010).
  let reached = 1;
  for (let n = 0; n < resamples; n += 1) if (Math.abs(signedSum(differences, () => random() < 0.5)) >= least) reached += 1;
  return { p: reached / (resamples + 1), exact: false };
}

function signedSum(differences: readonly number[], isTurned: (index: number) => boolean): number {
  return differences.reduce((sum, difference, index) => sum + (isTurned(index) ? -difference : difference), 0);
}

/**
 * Returns the difference of the means of two independent samples over their pooled standard deviation (Cohen 1988). 0.2 is called small,
 * 0.5 medium, 0.8 large.
 *
 * @throws UsageError `SAMPLE_INVALID`, also without any spread
 */
export function cohensD(a: Iterable<number>, b: Iterable<number>): number {
  const first = sampleOf("cohensD", a, 2);
  const second = sampleOf("cohensD", b, 2);
  const squares = (sample: readonly number[]): number => deviationOf(sample) ** 2 * (sample.length - 1);
  const pooled = Math.sqrt((squares(first) + squares(second)) / (first.length + second.length - 2));
  const difference = meanOf(first) - meanOf(second);
  return standardized("cohensD", difference, isRounding(pooled, first, second) ? 0 : pooled);
}

/**
 * Returns the mean of the differences of pairs, by index, over their standard deviation (d<sub>z</sub>, Cohen 1988).
 *
 * @throws UsageError `SAMPLE_INVALID`, also without any spread, and for lists of different lengths
 */
export function pairedD(a: Iterable<number>, b: Iterable<number>): number {
  const [first, second] = [sampleOf("pairedD", a, 2), sampleOf("pairedD", b, 2)];
  const differences = differencesOf("pairedD", first, second);
  const deviation = deviationOf(differences);
  return standardized("pairedD", meanOf(differences), isRounding(deviation, first, second) ? 0 : deviation);
}

/** Returns the differences, first minus second. @throws UsageError `SAMPLE_INVALID` */
function differencesOf(caller: string, a: readonly number[], b: readonly number[]): readonly number[] {
  if (a.length === b.length) return a.map((value, index) => value - (b[index] ?? 0));
  throw invalid(`as many values of ${caller} on both sides, got ${a.length} and ${b.length}. Leave out pairs with one value.`);
}

function standardized(caller: string, difference: number, deviation: number): number {
  if (deviation > 0) return difference / deviation;
  throw invalid(
    `values of ${caller} that differ from each other, got none: an effect size is undefined without spread. Report the difference itself.`,
  );
}
