import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { TokenPrice } from "../model/price.ts";
import type { CallTimeouts } from "../model/timeouts.ts";
import { timeIn } from "./time-limits.ts";
import { valueIn } from "./variables.ts";

/** The settings of one model: its price, and its time limits as texts. */
export interface ModelEntry {
  readonly price?: TokenPrice | undefined;
  readonly firstByte?: string | number | undefined;
  readonly silence?: string | number | undefined;
  readonly call?: string | number | undefined;
}

/** Prices and time limits by the ids of models. */
export type ModelTable = Readonly<Record<string, ModelEntry>>;

/**
 * The prices and limits by model that the environment sets, as JSON in `TROUPE_MODELS`.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function modelTable(env: Readonly<Record<string, string | undefined>>): ModelTable {
  return jsonIn(env, "TROUPE_MODELS", isTable, '{ "model": { "price": { "input": 1, "output": 2 }, "firstByte": "90s" } }') ?? {};
}

/**
 * The models by role that the environment sets, as JSON in `TROUPE_ROLE_MODELS`.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function roleModels(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> | undefined {
  return jsonIn(env, "TROUPE_ROLE_MODELS", areNames, '{ "Alex": "gpt-5" }');
}

/** The time limits of one model. @throws UsageError `OPTION_INVALID` */
export function limitsOf(id: string, entry: ModelEntry | undefined): CallTimeouts {
  const limits: { -readonly [Limit in keyof CallTimeouts]: CallTimeouts[Limit] } = {};
  for (const limit of ["firstByte", "silence", "call"] as const) {
    const given = entry?.[limit];
    if (given !== undefined) limits[limit] = timeIn(`${limit} of ${id}`, String(given));
  }
  return limits;
}

function isTable(value: unknown): value is ModelTable {
  return (
    isRecord(value) && Object.values(value).every((entry) => isRecord(entry) && (entry["price"] === undefined || isRecord(entry["price"])))
  );
}

function areNames(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((id) => typeof id === "string" && id !== "");
}

/** Prices and times are checked where they are used. No schema checks here: the file is loaded for every help text. */
function jsonIn<T>(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  fits: (value: unknown) => value is T,
  example: string,
): T | undefined {
  const text = valueIn(env, name);
  if (text === undefined) return undefined;
  const parsed = parsedJson(text);
  if (fits(parsed)) return parsed;
  throw new UsageError("OPTION_INVALID", `Expected ${name} to be JSON such as ${example}, got another form.`);
}
