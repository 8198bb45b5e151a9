import { UsageError } from "../kernel/errors.ts";
import type { CallTimeouts } from "../model/timeouts.ts";
import { durationIn } from "./screen/amounts.ts";
import { shown } from "./screen/text.ts";
import { valueIn } from "./variables.ts";

/** The options that set time limits, as texts. */
export interface TimeFlags {
  readonly firstByte?: string;
  readonly silence?: string;
  readonly callLimit?: string;
}

/** A time limit of model calls as the command line and the environment name it. */
interface TimeLimit {
  readonly limit: keyof CallTimeouts;
  readonly option: string;
  readonly variable: string;
  readonly text: (flags: TimeFlags) => string | undefined;
}

const TIME_LIMITS: readonly TimeLimit[] = [
  { limit: "firstByte", option: "--first-byte", variable: "TROUPE_FIRST_BYTE", text: ({ firstByte }) => firstByte },
  { limit: "silence", option: "--silence", variable: "TROUPE_SILENCE", text: ({ silence }) => silence },
  { limit: "call", option: "--call-limit", variable: "TROUPE_CALL_LIMIT", text: ({ callLimit }) => callLimit },
];

/**
 * The time limits that options and environment set; those that they leave out are not there.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function timeLimits(flags: TimeFlags, env: Readonly<Record<string, string | undefined>>): CallTimeouts {
  const limits: { -readonly [Limit in keyof CallTimeouts]: CallTimeouts[Limit] } = {};
  for (const { limit, option, variable, text } of TIME_LIMITS) {
    const given = text(flags);
    const fromEnv = valueIn(env, variable);
    if (given !== undefined) limits[limit] = timeIn(option, given);
    else if (fromEnv !== undefined) limits[limit] = timeIn(variable, fromEnv);
  }
  return limits;
}

/**
 * The milliseconds of a text: seconds (`90`), a duration (`90s`, `2m`, `1h`), or `none`, which is 0.
 *
 * @param name what sets it, for the error
 * @throws UsageError `OPTION_INVALID`
 */
export function timeIn(name: string, text: string): number {
  const word = text.trim();
  if (word === "none") return 0;
  const ms = /^\d{1,6}(\.\d{1,3})?$/.test(word) ? Number(word) * 1_000 : durationIn(word);
  if (ms !== undefined) return Math.round(ms);
  const expected = `Expected ${name} to be seconds or a time such as 90s, 10m or 2h, or none for no limit`;
  throw new UsageError("OPTION_INVALID", `${expected}, got ${word === "" ? "an empty text" : `"${shown(word, 80)}"`}.`);
}
