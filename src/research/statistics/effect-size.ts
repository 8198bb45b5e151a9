import { UsageError } from "../../kernel/errors.ts";
import { deviationOf, isRounding, meanOf, sampleOf } from "./sample.ts";

/**
 * Returns Cohen's d of two independent samples: the difference of their means, `a` minus `b`, over their pooled standard deviation (Cohen
 * 1988). 0.2 is called small, 0.5 medium, 0.8 large.
 *
 * @throws UsageError `SAMPLE_INVALID` for a sample of fewer than two values, a value that is no finite number, and samples without any spread
 * @example
 * import { cohensD } from "troupe/research";
 *
 * console.log(cohensD([2, 4, 6], [1, 3, 5])); // 0.5
 */
export function cohensD(a: Iterable<number>, b: Iterable<number>): number {
  const first = sampleOf("cohensD", a, 2);
  const second = sampleOf("cohensD", b, 2);
  const squares = (sample: readonly number[]): number => deviationOf(sample, "cohensD") ** 2 * (sample.length - 1);
  const pooled = Math.sqrt((squares(first) + squares(second)) / (first.length + second.length - 2));
  const difference = meanOf(first, "cohensD") - meanOf(second, "cohensD");
  return standardized("cohensD", difference, isRounding(pooled, first, second) ? 0 : pooled);
}

/**
 * Returns the effect size of paired values: the mean of the differences, `a` minus `b`, over their standard deviation (d<sub>z</sub>, Cohen
 * 1988). The values of one pair stand at the same place.
 *
 * @throws UsageError `SAMPLE_INVALID` as {@link cohensD}, and for lists of different lengths
 * @example
 * import { pairedD } from "troupe/research";
 *
 * console.log(pairedD([3, 5, 7], [2, 3, 4])); // 2
 */
export function pairedD(a: Iterable<number>, b: Iterable<number>): number {
  const [first, second] = [sampleOf("pairedD", a, 2), sampleOf("pairedD", b, 2)];
  const differences = differencesOf("pairedD", first, second);
  const deviation = deviationOf(differences, "pairedD");
  return standardized("pairedD", meanOf(differences, "pairedD"), isRounding(deviation, first, second) ? 0 : deviation);
}

/** Returns the differences, first minus second. @throws UsageError `SAMPLE_INVALID` */
function differencesOf(caller: string, a: readonly number[], b: readonly number[]): readonly number[] {
  if (a.length === b.length) return a.map((value, place) => value - (b[place] ?? 0));
  throw new UsageError(
    "SAMPLE_INVALID",
    `Expected as many values of ${caller} on both sides, got ${a.length} and ${b.length}. Leave out pairs with one value.`,
  );
}

function standardized(caller: string, difference: number, deviation: number): number {
  if (deviation > 0) return difference / deviation;
  throw new UsageError(
    "SAMPLE_INVALID",
    `Expected values of ${caller} that differ from each other, got none: an effect size is undefined without spread. Report the difference itself.`,
  );
}
