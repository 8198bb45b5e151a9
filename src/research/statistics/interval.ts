import { checkGivenOptions, checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { type Shape, numberWith } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { deviationOf, invalid, meanOf, sampleOf } from "./sample.ts";
import { optionalPackage } from "../../adapters/optional-package.ts";

export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
  /** The share of intervals of this kind that contain the true value, between 0 and 1. */
  readonly confidence: number;
  readonly n: number;
  readonly method: "t" | "wilson" | "bca" | "percentile";
  /** A reason to distrust the interval. */
  readonly warning?: string;
}

export interface IntervalOptions {
  readonly confidence?: number;
}

export const aConfidence: Shape = numberWith("a number between 0 and 1, such as 0.95", (value) => value > 0 && value < 1);
const intervalOptions: Known<IntervalOptions> = { confidence: aConfidence };

export const DEFAULT_CONFIDENCE = 0.95;

/**
 * Returns the interval `mean ± t(n - 1) · standard error` of at least two values, by the package `jstat`.
 *
 * @throws UsageError `SAMPLE_INVALID`, `PACKAGE_MISSING`
 */
export async function tInterval(values: Iterable<number>, o: IntervalOptions = {}): Promise<Interval> {
  checkKnownOptions("tInterval", o, intervalOptions);
  const { confidence = DEFAULT_CONFIDENCE } = o;
  const sample = sampleOf("tInterval", values, 2);
  const estimate = meanOf(sample);
  const { tQuantile } = await distributions();
  const half = (tQuantile((1 + confidence) / 2, sample.length - 1) * deviationOf(sample)) / Math.sqrt(sample.length);
  return { estimate, low: estimate - half, high: estimate + half, confidence, n: sample.length, method: "t" };
}

/**
 * Returns the score interval of a share (Wilson 1927) from zeros and ones, by the package `jstat`. It stays within 0 and 1, and has a width
 * also where all values are equal.
 *
 * @throws UsageError `SAMPLE_INVALID`, `PACKAGE_MISSING`
 */
export async function shareInterval(values: Iterable<number>, o: IntervalOptions = {}): Promise<Interval> {
  checkKnownOptions("shareInterval", o, intervalOptions);
  const { confidence = DEFAULT_CONFIDENCE } = o;
  const sample = sampleOf("shareInterval", values, 1);
  const other = sample.find((value) => value !== 0 && value !== 1);
  if (other !== undefined)
    throw invalid(`zeros and ones in the values of shareInterval, got ${valueText(other)}. Use tInterval for means.`);
  const n = sample.length;
  const estimate = meanOf(sample);
  const z = (await distributions()).normalQuantile((1 + confidence) / 2);
  return { estimate, ...wilson(estimate, n, z), confidence, n, method: "wilson" };
}

/** The normal quantile of a two-sided interval of 95 %. */
export const NORMAL_95 = 1.959963984540054;

export function wilson(estimate: number, n: number, z: number): Pick<Interval, "low" | "high"> {
  const half = z * Math.sqrt((estimate * (1 - estimate)) / n + (z / (2 * n)) ** 2);
  const [low = 0, high = 1] = [-half, half].map((side) => (estimate + z ** 2 / (2 * n) + side) / (1 + z ** 2 / n));
  // Rounding must not leave the estimate outside, as it would where all values are equal.
  return { low: Math.max(0, Math.min(low, estimate)), high: Math.min(1, Math.max(high, estimate)) };
}

export interface Distributions {
  normalQuantile(probability: number): number;
  normalShare(value: number): number;
  /** Returns the probability of a normal value at least as far from 0 as a positive one. */
  normalTails(value: number): number;
  tQuantile(probability: number, degrees: number): number;
  /** Returns the probability of a t value at least as far from 0. */
  tTails(t: number, degrees: number): number;
  /** Returns the probability of an F value that is at least as large. */
  fTail(f: number, between: number, within: number): number;
}

interface Jstat {
  readonly normal: { inv(p: number, mean: number, deviation: number): number; cdf(x: number, mean: number, deviation: number): number };
  readonly studentt: { inv(p: number, degrees: number): number };
  gammaln(x: number): number;
}

/** From here on an expansion, exact to 1e-12, replaces the quantile of jstat, whose continued fraction ends after 100 terms. */
const MANY_DEGREES = 10_000;

