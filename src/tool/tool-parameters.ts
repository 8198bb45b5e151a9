import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import { findJson } from "../model/json-in-text.ts";
import { outputSchema } from "../model/json-schema.ts";
import { withoutFillers } from "../model/schema-fit.ts";
import { issuesOf, type OutputIssue } from "../model/structured-output.ts";
import { isObject } from "../kernel/value-kind.ts";

/** Arguments that fit, or the issues of arguments that do not. */
export type CheckedArguments<P> = { readonly ok: true; readonly args: P } | { readonly ok: false; readonly issues: readonly OutputIssue[] };

/** The parameters of a tool: the schema that models see, and the check of arguments. */
export interface ToolParameters {
  readonly json: JsonObject;
  readonly check: (args: JsonObject) => CheckedArguments<unknown>;
}

/**
 * Parameters from a zod object.
 *
 * @throws UsageError `TOOL_INVALID` when it is no object; `SCHEMA_UNSUPPORTED` when JSON cannot carry it.
 */
export function zodParameters(tool: string, schema: z.ZodType): ToolParameters {
  const { json, wrapped } = outputSchema(schema);
  if (wrapped) {
    throw new UsageError(
      "TOOL_INVALID",
      `Expected the parameters of the tool "${tool}" to be a zod object, got another type. Put a union, a list or a value into a member of an object: z.object({ value: ... }).`,
    );
  }
  return { json, check: (args) => checked(args, schema, json) };
}

/**
 * Parameters from a JSON Schema of any origin; without one there are none. Arguments that fit stay unchanged.
 *
 * @throws UsageError `TOOL_INVALID` when it is the schema of something other than an object.
 */
export function jsonParameters(tool: string, schema: JsonObject = { type: "object", properties: {} }): ToolParameters {
  if (schema["type"] !== "object") {
    throw new UsageError(
      "TOOL_INVALID",
      `Expected the parameters of the tool "${tool}" to be a zod object or a JSON Schema of type "object", got ${valueText(schema)}.`,
    );
  }
  let reader: z.ZodType | "none" | undefined;
  return {
    json: schema,
    check(args) {
      reader ??= checkOf(schema) ?? "none";
      if (reader === "none") return { ok: true, args };
      const found = checked(args, reader, schema);
      return found.ok ? { ok: true, args: found.from } : found;
    },
  };
}

type Checked =
  | { readonly ok: true; readonly args: unknown; readonly from: Json }
  | { readonly ok: false; readonly issues: readonly OutputIssue[] };

/** Checks arguments unchanged; then without nulls that mean "left out"; then with JSON in strings parsed. */
function checked(args: JsonObject, schema: z.ZodType, json: JsonObject): Checked {
  const strange = strangers(args, json);
  if (strange.length > 0) return { ok: false, issues: strange };
  const asItCame = read(schema, args);
  if (asItCame.success === true) return { ok: true, args: asItCame.data, from: args };
  const value = withoutFillers(args, json);
  const filled = read(schema, value);
  if (filled.success === true) return { ok: true, args: filled.data, from: value };
  if (filled.success === "thrown") return { ok: false, issues: [{ path: "", message: `could not be checked: ${filled.why}` }] };
  const mended = mend(value, filled.error.issues);
  const again = mended === undefined ? undefined : read(schema, mended);
  if (mended !== undefined && again?.success === true) return { ok: true, args: again.data, from: mended };
  return { ok: false, issues: issuesOf(filled.error.issues, value) };
}

type Read = z.ZodSafeParseResult<unknown> | { readonly success: "thrown"; readonly why: string };

function read(schema: z.ZodType, value: Json): Read {
  try {
    return schema.safeParse(value);
  } catch (error) {
    return { success: "thrown", why: thrownText(error) };
  }
}

/** Issues for arguments without a parameter: a misspelt one would be ignored in silence. A tool without parameters ignores arguments. */
function strangers(args: JsonObject, json: JsonObject): OutputIssue[] {
  const extra = json["additionalProperties"];
  const properties = json["properties"];
  const isOpen = (extra !== undefined && extra !== false) || json["patternProperties"] !== undefined;
  if (isOpen || typeof properties !== "object" || properties === null) return [];
  const known = Object.keys(properties);
  if (known.length === 0) return [];
  return Object.keys(args)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => ({ path: name.slice(0, 100), message: `is no parameter; there are ${known.join(", ").slice(0, 500)}` }));
}

