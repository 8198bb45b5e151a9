import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { type Json, type JsonObject, unchanging } from "../kernel/json.ts";
import { lazily } from "../kernel/lazily.ts";
import { isList, isObject, isRecord } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { acceptsNull } from "./schema-fit.ts";
import { branchesOf, constantsOf, nodesIn, propertiesOf, stringsOf, typesOf } from "./schema-node.ts";

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
 * The JSON Schema of the values that a zod schema takes: its root may be of any type. Frozen.
 *
 * @throws UsageError as {@link outputSchema}
 */
export function inputJsonSchema(schema: z.ZodType): JsonObject {
  outputSchema(schema);
  const known = plainCache.get(schema) ?? unchanging(jsonSchemaOf(schema));
  plainCache.set(schema, known);
  return known;
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
  const plain = jsonSchemaOf(schema);
  const wrapped = plain["type"] !== "object";
  const json = unchanging(wrapped ? wrap(plain) : plain);
  // Tools do not use the strict form.
  const strict = lazily(() => strictSchema(json));
  const made: OutputSchema = {
    json,
    get strict() {
      return strict();
    },
    wrapped,
  };
  cache.set(schema, made);
  return made;
}

function jsonSchemaOf(schema: z.ZodType): JsonObject {
  try {
    // Plain JSON in the order written: models fill members in that order, so reasons can come before conclusions.
    const { $schema: _dialect, ...plain } = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input" }))) as JsonObject;
    return plain;
  } catch (error) {
    throw new UsageError(
      "SCHEMA_UNSUPPORTED",
      `Expected an output schema made of JSON types, got one that is not: ${error instanceof Error ? error.message : String(error)}. Use strings for dates (z.iso.datetime()) and plain objects for maps.`,
      { cause: error },
    );
  }
}

/** Providers take only objects at the root. References to the old root follow it to where it moves. */
function wrap({ $defs = {}, ...value }: JsonObject): JsonObject {
  const isRecursive = JSON.stringify([value, $defs]).includes('"$ref":"#"');
  const defs = isRecursive ? moveRoot({ ...($defs as JsonObject), root: value }) : ($defs as JsonObject);
  const properties = { value: isRecursive ? { $ref: "#/$defs/root" } : value };
  const body: JsonObject = { type: "object", properties, required: ["value"], additionalProperties: false };
  return Object.keys(defs).length === 0 ? body : { ...body, $defs: defs };
}

function moveRoot(node: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(node).replaceAll('"$ref":"#"', '"$ref":"#/$defs/root"')) as JsonObject;
}

class NotStrict extends Error {}

/**
 * Returns the schema in the subset that providers enforce: every property required, optional ones nullable, no other properties, no keywords
 * beyond structure. What is dropped (formats, lengths, ranges) goes into the description and is checked when the reply is read.
 */
export function strictSchema({ $defs, ...body }: JsonObject): JsonObject | undefined {
  try {
    const strict = strictNode(body);
    return $defs === undefined ? strict : { ...strict, $defs: strictMembers($defs as JsonObject) };
  } catch (error) {
    if (error instanceof NotStrict) return undefined;
    throw error;
  }
}

function strictMembers(nodes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, strictNode(node as JsonObject)]));
}

function strictNode(node: JsonObject): JsonObject {
  const { $ref: ref, allOf: all, ...rest } = node;
  if (typeof ref === "string") return { $ref: ref };
  if (isList(all)) {
    if (all.length !== 1) throw new NotStrict("allOf");
    return strictNode({ ...rest, ...(all[0] as JsonObject) });
  }
  const description = describe(node);
  const branches = nodesIn(branchesOf(node)) as JsonObject[];
  if (branches.length > 0) return { anyOf: branches.map(strictNode), ...description };
  if (node["type"] === "object") return { ...strictObject(node), ...description };
  if (node["type"] === "array") return { ...strictArray(node), ...description };
  return { ...strictScalar(node), ...description };
}

const SCALARS: readonly string[] = ["string", "number", "integer", "boolean", "null"];

function strictScalar(node: JsonObject): JsonObject {
  const constants = constantsOf(node) as readonly Json[] | undefined;
  const types = node["type"] === undefined ? [...new Set(constants?.map(typeName))] : typesOf(node);
  if (types.length === 0 || !types.every((type) => SCALARS.includes(type))) throw new NotStrict("no scalar");
  return { type: types.length === 1 ? (types[0] ?? null) : types, ...(constants === undefined ? {} : { enum: constants }) };
}

function strictObject(node: JsonObject): JsonObject {
  const { additionalProperties: extra, properties, propertyNames, patternProperties } = node;
  const isOpen = isRecord(extra) && Object.keys(extra).length > 0;
  const isRecordType = extra !== undefined && extra !== false && properties === undefined;
  if (propertyNames !== undefined || patternProperties !== undefined || isOpen || isRecordType) throw new NotStrict("a record");
  const required = stringsOf(node["required"]);
  const strict = Object.entries(strictMembers(propertiesOf(node) as JsonObject)).map(([name, inner]) => [
    name,
    required.includes(name) || acceptsNull(inner as JsonObject) ? inner : { anyOf: [inner, { type: "null" }] },
  ]);
  const names = strict.map(([name]) => name as string);
  return { type: "object", properties: Object.fromEntries(strict) as JsonObject, required: names, additionalProperties: false };
}

function strictArray({ items, prefixItems }: JsonObject): JsonObject {
  if (prefixItems !== undefined || !isRecord(items)) throw new NotStrict("a tuple");
  return { type: "array", items: strictNode(items as JsonObject) };
}

const STRUCTURAL = new Set(
  "type properties required additionalProperties items anyOf oneOf allOf enum const description $ref $defs default title examples prefixItems".split(
    " ",
  ),
);

/** Returns the description with the keywords that strict mode drops: `(format: email, minLength: 3)`. zod's safe-integer bounds are left out. */
function describe(node: JsonObject): { readonly description?: string } {
  const rules = Object.entries(node).flatMap(([key, value]) => {
    if (STRUCTURAL.has(key) || (key === "pattern" && node["format"] !== undefined)) return [];
    if (typeof value === "number") return Math.abs(value) === Number.MAX_SAFE_INTEGER ? [] : [`${key}: ${value}`];
    return typeof value === "string" ? [`${key}: ${value}`] : [];
  });
  const given = typeof node["description"] === "string" ? node["description"] : "";
  const description = [given, rules.length === 0 ? "" : `(${rules.join(", ")})`].filter((part) => part !== "").join(" ");
  return description === "" ? {} : { description };
}

function typeName(value: Json): string {
  return value === null ? "null" : typeof value;
}

export interface SchemaFault {
  readonly expected: string;
  readonly got: string;
  readonly todo: string;
}

/** Types that a JSON round trip does not give back, and what to write instead. */
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

function versionFault(value: unknown): SchemaFault | undefined {
  const expected = "a schema of zod 4";
  if (isZod3(value)) return { expected, got: "one of zod 3", todo: 'Install zod 4 (npm install zod@4) and import { z } from "zod".' };
  if (isSchema(value) && "_zod" in value) return undefined;
  return { expected, got: valueText(value), todo: "Write z.object({ ... })." };
}

/**
 * Returns the reason why a schema cannot describe recorded values: its result is typed as a Date or a Map, but comes back from the record as
 * something else. The result of a transform is not known before it runs.
 */
export function valueFault(value: unknown): SchemaFault | undefined {
  const fault = versionFault(value);
  if (fault !== undefined) return fault;
  const schema = value as z.ZodType;
  const found = known.get(schema) ?? typeFault(schema) ?? "none";
  known.set(schema, found);
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