/** Loads jstat once. @throws UsageError `PACKAGE_MISSING` */
export async function distributions(): Promise<Distributions> {
  const { default: jstat } = await optionalPackage("jstat", "1.9", async () => {
    // @ts-expect-error: jstat publishes no types.
    return (await import("jstat")) as { readonly default: Jstat };
  });
  const normalQuantile = (probability: number): number => jstat.normal.inv(probability, 0, 1);
  const fTail = (f: number, between: number, within: number): number => {
    const [part, rest] = [within / (within + between * f), (between * f) / (within + between * f)];
    return betaShare(part, rest, within / 2, between / 2, (x) => jstat.gammaln(x));
  };
  const normalShare = (value: number): number => jstat.normal.cdf(value, 0, 1);
  return {
    normalQuantile,
    normalShare,
    normalTails: (value) => (value < FAR ? 2 * normalShare(-value) : farTails(value)),
    tQuantile: (probability, degrees) =>
      degrees < MANY_DEGREES ? jstat.studentt.inv(probability, degrees) : tOfNormal(normalQuantile(probability), degrees),
    tTails: (t, degrees) => fTail(t * t, 1, degrees),
    fTail,
  };
}

/** From here on a difference from 1 would lose digits. */
const FAR = 3;

/** Returns both tails of the normal distribution by the continued fraction of Laplace (DLMF 7.9.2). */
function farTails(value: number): number {
  let fraction = value;
  for (let n = 200; n > 0; n -= 1) fraction = value + n / fraction;
  return (2 * Math.exp(-(value ** 2) / 2)) / (fraction * Math.sqrt(2 * Math.PI));
}

/** Returns the t quantile of a normal quantile (Abramowitz and Stegun 1964, 26.7.5). */
function tOfNormal(z: number, degrees: number): number {
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  return z + first / degrees + second / degrees ** 2;
}

/** The regularized incomplete beta function by its continued fraction (DLMF 8.17.22, Lentz 1976). @param rest 1 - x, with all its digits */
function betaShare(x: number, rest: number, a: number, b: number, logGamma: (x: number) => number): number {
  if (x <= 0 || rest <= 0) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(rest, x, b, a, logGamma);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(rest)) / a;
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let n = 2, change = 0; Math.abs(change - 1) > 1e-15 && n < MOST_TERMS; n += 1) {
    const m = Math.floor(n / 2);
    const term = ((n % 2 === 0 ? m * (b - m) : -(a + m) * (a + b + m)) * x) / ((a + n - 1) * (a + n));
    d = 1 / (1 + term * d);
    c = 1 + term / c;
    change = c * d;
    fraction *= change;
  }
  return front * fraction;
}

/** More than a million degrees need. */
const MOST_TERMS = 100_000;

export interface PrecisionOptions extends IntervalOptions {
  /** Half of the wanted width of the t interval of the mean. */
  readonly halfWidth: number;
  /** The standard deviation of the values, from a pilot or from others. */
  readonly standardDeviation: number;
}

const precisionOptions: Known<PrecisionOptions> = {
  confidence: aConfidence,
  halfWidth: numberWith("a finite number above 0", (value) => value > 0 && Number.isFinite(value)),
  standardDeviation: numberWith("a finite number of 0 or more", (value) => value >= 0 && Number.isFinite(value)),
};

const MOST = 1e12;

/**
 * Returns the least n of at least 2 with `t(n - 1) · standardDeviation / √n ≤ halfWidth`, by the package `jstat`.
 *
 * @throws UsageError `OPTION_INVALID`, also for more than a trillion values; `PACKAGE_MISSING`
 */
export async function sampleSize(o: PrecisionOptions): Promise<number> {
  checkGivenOptions("sampleSize", o, precisionOptions);
  const { confidence = DEFAULT_CONFIDENCE, standardDeviation, halfWidth } = o;
  const ratio = standardDeviation / halfWidth;
  const { normalQuantile, tQuantile } = await distributions();
  const share = (1 + confidence) / 2;
  // A t quantile is larger than the normal one, so no smaller number suffices.
  let n = Math.max(2, Math.floor((normalQuantile(share) * ratio) ** 2));
  if (!(n <= MOST))
    throw new UsageError("OPTION_INVALID", `Expected halfWidth and standardDeviation of sampleSize that ${MOST} values reach.`);
  while (tQuantile(share, n - 1) * ratio > Math.sqrt(n)) n += 1;
  return n;
}
