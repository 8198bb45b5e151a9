import { isList, isRecord, isObject } from "../kernel/value-kind.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { type Json, type JsonObject, unchanging } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import { acceptsNull, asNode, childNodes, constantsOf, type Node, stringsOf } from "./schema-fit.ts";

/** The required form of a reply: for prompts and addresses, for the wire, and for reading back. */
export interface OutputSchema {
  /** The JSON Schema that zod makes, frozen. Its root is an object: other values are its member `value`. */
  readonly json: JsonObject;
  /** The same for providers that enforce schemas; undefined for schemas that they cannot enforce, such as those with records. */
  readonly strict: JsonObject | undefined;
  /** True when the requested value is the member `value`. */
  readonly wrapped: boolean;
}

const cache = new WeakMap<z.ZodType, OutputSchema>();
const plainCache = new WeakMap<z.ZodType, JsonObject>();

/**
 * The JSON Schema of the values that a zod schema takes, as it is: its root may be of any type. Frozen.
 *
 * @throws UsageError as {@link outputSchema}
 */
export function inputJsonSchema(schema: z.ZodType): JsonObject {
  outputSchema(schema);
  const known = plainCache.get(schema);
  if (known !== undefined) return known;
  const { $schema: _dialect, ...plain } = toldBy(schema);
  plainCache.set(schema, unchanging(plain));
  return plain;
}

/**
 * The JSON Schemas of a zod schema.
 *
 * @throws UsageError `SCHEMA_UNSUPPORTED` for types that JSON cannot carry: dates, maps, bigints, functions, custom classes; and for values
 * that are no schema of zod 4.
 */
export function outputSchema(schema: z.ZodType): OutputSchema {
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const fault = versionFault(schema);
  if (fault !== undefined) throw new UsageError("SCHEMA_UNSUPPORTED", `Expected ${fault.expected}, got ${fault.got}. ${fault.todo}`);
  const made = makeOutputSchema(schema);
  cache.set(schema, made);
  return made;
}

function makeOutputSchema(schema: z.ZodType): OutputSchema {
  const { $schema: _dialect, ...plain } = toldBy(schema);
  const wrapped = plain["type"] !== "object";
  const json = unchanging(wrapped ? wrap(plain) : plain);
  let strict: { readonly schema: Node | undefined } | undefined;
  return {
    json,
    // Tools do not use it.
    get strict(): Node | undefined {
      strict ??= { schema: strictSchema(json) };
      return strict.schema;
    },
    wrapped,
  };
}

function toldBy(schema: z.ZodType): Node {
  try {
    // Plain JSON in the order written: models fill members in that order, so reasons can come before conclusions.
    return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input" }))) as Node;
  } catch (error) {
    throw new UsageError(
      "SCHEMA_UNSUPPORTED",
      `Expected an output schema made of JSON types, got one that is not: ${error instanceof Error ? error.message : String(error)}. Use strings for dates (z.iso.datetime()) and plain objects for maps.`,
      { cause: error },
    );
  }
}

/** Providers take only objects at the root. References to the old root follow it to where it moves. */
function wrap(root: Node): Node {
  const { $defs, ...value } = root;
  const recursive = JSON.stringify(value).includes('"$ref":"#"') || JSON.stringify($defs ?? {}).includes('"$ref":"#"');
  const moved = recursive ? { $ref: "#/$defs/root" } : value;
  const defs = { ...asNode($defs ?? {}), ...(recursive ? { root: moveRoot(value) } : {}) };
  const body = { type: "object", properties: { value: moved }, required: ["value"], additionalProperties: false };
  return Object.keys(defs).length === 0 ? body : { ...body, $defs: recursive ? moveRoot(defs) : defs };
}

function moveRoot<T extends Json>(node: T): T {
  return JSON.parse(JSON.stringify(node).replaceAll('"$ref":"#"', '"$ref":"#/$defs/root"')) as T;
}

/** Thrown inside {@link strictSchema} alone: strict mode has no form for the schema. */
class NotStrict extends Error {}

/**
 * Returns the schema in the subset that providers enforce: every property required, optional ones nullable, no other properties, no keywords
 * beyond structure. What is dropped (formats, lengths, ranges) goes into the description and is checked when the reply is read.
 */
export function strictSchema(root: Node): Node | undefined {
  try {
    const { $defs, ...body } = root;
    const strict = strictNode(body);
    if ($defs === undefined) return strict;
    return { ...strict, $defs: Object.fromEntries(Object.entries(asNode($defs)).map(([name, def]) => [name, strictNode(asNode(def))])) };
  } catch (error) {
    if (error instanceof NotStrict) return undefined;
    throw error;
  }
}

function strictNode(node: Node): Node {
  const said = describe(node);
  const ref = node["$ref"];
  if (typeof ref === "string") return { $ref: ref };
  const { allOf: all, ...rest } = node;
  if (isList(all) && all.length === 1) return strictNode({ ...rest, ...asNode(all[0] ?? {}) });
  if (isList(all)) throw new NotStrict("allOf");
  const any = node["anyOf"] ?? node["oneOf"];
  if (isList(any)) return { anyOf: childNodes(any).map(strictNode), ...said };
  if (node["type"] === "object") return { ...strictObject(node), ...said };
  if (node["type"] === "array") return { ...strictArray(node), ...said };
  return { ...strictScalar(node), ...said };
}

