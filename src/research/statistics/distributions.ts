import { optionalPackage } from "../optional-package.ts";

/** The distributions that intervals and tests need. */
export interface Distributions {
  /** Returns the quantile of the standard normal distribution. */
  normalQuantile(probability: number): number;
  /** Returns the probability of a smaller value under the standard normal distribution. */
  normalShare(value: number): number;
  /** Returns the quantile of Student's t distribution. */
  tQuantile(probability: number, degrees: number): number;
  /** Returns the probability of a t value at least as far from 0. */
  tTails(t: number, degrees: number): number;
  /** Returns the probability of at most `count` heads in `trials` throws of a fair coin. */
  coinShare(count: number, trials: number): number;
}

/** The functions of jstat that are used. It publishes no types. */
interface Jstat {
  readonly normal: { inv(p: number, mean: number, deviation: number): number; cdf(x: number, mean: number, deviation: number): number };
  readonly studentt: { inv(p: number, degrees: number): number };
  ibeta(x: number, a: number, b: number): number;
}

/**
 * From so many degrees of freedom on, expansions replace jstat, whose continued fraction ends after 100 terms. There they are exact to 1e-12.
 */
const MANY_DEGREES = 10_000;

/** Loads jstat once. @throws UsageError `PACKAGE_MISSING` */
export async function distributions(): Promise<Distributions> {
  const { default: jstat } = await optionalPackage("jstat", "1.9", async () => {
    // @ts-expect-error: jstat publishes no types.
    return (await import("jstat")) as { readonly default: Jstat };
  });
  const normalQuantile = (probability: number): number => jstat.normal.inv(probability, 0, 1);
  const normalShare = (value: number): number => jstat.normal.cdf(value, 0, 1);
  return {
    normalQuantile,
    normalShare,
    tQuantile: (probability, degrees) =>
      degrees < MANY_DEGREES ? jstat.studentt.inv(probability, degrees) : tOfNormal(normalQuantile(probability), degrees),
    tTails: (t, degrees) =>
      degrees < MANY_DEGREES
        ? jstat.ibeta(degrees / (degrees + t * t), degrees / 2, 0.5)
        : 2 * normalShare(-normalOfT(Math.abs(t), degrees)),
    coinShare,
  };
}

/** Returns the t quantile of a normal quantile (Abramowitz and Stegun 1964, 26.7.5). */
function tOfNormal(z: number, degrees: number): number {
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  return z + first / degrees + second / degrees ** 2;
}

/** Returns the normal value with the tail of a t value (Abramowitz and Stegun 1964, 26.7.8). */
function normalOfT(t: number, degrees: number): number {
  return (t * (1 - 1 / (4 * degrees))) / Math.sqrt(1 + (t * t) / (2 * degrees));
}

/** Sums the terms from the largest on, because jstat rounds this probability to ten digits after the point, and so a small one to 0. */
function coinShare(count: number, trials: number): number {
  if (count >= trials) return 1;
  if (2 * count >= trials) return 1 - coinShare(trials - count - 1, trials);
  let logarithm = -trials * Math.LN2;
  for (let place = 1; place <= count; place += 1) logarithm += Math.log((trials - count + place) / place);
  let [term, sum] = [1, 0];
  for (let heads = count; heads >= 0 && term > sum * Number.EPSILON; heads -= 1) {
    sum += term;
    term *= heads / (trials - heads + 1);
  }
  return sum * Math.exp(logarithm);
}
