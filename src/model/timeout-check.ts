import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";
import { type CallTimeouts, DEFAULT_TIMEOUTS, type SetTimeouts } from "./timeouts.ts";

// Apart from the limits themselves: the help of the command tells those, and needs no checks.

/** The names of the limits. */
const callTimeouts: Known<CallTimeouts> = { firstByte: kinds.checked, silence: kinds.checked, call: kinds.checked };

/**
 * Refuses limits that are no times.
 *
 * @throws UsageError `TIMEOUT_INVALID`, `OPTION_UNKNOWN`
 */
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