const SCALARS: readonly Json[] = ["string", "number", "integer", "boolean", "null"];

function strictScalar(node: Node): Node {
  const constants = constantsOf(node);
  const told = isList(node["type"]) ? node["type"] : [node["type"] ?? null];
  const types = node["type"] === undefined && constants !== undefined ? [...new Set(constants.map(typeName))] : told;
  if (types.length === 0 || !types.every((type) => SCALARS.includes(type))) throw new NotStrict("no scalar");
  return { type: types.length === 1 ? (types[0] ?? null) : types, ...(constants === undefined ? {} : { enum: constants }) };
}

function strictObject(node: Node): Node {
  const extra = node["additionalProperties"];
  const properties = asNode(node["properties"] ?? {});
  const isDictionary = node["propertyNames"] !== undefined || node["patternProperties"] !== undefined;
  const isOpen = typeof extra === "object" && extra !== null && Object.keys(extra).length > 0;
  if (isDictionary || isOpen || (extra !== undefined && extra !== false && node["properties"] === undefined))
    throw new NotStrict("a record");
  const required = new Set(stringsOf(node["required"]));
  const strict = Object.entries(properties).map(([name, property]) => {
    const inner = strictNode(asNode(property));
    return [name, required.has(name) || acceptsNull(inner) ? inner : { anyOf: [inner, { type: "null" }] }];
  });
  return { type: "object", properties: Object.fromEntries(strict) as Node, required: Object.keys(properties), additionalProperties: false };
}

function strictArray(node: Node): Node {
  const items = node["items"];
  if (node["prefixItems"] !== undefined || !isRecord(items)) throw new NotStrict("a tuple");
  return { type: "array", items: strictNode(asNode(items)) };
}

/** Keywords of structure, which strict mode keeps. */
const STRUCTURAL = new Set(
  "type properties required additionalProperties items anyOf oneOf allOf enum const description $ref $defs default title examples prefixItems".split(
    " ",
  ),
);

/** Returns the description with the keywords that strict mode drops: `(format: email, minLength: 3)`. zod's safe-integer bounds are left out. */
function describe(node: Node): { readonly description?: string } {
  const rules = Object.entries(node).flatMap(([key, value]) => {
    if (STRUCTURAL.has(key) || (key === "pattern" && node["format"] !== undefined)) return [];
    if (typeof value === "number") return Math.abs(value) === Number.MAX_SAFE_INTEGER ? [] : [`${key}: ${value}`];
    return typeof value === "string" ? [`${key}: ${value}`] : [];
  });
  const told = typeof node["description"] === "string" ? node["description"] : "";
  const description = [told, rules.length === 0 ? "" : `(${rules.join(", ")})`].filter((part) => part !== "").join(" ");
  return description === "" ? {} : { description };
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return typeof value === "object" ? "object" : typeof value;
}

/** The fault of a value that should be a schema, and the remedy. */
export interface SchemaFault {
  readonly expected: string;
  readonly got: string;
  readonly todo: string;
}

/** Types of values that a JSON round trip does not give back, and what to say instead. */
const NOT_JSON: Readonly<Record<string, string>> = {
  date: "Write z.iso.datetime() and make a Date of the text where you need one.",
  bigint: "Write z.string() or z.int().",
  map: "Write z.record(z.string(), ...).",
  set: "Write z.array(...).",
  symbol: "Write z.string().",
  function: "Leave it out.",
  promise: "Leave it out.",
  file: "Write the path as z.string().",
};

const known = new WeakMap<z.ZodType, SchemaFault | "none">();

/** True when a value is a schema of zod 3, which JSON Schema, prompts and types here cannot be made of. */
export function isZod3(value: unknown): boolean {
  return isSchema(value) && !("_zod" in value) && "_def" in value;
}

/** Returns the reason why a value is no schema of zod 4; undefined for one. */
function versionFault(value: unknown): SchemaFault | undefined {
  const expected = "a schema of zod 4";
  if (isZod3(value)) return { expected, got: "one of zod 3", todo: 'Install zod 4 (npm install zod@4) and import { z } from "zod".' };
  if (isSchema(value) && "_zod" in value) return undefined;
  return { expected, got: valueText(value), todo: "Write z.object({ ... })." };
}

/**
 * Returns the reason why a schema cannot describe recorded values: its result is typed as a Date or a Map, but comes back from the record as
 * something else. Undefined where it can; the result of a transform is not known before it runs.
 */
export function valueFault(value: unknown): SchemaFault | undefined {
  const fault = versionFault(value);
  if (fault !== undefined) return fault;
  const schema = value as z.ZodType;
  let found = known.get(schema);
  if (found === undefined) {
    found = typeFault(schema) ?? "none";
    known.set(schema, found);
  }
  return found === "none" ? undefined : found;
}

function typeFault(schema: z.ZodType): SchemaFault | undefined {
  let found: string | undefined;
  z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    override: ({ zodSchema }) => {
      const { type } = zodSchema._zod.def;
      if (Object.hasOwn(NOT_JSON, type)) found ??= type;
    },
  });
  if (found === undefined) return undefined;
  return { expected: "a schema of values that JSON can carry", got: `one with z.${found}()`, todo: NOT_JSON[found] ?? "" };
}

function isSchema(value: unknown): value is object {
  try {
    return isObject(value) && typeof (value as { readonly safeParse?: unknown }).safeParse === "function";
  } catch {
    return false;
  }
}
