import { UsageError } from "../kernel/errors.ts";
import { adviceOn } from "../kernel/known-options.ts";
import { type Dialect, dialectShape } from "../model/dialect.ts";
import { usd } from "../model/money.ts";
import { valueIn, type Variables } from "./host.ts";
import { ENTRIES, type Flags, type OptionEntry, type OptionName, type Values } from "./options.ts";
import { given, invalidOption, oneOf } from "./option-words.ts";
import { durationIn, shown } from "./screen/text.ts";

const MAX_DOLLARS = 1_000_000;
const MAX_PORT = 65_535;

const READERS: { readonly [Format in keyof Values]: (option: string, text: string, entry: OptionEntry) => Values[Format] } = {
  name(option, text, { flags }) {
    const [, placeholder = "name"] = /<(\w+)>/.exec(flags) ?? [];
    return given(option, placeholder === "dir" ? "a folder" : `a ${placeholder}`, text, text.trim() || undefined);
  },
  dollars(option, text) {
    const amount = decimal(text) ?? 0;
    const value = amount > 0 && amount <= MAX_DOLLARS ? usd(amount) : undefined;
    return given(option, "an amount of dollars above 0, such as 3 or 0.50", text, value);
  },
  price(option, text) {
    const [input, output, cachedInput, ...rest] = text.split(",").map(decimal);
    const isWhole = text.split(",").length === (cachedInput === undefined ? 2 : 3) && rest.length === 0;
    const expected = "dollars for a million tokens in and out, and from the cache, such as 0.25,2 or 0.25,2,0.025";
    if (input === undefined || output === undefined || !isWhole) throw invalidOption(option, expected, text);
    return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
  },
  dialect: dialectIn,
  count: (option, text, { max = Infinity }) => wholeNumber(option, text, max),
  index: (option, text) => given(option, "a whole number from 0", text, digits(text, 7)),
  size: (option, text) => given(option, "how many messages are shown, such as 20", text, digits(text, 6)),
  seq: (option, text) => given(option, "the number of an event, such as 12", text, digits(text, 10)),
  port(option, text) {
    const port = digits(text, 5) ?? Infinity;
    return given(option, `a port from 0 to ${MAX_PORT}`, text, port <= MAX_PORT ? port : undefined);
  },
  time: timeIn,
  age: (option, text) => given(option, "a time such as 30d, 12h or 0s", text, durationIn(text)),
};

function digits(text: string, max: number): number | undefined {
  return /^\d+$/.test(text.trim()) && text.trim().length <= max ? Number(text) : undefined;
}

/** A number as people write it: `3`, `0.50`, `$3`. Not `1e9`, not `0x10`, not `Infinity`. */
function decimal(text: string): number | undefined {
  return /^\$?\d+(\.\d+)?$|^\$?\.\d+$/.test(text.trim()) ? Number(text.trim().replace("$", "")) : undefined;
}

export function wholeNumber(option: string, text: string, max: number): number {
  const n = /^\d+$/.test(text.trim()) ? Number(text) : 0;
  return given(option, `a whole number from 1 to ${max}`, text, n >= 1 && n <= max ? n : undefined);
}

/** The milliseconds of seconds (`90`), a duration (`90s`, `2m`, `1h`), or `none`, which is 0. */
export function timeIn(option: string, text: string): number {
  const word = text.trim();
  if (word === "none") return 0;
  const ms = /^\d{1,6}(\.\d{1,3})?$/.test(word) ? Number(word) * 1_000 : durationIn(word);
  return Math.round(given(option, "seconds or a time such as 90s, 10m or 2h, or none for no limit", text, ms));
}

/** The fields of a dialect, such as `maxTokens=4096,omit=seed,omit=stop`: that of a list may come more than once. */
function dialectIn(option: string, text: string): Dialect {
  const fields: Record<string, unknown> = {};
  for (const part of text.split(",")) {
    const [, name = "", word = ""] = /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    if (name === "") throw invalidOption(option, "fields with values, such as maxTokens=4096,stream=false,omit=seed", text);
    const known = Object.keys(dialectShape.shape);
    if (!known.includes(name)) {
      const { advice } = adviceOn(name, known);
      throw new UsageError(
        "OPTION_INVALID",
        `Expected ${option} with fields of a dialect, got ${shown(name, 60)}. ${advice} Known: ${known.join(", ")}.`,
      );
    }
    const value = /^\d+$/.test(word) ? Number(word) : ["true", "false"].includes(word) ? word === "true" : word;
    const before = fields[name];
    fields[name] = name.startsWith("omit") ? [...(Array.isArray(before) ? (before as readonly unknown[]) : []), word] : value;
    const [issue] = dialectShape.safeParse(fields).error?.issues ?? [];
    if (issue !== undefined)
      throw new UsageError(
        "OPTION_INVALID",
        `Expected ${option} with a value that ${name} takes, got ${shown(word, 60)}. ${issue.message}.`,
      );
  }
  return dialectShape.parse(fields);
}

function readOption(option: string, text: string, entry: OptionEntry): unknown {
  if (entry.value === undefined) return text;
  return typeof entry.value === "string" ? READERS[entry.value](option, text, entry) : oneOf(option, text, entry.value);
}

export function typedName(name: string, value?: unknown): string {
  const [long = ""] = /--[\w-]+/.exec(ENTRIES[name]?.flags ?? "") ?? [];
  return value === false && !long.startsWith("--no-") ? long.replace("--", "--no-") : long;
}

export function readFlags(raw: Readonly<Record<string, unknown>>): Flags {
  const flags: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    const entry = ENTRIES[name];
    if (entry === undefined || value === undefined) continue;
    const main = entry.alias ?? name;
    if (flags[main] !== undefined) {
      const [one, other] = [typedName(main), typedName(Object.keys(raw).find((key) => ENTRIES[key]?.alias === main) ?? name)];
      throw new UsageError("OPTION_CONFLICT", `Expected ${one} or ${other}, which mean the same, got both. Leave one out.`);
    }
    flags[main] = typeof value === "string" ? readOption(typedName(name), value, entry) : value;
  }
  return flags;
}

export function variableOf(name: string): string {
  return `TROUPE_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** The value of an option, else of its variable. @throws UsageError `OPTION_INVALID` */
export function setting<Name extends OptionName>(name: Name, flags: Flags, env: Variables): Flags[Name] {
  const variable = variableOf(name);
  const text = valueIn(env, variable);
  if (flags[name] !== undefined || text === undefined) return flags[name];
  return readOption(variable, text, ENTRIES[name] as OptionEntry) as Flags[Name];
}

export function refuseFixed(flags: Flags): void {
  for (const [name, { fixed, flags: typed }] of Object.entries(ENTRIES)) {
    const value = flags[name as OptionName];
    if (fixed === undefined || value === undefined) continue;
    const option = typedName(name, value);
    const advice =
      fixed === "fork" ? `fork it: troupe fork <id> ${typed.includes("<") ? typed.replace(/^-\w, /, "") : option}` : "begin a new run";
    const text = `Expected no ${option} for a run that continues: it continues as it was begun. With that option, ${advice}.`;
    throw new UsageError(name === "model" ? "MODEL_FIXED" : "OPTION_FIXED", text);
  }
}

export function withoutFixed(flags: Flags): Flags {
  return Object.fromEntries(Object.entries(flags).filter(([name]) => ENTRIES[name]?.fixed === undefined));
}