/** Types whose values models often write as JSON inside a string. */
const INSIDE_STRINGS = new Set(["number", "int", "boolean", "array", "object", "record", "tuple"]);

/** The value with strings parsed that hold JSON of the expected type; undefined when there are none. */
function mend(value: Json, issues: readonly z.core.$ZodIssue[]): Json | undefined {
  let mended: Json | undefined;
  for (const issue of issues.slice(0, 100)) {
    if (issue.code !== "invalid_type" || !INSIDE_STRINGS.has(issue.expected)) continue;
    const inner = insideString(at(value, issue.path));
    if (inner !== undefined) mended = replaced(mended ?? value, issue.path, inner);
  }
  return mended;
}

function insideString(text: Json | undefined): Json | undefined {
  if (typeof text !== "string") return undefined;
  const { values } = findJson(text);
  const [only] = values;
  return values.length === 1 && only !== undefined && typeof only.value !== "string" && isWhole(text, only) ? only.value : undefined;
}

function isWhole(text: string, { start, end }: { readonly start: number; readonly end: number }): boolean {
  return text.slice(0, start).trim() === "" && text.slice(end).trim() === "";
}

function at(value: Json, path: readonly PropertyKey[]): Json | undefined {
  let place: Json | undefined = value;
  for (const key of path) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Readonly<Record<PropertyKey, Json>>)[key];
  }
  return place;
}

function replaced(value: Json, path: readonly PropertyKey[], inner: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return inner;
  if (Array.isArray(value)) return value.with(Number(key), replaced(value[Number(key)] as Json, rest, inner)) as Json;
  const object = value as JsonObject;
  return { ...object, [String(key)]: replaced(object[String(key)] ?? null, rest, inner) };
}

/** Larger schemas, references followed, are not checked: a few lines may stand for more alternatives than could be tried. */
const MAX_WEIGHT = 5_000;

/**
 * A check of arguments by a JSON Schema of any origin; undefined for a schema that is too large, refers to itself, or is not understood:
 * its owner checks the arguments too. Its regular expressions are left out.
 */
function checkOf(schema: JsonObject): z.ZodType | undefined {
  try {
    if (weightOf(schema, { root: schema, under: new Set(), known: new Map() }) > MAX_WEIGHT) return undefined;
    const made = z.fromJSONSchema(harmless(schema) as Parameters<typeof z.fromJSONSchema>[0]);
    made.safeParse({});
    return made;
  } catch {
    return undefined;
  }
}

interface Weighing {
  readonly root: JsonObject;
  /** References that are being followed. */
  readonly under: Set<string>;
  readonly known: Map<string, number>;
}

/** The number of nodes of a schema, references followed; Infinity when that never ends. */
function weightOf(value: Json, weighing: Weighing): number {
  if (typeof value !== "object" || value === null) return 0;
  const ref = (value as JsonObject)["$ref"];
  const own = typeof ref === "string" ? weightOfRef(ref, weighing) : 0;
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + (DEFINITIONS.has(name) ? 0 : weightOf(member as Json, weighing)),
    1 + own,
  );
}

const DEFINITIONS = new Set(["$defs", "definitions"]);

function weightOfRef(ref: string, weighing: Weighing): number {
  const known = weighing.known.get(ref);
  if (known !== undefined) return known;
  const [, place = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const defs = weighing.root[place];
  const target = isObject(defs) && Object.hasOwn(defs, name) ? (defs as JsonObject)[name] : undefined;
  if (target === undefined || weighing.under.has(ref)) return Infinity;
  weighing.under.add(ref);
  const weight = weightOf(target, weighing);
  weighing.under.delete(ref);
  weighing.known.set(ref, weight);
  return weight;
}

function harmless(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(harmless);
  const members = Object.entries(value as JsonObject).filter(([name, member]) => !isPattern(name, member));
  return Object.fromEntries(members.map(([name, member]) => [name, harmless(member)]));
}

/** True for a member that would run as a regular expression on a model's words. A property of such a name has a schema as its value. */
function isPattern(name: string, member: Json): boolean {
  return ((name === "pattern" || name === "format") && typeof member === "string") || name === "patternProperties";
}
