import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { distributions } from "./distributions.ts";
import { checkedConfidence, type IntervalOptions } from "./interval.ts";

/** A wanted precision, and the spread of the values. */
export interface PrecisionOptions extends IntervalOptions {
  /** Half of the wanted width of the t interval of the mean. */
  readonly halfWidth: number;
  /** The standard deviation of the values, from a pilot or from others. */
  readonly standardDeviation: number;
}

const precisionOptions: Known<PrecisionOptions> = { confidence: kinds.amount, halfWidth: kinds.amount, standardDeviation: kinds.amount };

/** The most values that can be asked for. */
const MOST = 1e12;

/**
 * Returns the least number of values whose t interval of the mean is expected to be that narrow: the least n of at least 2 with
 * `t(n - 1) · standardDeviation / √n ≤ halfWidth`. It needs the package `jstat`.
 *
 * @throws UsageError `OPTION_INVALID` for an option that is no number above 0, and for more than a trillion values; `PACKAGE_MISSING`
 * @example
 * import { sampleSize } from "troupe/research";
 *
 * console.log(await sampleSize({ standardDeviation: 10, halfWidth: 2 })); // 99
 */
export async function sampleSize(o: PrecisionOptions): Promise<number> {
  checkGivenOptions("sampleSize", o, precisionOptions);
  const confidence = checkedConfidence("sampleSize", o.confidence);
  const ratio = positive("standardDeviation", o.standardDeviation, true) / positive("halfWidth", o.halfWidth, false);
  const { normalQuantile, tQuantile } = await distributions();
  const share = (1 + confidence) / 2;
  // A t quantile is larger than the normal one, so no smaller number suffices.
  let n = Math.max(2, Math.floor((normalQuantile(share) * ratio) ** 2));
  if (n > MOST)
    throw new UsageError(
      "OPTION_INVALID",
      `Expected a precision of sampleSize that ${MOST} values reach, got one that needs more. Ask for less.`,
    );
  while (tQuantile(share, n - 1) * ratio > Math.sqrt(n)) n += 1;
  return n;
}

function positive(option: string, value: unknown, mayBeNull: boolean): number {
  if (typeof value === "number" && Number.isFinite(value) && (value > 0 || (mayBeNull && value === 0))) return value;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the option ${option} of sampleSize to be a finite number ${mayBeNull ? "of at least" : "above"} 0, got ${valueText(value)}.`,
  );
}
