import { iterable, takes } from "../../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { aConfidence, DEFAULT_CONFIDENCE, distributions, type Interval, type IntervalOptions } from "./interval.ts";
import { deviationOf, invalid, isRounding, meanOf, sampleOf } from "./sample.ts";

/* Comparisons of independent samples. For runs under common seeds, compareBySeed finds smaller differences. */

/** The difference between two independent samples. All probabilities are two-sided. */
export interface SampleComparison {
  /** The difference of the means, `a` minus `b`, with its interval for unequal variances (Welch 1947). */
  readonly difference: Interval;
  /** Welch's t test. Undefined when neither sample has a spread but for rounding. */
  readonly t: { readonly value: number; readonly degrees: number; readonly p: number } | undefined;
  readonly ranks: RankTest;
  /** Cohen's d with the pooled standard deviation. Undefined as `t` is. */
  readonly effectSize: number | undefined;
}

/** The test of Mann and Whitney 1947. Equal values share the mean of their ranks. */
export interface RankTest {
  /** The number of pairs in which the value of `a` is larger; a pair of equal values counts half. */
  readonly u: number;
  /** `u` as a share of all pairs (Vargha and Delaney 2000): 0.5 without a difference. */
  readonly superiority: number;
  readonly p: number;
  /** True where all divisions of the values were counted; false for the normal approximation with a correction for continuity and ties. */
  readonly exact: boolean;
}

const sampleOptions: Known<IntervalOptions> = { confidence: aConfidence };

/**
 * Compares two independent samples of at least two values: Welch's t test, the test of Mann and Whitney, and Cohen's d. It needs the package
 * `jstat`.
 *
 * @throws UsageError `SAMPLE_INVALID`, `PACKAGE_MISSING`
 * @example
 * import { compareSamples } from "troupe/research";
 *
 * const { t, ranks } = await compareSamples([0.8, 0.83, 1.89, 1.04, 1.45], [1.15, 0.88, 0.9, 0.74, 1.21]);
 * console.log(t?.p.toFixed(4), ranks.u, ranks.p.toFixed(4)); // 0.3590 15 0.6905
 */
export async function compareSamples(a: Iterable<number>, b: Iterable<number>, o: IntervalOptions = {}): Promise<SampleComparison> {
  checkKnownOptions("compareSamples", o, sampleOptions);
  const { confidence = DEFAULT_CONFIDENCE } = o;
  const samples = [sampleOf("compareSamples", a, 2), sampleOf("compareSamples", b, 2)] as const;
  const [first, second] = samples;
  const { tQuantile, tTails, normalTails } = await distributions();
  const estimate = meanOf(first) - meanOf(second);
  const [one, other] = [deviationOf(first) ** 2 / first.length, deviationOf(second) ** 2 / second.length];
  const error = Math.sqrt(one + other);
  const isEqual = isRounding(error, ...samples);
  // Shares of the sum, because squares of small variances are 0. Satterthwaite 1946.
  const [share, rest] = [one / (one + other), other / (one + other)];
  const degrees = 1 / (share ** 2 / (first.length - 1) + rest ** 2 / (second.length - 1));
  const half = isEqual ? 0 : tQuantile((1 + confidence) / 2, degrees) * error;
  const n = first.length + second.length;
  const pooled = Math.sqrt((one * first.length * (first.length - 1) + other * second.length * (second.length - 1)) / (n - 2));
  return {
    difference: { estimate, low: estimate - half, high: estimate + half, confidence, n, method: "t" },
    t: isEqual ? undefined : { value: estimate / error, degrees, p: tTails(estimate / error, degrees) },
    ranks: rankTest(first, second, normalTails),
    effectSize: isEqual ? undefined : estimate / pooled,
  };
}

/** The most values of both samples whose divisions are all counted. */
const MAX_EXACT = 50;

function rankTest(a: readonly number[], b: readonly number[], normalTails: (value: number) => number): RankTest {
  const { doubled, ties } = ranksOf([...a, ...b]);
  const sum = doubled.slice(0, a.length).reduce((total, rank) => total + rank, 0);
  const pairs = a.length * b.length;
  const u = sum / 2 - (a.length * (a.length + 1)) / 2;
  const n = doubled.length;
  const distance = Math.abs(u - pairs / 2);
  const superiority = u / pairs;
  if (n <= MAX_EXACT) return { u, superiority, p: exactShare(doubled, a.length, distance), exact: true };
  const deviation = Math.sqrt((pairs / 12) * (n + 1 - ties / (n * (n - 1))));
  const p = deviation === 0 ? 1 : Math.min(1, normalTails((distance - 0.5) / deviation));
  return { u, superiority, p, exact: false };
}

