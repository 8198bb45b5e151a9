import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";

/** Time limits of model calls, in milliseconds; 0 and `Infinity` mean none. */
export interface CallTimeouts {
  /**
   * Silence before the first piece of an answer. Every sign of life restarts it: a comment that keeps the connection open, a piece without
   * content. Default {@link DEFAULT_TIMEOUTS}`.firstByte`.
   */
  readonly firstByte?: number | undefined;
  /** Silence once the answer has begun. Default {@link DEFAULT_TIMEOUTS}`.silence`. */
  readonly silence?: number | undefined;
  /**
   * A whole call with its retries, without waits for limits and the budget; the only limit of a server that does not stream.
   * Default {@link DEFAULT_TIMEOUTS}`.call`.
   */
  readonly call?: number | undefined;
}

export type SetTimeouts = { readonly [Limit in keyof Required<CallTimeouts>]: number };

/** For a local model on a slow machine, which needs 10 minutes for a long prompt, and 91 for 16,384 tokens at 3 a second. */
export const DEFAULT_TIMEOUTS: SetTimeouts = Object.freeze({ firstByte: 600_000, silence: 300_000, call: 7_200_000 });

/** The model's own, else that of the policy, else the default. */
export function timeoutsOf(own: CallTimeouts | undefined, policy: CallTimeouts | undefined): SetTimeouts {
  const limit = (name: keyof CallTimeouts): number => {
    const ms = own?.[name] ?? policy?.[name] ?? DEFAULT_TIMEOUTS[name];
    return ms === 0 ? Infinity : ms;
  };
  return { firstByte: limit("firstByte"), silence: limit("silence"), call: limit("call") };
}

const callTimeouts: Known<CallTimeouts> = kinds.each(kinds.checked, "firstByte", "silence", "call");

/** @throws UsageError `TIMEOUT_INVALID`, `OPTION_UNKNOWN` */
export function checkTimeouts(timeouts: CallTimeouts | undefined): void {
  if (timeouts === undefined) return;
  checkGivenOptions("the option timeouts", timeouts, callTimeouts);
  for (const [name, ms] of Object.entries(timeouts)) {
    if (ms === undefined || (typeof ms === "number" && ms >= 0)) continue;
    throw new UsageError(
      "TIMEOUT_INVALID",
      `Expected timeouts.${name} to be milliseconds, 0 or more, got ${valueText(ms)}. Leave it out for ${DEFAULT_TIMEOUTS[name as keyof SetTimeouts]}; 0 means no limit.`,
    );
  }
}
