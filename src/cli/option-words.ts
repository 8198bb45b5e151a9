import { UsageError } from "../kernel/errors.ts";
import { shown } from "./screen/text.ts";

/* Apart from the readers of option-values.ts, which load zod: a Tab in a shell needs these alone. */

export function invalidOption(option: string, expected: string, text: string): UsageError {
  const got = text.trim() === "" ? "an empty string" : `"${shown(text, 80)}"`;
  return new UsageError("OPTION_INVALID", `Expected ${option} to be ${expected}, got ${got}.`);
}

export function given<T>(option: string, expected: string, text: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw invalidOption(option, expected, text);
}

export function oneOf<T extends string>(option: string, text: string, words: readonly T[]): T {
  const found = words.find((known) => known.toLowerCase() === text.toLowerCase());
  return given(option, `one of ${words.join(", ")}`, text, found);
}
