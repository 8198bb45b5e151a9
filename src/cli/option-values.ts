import { UsageError } from "../kernel/errors.ts";
import type { ModelPrice } from "../model/price.ts";
import { durationIn } from "./screen/amounts.ts";
import { shown } from "./screen/text.ts";

const MOST_DOLLARS = 1_000_000;
const MOST_PORT = 65_535;

export function invalidOption(option: string, expected: string, given: string): UsageError {
  const got = given.trim() === "" ? "an empty text" : `"${shown(given, 80)}"`;
  return new UsageError("OPTION_INVALID", `Expected ${option} to be ${expected}, got ${got}.`);
}

/** The value of an option that is a whole number. @throws UsageError `OPTION_INVALID` */
export function wholeNumber(option: string, text: string, most: number): number {
  const n = /^\d+$/.test(text.trim()) ? Number(text) : 0;
  if (n >= 1 && n <= most) return n;
  throw invalidOption(option, `a whole number from 1 to ${most}`, text);
}

/** The value of an option that is a port of this machine. @throws UsageError `OPTION_INVALID` */
export function portNumber(option: string, given: string): number {
  const port = Number(given);
  if (/^\d{1,5}$/.test(given) && port <= MOST_PORT) return port;
  throw invalidOption(option, `a port from 0 to ${MOST_PORT}`, given);
}

export function eventNumber(option: string, text: string): number {
  if (/^\d{1,10}$/.test(text.trim())) return Number(text);
  throw invalidOption(option, "the number of an event, such as 12", text);
}

export function ageOf(text: string): number {
  const age = durationIn(text);
  if (age !== undefined) return age;
  throw invalidOption("--older-than", "a time such as 30d, 12h or 0s", text);
}

/** The value of an option that is one of several words. @throws UsageError `OPTION_INVALID` */
export function oneOf<T extends string>(option: string, text: string, words: readonly T[]): T {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw invalidOption(option, `one of ${words.join(", ")}`, text);
}

export function aliased(name: string, value: string | undefined, alias: string, other: string | undefined): string | undefined {
  if (value !== undefined && other !== undefined) {
    throw new UsageError("OPTION_CONFLICT", `Expected ${name} or ${alias}, which mean the same, got both. Leave one out.`);
  }
  return value ?? other;
}

export function nonEmpty(option: string, text: string | undefined, expected: string): string | undefined {
  if (text === undefined || text.trim() !== "") return text?.trim();
  throw invalidOption(option, expected, text);
}

/** A number as people write it: `3`, `0.50`, `$3`. Not `1e9`, not `0x10`, not `Infinity`. */
function decimal(text: string): number | undefined {
  return /^\$?\d+(\.\d+)?$|^\$?\.\d+$/.test(text.trim()) ? Number(text.trim().replace("$", "")) : undefined;
}

export function dollars(text: string, option: string = "--budget"): number {
  const amount = decimal(text);
  if (amount !== undefined && amount > 0 && amount <= MOST_DOLLARS) return amount;
  throw invalidOption(option, "an amount of dollars above 0, such as 3 or 0.50", text);
}

export function priceFrom(text: string): ModelPrice {
  const [input, output, cachedInput, ...rest] = text.split(",").map(decimal);
  const isWhole = text.split(",").length === (cachedInput === undefined ? 2 : 3);
  if (input === undefined || output === undefined || !isWhole || rest.length > 0) {
    throw invalidOption("--price", "dollars for a million tokens in and out, and from the cache, such as 0.25,2 or 0.25,2,0.025", text);
  }
  return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
}