/** Returns twice the rank of each value, which is whole also for ties, and the sum of t³ - t over groups of t equal values. */
function ranksOf(values: readonly number[]): { readonly doubled: readonly number[]; readonly ties: number } {
  const order = [...values.keys()].sort((one, other) => (values[one] ?? 0) - (values[other] ?? 0));
  const doubled = values.map(() => 0);
  let ties = 0;
  for (let start = 0, end = 0; start < order.length; start = end) {
    while (end < order.length && values[order[end] ?? 0] === values[order[start] ?? 0]) end += 1;
    for (const index of order.slice(start, end)) doubled[index] = start + end + 1;
    ties += (end - start) ** 3 - (end - start);
  }
  return { doubled, ties };
}

/** Returns the share of divisions of the values whose u is as far from its mean, by the shift algorithm (Streitberg and Röhmel 1986). */
function exactShare(doubled: readonly number[], size: number, distance: number): number {
  const all = doubled.reduce((sum, rank) => sum + rank, 0);
  const ways = Array.from({ length: size + 1 }, () => new Float64Array(all + 1));
  if (ways[0] !== undefined) ways[0][0] = 1;
  for (const rank of doubled) {
    for (let taken = size; taken > 0; taken -= 1) {
      const [less, more] = [ways[taken - 1], ways[taken]];
      if (less === undefined || more === undefined) continue;
      for (let sum = all; sum >= rank; sum -= 1) more[sum] = (more[sum] ?? 0) + (less[sum - rank] ?? 0);
    }
  }
  const centre = size * (doubled.length + 1);
  let [far, count] = [0, 0];
  for (const [sum, some] of (ways[size] ?? []).entries()) {
    count += some;
    if (Math.abs(sum - centre) >= 2 * distance) far += some;
  }
  return far / count;
}

export interface Anova {
  readonly means: readonly number[];
  /** Fisher's F test of equal means. Undefined when no group has a spread but for rounding. */
  readonly f: { readonly value: number; readonly degrees: readonly [between: number, within: number]; readonly p: number } | undefined;
  /** The share of the sum of squares that is between the groups. Undefined when all values are equal. */
  readonly etaSquared: number | undefined;
}

/**
 * Returns the analysis of variance of at least two independent groups (one-way, Fisher 1925). It assumes normal values of one variance; after
 * it, {@link compareSamples} with {@link holm} finds the groups that differ. It needs the package `jstat`.
 *
 * @throws UsageError `SAMPLE_INVALID` for fewer than two groups or an empty one, and without more values than groups; `PACKAGE_MISSING`
 * @example
 * import { anova } from "troupe/research";
 *
 * const { f } = await anova([[6, 8, 4, 5, 3, 4], [8, 12, 9, 11, 6, 8], [13, 9, 11, 8, 7, 12]]);
 * console.log(f?.value.toFixed(2), f?.degrees, f?.p.toFixed(4)); // 9.26 [ 2, 15 ] 0.0024
 */
export async function anova(groups: Iterable<Iterable<number>>): Promise<Anova> {
  takes("anova", "groups", groups, iterable("groups of numbers"));
  const samples = [...groups].map((group) => sampleOf("anova", group, 1));
  const values = samples.flat();
  const degrees = [samples.length - 1, values.length - samples.length] as const;
  if (degrees[0] < 1 || degrees[1] < 1)
    throw invalid(`two groups of anova or more, and more values than groups, got ${values.length} values in ${samples.length} groups.`);
  const { fTail } = await distributions();
  const means = samples.map(meanOf);
  const centre = meanOf(values);
  const between = samples.reduce((sum, { length }, nth) => sum + length * ((means[nth] ?? 0) - centre) ** 2, 0);
  const within = samples.reduce((sum, sample) => sum + (sample.length < 2 ? 0 : deviationOf(sample) ** 2 * (sample.length - 1)), 0);
  const value = between / degrees[0] / (within / degrees[1]);
  return {
    means,
    f: isRounding(Math.sqrt(within / degrees[1]), values) ? undefined : { value, degrees, p: fTail(value, ...degrees) },
    etaSquared: isRounding(deviationOf(values), values) ? undefined : between / (between + within),
  };
}

/**
 * Returns the probabilities of several tests, adjusted so that a threshold holds for all of them together (Holm 1979), in the given order.
 *
 * @throws UsageError `SAMPLE_INVALID` for a number outside 0 to 1
 * @example
 * import { holm } from "troupe/research";
 *
 * console.log(holm([0.01, 0.04, 0.03])); // [ 0.03, 0.06, 0.06 ]
 */
export function holm(probabilities: Iterable<number>): readonly number[] {
  const given = sampleOf("holm", probabilities, 1);
  const wrong = given.find((p) => p < 0 || p > 1);
  if (wrong !== undefined) throw invalid(`probabilities from 0 to 1 in the values of holm, got ${wrong}. Give it the p of each test.`);
  const adjusted = given.map(() => 0);
  let most = 0;
  for (const [rank, index] of [...given.keys()].sort((one, other) => (given[one] ?? 0) - (given[other] ?? 0)).entries()) {
    most = Math.max(most, Math.min(1, (given[index] ?? 0) * (given.length - rank)));
    adjusted[index] = most;
  }
  return adjusted;
}
