import type { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import { findJson } from "../model/json-in-text.ts";
import { outputSchema } from "../model/json-schema.ts";
import { withoutFillers } from "../model/schema-fit.ts";
import { issuesOf, type OutputIssue, pathText, valueAt } from "../model/structured-output.ts";
import { schemaFaults } from "./answer-faults.ts";

/** Arguments that fit, or the issues of arguments that do not. */
export type CheckedArguments<P> = { readonly ok: true; readonly args: P } | { readonly ok: false; readonly issues: readonly OutputIssue[] };

/** The schema that models see, and the check of arguments. */
export interface ToolParameters {
  readonly json: JsonObject;
  readonly check: (args: JsonObject) => CheckedArguments<unknown>;
}

/** Arguments read by a schema. `misread`: the paths where a string may hold a value of another type as JSON. */
type Read =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly issues: readonly OutputIssue[]; readonly misread: readonly (readonly PropertyKey[])[] };

/** @throws UsageError `TOOL_INVALID` when it is no object; `SCHEMA_UNSUPPORTED` when JSON cannot carry it */
export function zodParameters(tool: string, schema: z.ZodType): ToolParameters {
  const { json, wrapped } = outputSchema(schema);
  if (wrapped) {
    throw new UsageError(
      "TOOL_INVALID",
      `Expected the parameters of the tool "${tool}" to be a zod object, got another type. Put a union, a list or a value into a member of an object: z.object({ value: ... }).`,
    );
  }
  return { json, check: (args) => checked(args, json, (value) => readByZod(schema, value)) };
}

/**
 * Parameters from a JSON Schema of any origin; default none. What cannot be decided in bounded time is left to the owner of the tool.
 *
 * @throws UsageError `TOOL_INVALID` when it is the schema of something other than an object
 */
export function jsonParameters(tool: string, schema: JsonObject = { type: "object", properties: {} }): ToolParameters {
  if (schema["type"] !== "object") {
    throw new UsageError(
      "TOOL_INVALID",
      `Expected the parameters of the tool "${tool}" to be a zod object or a JSON Schema of type "object", got ${valueText(schema)}.`,
    );
  }
  return { json: schema, check: (args) => checked(args, schema, (value) => readByJsonSchema(schema, value)) };
}

/** Checks arguments unchanged; then without nulls that mean "left out"; then with JSON in strings parsed. */
function checked(args: JsonObject, json: JsonObject, read: (value: Json) => Read): CheckedArguments<unknown> {
  const strange = strangers(args, json);
  if (strange.length > 0) return { ok: false, issues: strange };
  const unchanged = read(args);
  if (unchanged.ok) return unchanged;
  const value = withoutFillers(args, json);
  const filled = read(value);
  if (filled.ok) return filled;
  const parsed = withParsedStrings(value, filled.misread);
  const again = parsed === value ? filled : read(parsed);
  return again.ok ? again : { ok: false, issues: filled.issues };
}

/** Types whose values models often write as JSON inside a string. */
const INSIDE_STRINGS = new Set(["number", "int", "integer", "boolean", "array", "object", "record", "tuple"]);

function readByZod(schema: z.ZodType, value: Json): Read {
  try {
    const { success, data, error } = schema.safeParse(value);
    if (success) return { ok: true, args: data };
    const misread = error.issues.flatMap((issue) =>
      issue.code === "invalid_type" && INSIDE_STRINGS.has(issue.expected) ? [issue.path] : [],
    );
    return { ok: false, issues: issuesOf(error.issues, value), misread };
  } catch (error) {
    return { ok: false, issues: [{ path: "", message: `could not be checked: ${thrownText(error)}` }], misread: [] };
  }
}

function readByJsonSchema(schema: JsonObject, value: Json): Read {
  const faults = schemaFaults(value, schema, { isOpen: true }) ?? [];
  if (faults.length === 0) return { ok: true, args: value };
  const misread = faults.filter(({ types }) => types.length > 0 && types.every((type) => INSIDE_STRINGS.has(type)));
  return {
    ok: false,
    issues: faults.map(({ path, text }) => ({ path: pathText(path), message: text })),
    misread: misread.map(({ path }) => path),
  };
}

/** Issues for arguments without a parameter: a misspelt one would be ignored in silence. A tool without parameters ignores arguments. */
function strangers(args: JsonObject, { additionalProperties: extra, properties, patternProperties }: JsonObject): OutputIssue[] {
  const isOpen = (extra !== undefined && extra !== false) || patternProperties !== undefined;
  const known = isRecord(properties) ? Object.keys(properties) : [];
  if (isOpen || known.length === 0) return [];
  return Object.keys(args)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: name.slice(0, 100), message: `is no parameter; there are ${known.join(", ").slice(0, 500)}` }));
}

function withParsedStrings(value: Json, paths: readonly (readonly PropertyKey[])[]): Json {
  return paths.slice(0, 100).reduce<Json>((parsed, path) => {
    const inner = insideString(valueAt(value, path));
    return inner === undefined ? parsed : replaced(parsed, path, inner);
  }, value);
}

function insideString(text: Json | undefined): Json | undefined {
  if (typeof text !== "string") return undefined;
  const [only, ...others] = findJson(text).values;
  if (only === undefined || others.length > 0 || typeof only.value === "string") return undefined;
  return (text.slice(0, only.start) + text.slice(only.end)).trim() === "" ? only.value : undefined;
}

function replaced(value: Json, path: readonly PropertyKey[], inner: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return inner;
  if (Array.isArray(value)) return value.with(Number(key), replaced(value[Number(key)] as Json, rest, inner)) as Json;
  const object = value as JsonObject;
  return { ...object, [String(key)]: replaced(object[String(key)] ?? null, rest, inner) };
}
