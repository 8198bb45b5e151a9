import { iterable, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";

/** Returns the arithmetic mean of at least one finite number. @throws UsageError `SAMPLE_INVALID` */
export function mean(values: Iterable<number>): number {
  return meanOf(sampleOf("mean", values, 1));
}

/** Returns the standard error of the mean of at least two finite numbers. @throws UsageError `SAMPLE_INVALID` */
export function standardError(values: Iterable<number>): number {
  const sample = sampleOf("standardError", values, 2);
  return deviationOf(sample) / Math.sqrt(sample.length);
}

/** Returns the values as a list of at least `least` finite numbers. @throws UsageError `SAMPLE_INVALID` */
export function sampleOf(caller: string, values: Iterable<number>, least: number): readonly number[] {
  takes(caller, "values", values, iterable("numbers"));
  const sample = [...values];
  const wrong = sample.findIndex((value) => !Number.isFinite(value));
  if (wrong !== -1)
    throw invalid(
      `finite numbers in the values of ${caller}, got ${valueText(sample[wrong])} at index ${wrong}. Leave out rows without a value, and say so.`,
    );
  if (sample.length >= least) return sample;
  throw invalid(`at least ${least} value${least === 1 ? "" : "s"} of ${caller}, got ${sample.length}. Add repetitions.`);
}

export function meanOf(sample: readonly number[]): number {
  return inRange(sumOf(sample) / sample.length);
}

/** Returns the sample standard deviation of a list of at least two. The second sum corrects the rounding of the mean (Chan et al. 1983). */
export function deviationOf(sample: readonly number[]): number {
  const centre = meanOf(sample);
  let squares = 0;
  let rest = 0;
  for (const value of sample) {
    const distance = value - centre;
    squares += distance * distance;
    rest += distance;
  }
  const spread = Math.max(0, squares - (rest * rest) / sample.length);
  return inRange(Math.sqrt(spread / (sample.length - 1)));
}

/** Rounding of a difference of two numbers, relative to the larger one. */
const ROUNDING = 1e-12;

/** True for a deviation that is only the rounding of the values it was computed from. */
export function isRounding(deviation: number, ...samples: readonly Iterable<number>[]): boolean {
  let most = 0;
  for (const sample of samples) for (const value of sample) most = Math.max(most, Math.abs(value));
  return deviation <= most * ROUNDING;
}

/** Returns a sum with compensation for lost low digits (Neumaier 1974). */
function sumOf(sample: readonly number[]): number {
  let sum = 0;
  let lost = 0;
  for (const value of sample) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}

export function inRange(result: number): number {
  if (Number.isFinite(result)) return result;
  throw invalid("values whose sums fit a number, got values that are too large. Write them in a larger unit.");
}

/** @param expected the rest of the sentence: what was expected, what came, and what to do */
export function invalid(expected: string): UsageError {
  return new UsageError("SAMPLE_INVALID", `Expected ${expected}`);
}
