import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";

/**
 * Returns how much more a team spends than one agent on the same task, as a share of what the agent spends: 0 for the same, 1 for twice as
 * much, below 0 for less. Messages, tokens, money or time: the same unit on both sides.
 *
 * @throws UsageError `SAMPLE_INVALID` for a cost that is no finite number of 0 or more, and for an agent that spends nothing
 * @example
 * import { overhead } from "troupe/research";
 *
 * console.log(overhead(580, 100)); // 4.8
 */
export function overhead(team: number, oneAgent: number): number {
  checkAtLeastZero("overhead", team);
  checkAtLeastZero("overhead", oneAgent);
  if (oneAgent === 0) throw none("overhead", "an agent that spends something", oneAgent);
  return (team - oneAgent) / oneAgent;
}

/**
 * Returns how many times as often a team errs as one agent does: above 1 the team amplifies errors, below 1 it corrects them.
 *
 * @param team share of the tasks that the team fails, from 0 to 1
 * @param oneAgent share of the same tasks that one agent fails
 * @throws UsageError `SAMPLE_INVALID` for shares outside 0 and 1, and for an agent that never errs
 * @example
 * import { errorAmplification } from "troupe/research";
 *
 * console.log(errorAmplification(0.3, 0.2).toFixed(1)); // 1.5
 */
export function errorAmplification(team: number, oneAgent: number): number {
  for (const share of [team, oneAgent]) {
    checkAtLeastZero("errorAmplification", share);
    if (share > 1) throw none("errorAmplification", "shares of at most 1", share);
  }
  if (oneAgent === 0) throw none("errorAmplification", "an agent that errs at times", oneAgent);
  return team / oneAgent;
}

function checkAtLeastZero(caller: string, value: unknown): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  throw none(caller, "finite numbers of 0 or more", value);
}

function none(caller: string, expected: string, came: unknown): UsageError {
  return new UsageError("SAMPLE_INVALID", `Expected ${expected} for ${caller}, got ${valueText(came)}.`);
}
