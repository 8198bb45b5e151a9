import { iterable, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { sampleOf } from "../statistics/sample.ts";

/** An opinion, a choice or a kind: values that are equal or not. */
export type Opinion = string | number | boolean | null;

/**
 * Returns the Gini coefficient of at least one value of 0 or more: 0 where all are equal, and (n - 1) / n where one of n has everything. It
 * is half of the mean difference of two values, over their mean (Gini 1912).
 *
 * @throws UsageError `SAMPLE_INVALID` for no value, a negative one, one that is no finite number, or values that are all 0
 * @example
 * import { gini } from "troupe/research";
 *
 * console.log(gini([1, 1, 1, 1]), gini([0, 0, 0, 4])); // 0 0.75
 */
export function gini(values: Iterable<number>): number {
  const sorted = sampleOf("gini", values, 1).toSorted((a, b) => a - b);
  const least = sorted[0] ?? 0;
  const most = sorted.at(-1) ?? 0;
  if (least < 0 || most === 0)
    throw new UsageError(
      "SAMPLE_INVALID",
      `Expected values of gini of 0 or more, and one above 0, got ${valueText(least < 0 ? least : 0)}.`,
    );
  // Shares of the largest value, so that no sum is too large.
  let [total, weighted] = [0, 0];
  sorted.forEach((value, place) => {
    total += value / most;
    weighted += (2 * (place + 1) - sorted.length - 1) * (value / most);
  });
  return weighted / (sorted.length * total);
}

/**
 * Returns the entropy of opinions in bits (Shannon 1948): 0 where all are equal, and the binary logarithm of n where n are equally frequent.
 *
 * @throws UsageError `OPINIONS_INVALID` for no opinion, and for a value that is none
 * @example
 * import { entropy } from "troupe/research";
 *
 * console.log(entropy(["a", "b", "a", "b"]), entropy(["a", "a"])); // 1 0
 */
export function entropy(opinions: Iterable<Opinion>): number {
  const { counts, n } = countsOf("entropy", opinions);
  const bits = counts.reduce((sum, count) => sum - (count / n) * Math.log2(count / n), 0);
  return Math.max(0, bits);
}

/**
 * Returns the probability that two different agents have the same opinion: 1 where all agree, 0 where all differ. 1 for a single opinion.
 *
 * @throws UsageError `OPINIONS_INVALID` for no opinion, and for a value that is none
 * @example
 * import { agreement } from "troupe/research";
 *
 * console.log(agreement(["yes", "yes", "no"]).toFixed(3)); // 0.333
 */
export function agreement(opinions: Iterable<Opinion>): number {
  const { counts, n } = countsOf("agreement", opinions);
  if (n === 1) return 1;
  return counts.reduce((sum, count) => sum + count * (count - 1), 0) / (n * (n - 1));
}

/** Returns the share of the most frequent opinion. @throws UsageError `OPINIONS_INVALID` */
export function largestShare(caller: string, opinions: Iterable<Opinion>): number {
  const { counts, n } = countsOf(caller, opinions);
  return counts.reduce((most, count) => Math.max(most, count), 0) / n;
}

function countsOf(caller: string, opinions: Iterable<Opinion>): { readonly counts: readonly number[]; readonly n: number } {
  takes(caller, "opinions", opinions, iterable("opinions"));
  const counts = new Map<Opinion, number>();
  let n = 0;
  for (const opinion of opinions as Iterable<unknown>) {
    const isOpinion = opinion === null || ["string", "boolean"].includes(typeof opinion) || Number.isFinite(opinion);
    if (!isOpinion) throw invalid(caller, `texts, finite numbers, booleans or null`, opinion);
    counts.set(opinion as Opinion, (counts.get(opinion as Opinion) ?? 0) + 1);
    n += 1;
  }
  if (n === 0) throw invalid(caller, "at least one", []);
  return { counts: [...counts.values()], n };
}

function invalid(caller: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPINIONS_INVALID", `Expected the opinions of ${caller} to be ${expected}, got ${valueText(came)}.`);
}
