import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { isObject, isThenable } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";

/** A schema of any library that implements Standard Schema with JSON Schema: zod 4, zod/mini, valibot, arktype. See standardschema.dev. */
export interface AnySchema<Output = unknown> {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The type of the values that a schema returns. */
export type ValueOf<S extends AnySchema> = NonNullable<S["~standard"]["types"]>["output"];

/** The type of the values that a schema reads. */
export type InputOf<S extends AnySchema> = NonNullable<S["~standard"]["types"]>["input"];

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const made = new WeakMap<object, z.ZodType>();

/**
 * Returns a schema of zod 4 as it is, and one of another library as a schema of zod that checks by it and describes itself by its JSON
 * Schema. Other values are returned as they are: their user refuses them.
 *
 * @throws UsageError `SCHEMA_UNSUPPORTED` for a schema without JSON Schema
 */
export function zodOf<S>(schema: S): S | z.ZodType {
  if (!isStandard(schema) || "_zod" in schema || "_def" in schema) return schema;
  const known = made.get(schema) ?? converted(schema);
  made.set(schema, known);
  return known;
}

function isStandard(value: unknown): value is AnySchema {
  const isValue = isObject(value) || typeof value === "function";
  return isValue && "~standard" in value && isObject(value["~standard"]) && "validate" in value["~standard"];
}

function converted(schema: AnySchema): z.ZodType {
  const { validate, vendor } = schema["~standard"];
  const json = jsonSchemaOf(schema);
  const checked = z.any().transform((value: unknown, context) => {
    const result = validate(value);
    if (isThenable(result as object))
      throw new UsageError("SCHEMA_UNSUPPORTED", `Expected a schema of ${vendor} that checks at once, got one that waits.`);
    const { issues, value: read } = result as { readonly issues?: readonly Issue[]; readonly value?: unknown };
    if (issues === undefined) return read;
    for (const { message, path = [] } of issues)
      context.addIssue({ code: "custom", message, path: Array.from(path, (key) => (typeof key === "object" ? key.key : key)) });
    return z.NEVER;
  });
  // zod changes what it gets.
  checked._zod.toJSONSchema = () => structuredClone(json);
  return checked;
}

function jsonSchemaOf(schema: AnySchema): JsonObject {
  const { vendor, jsonSchema } = schema["~standard"] as { readonly vendor: string; readonly jsonSchema?: unknown };
  const make: unknown = isObject(jsonSchema) ? (jsonSchema as Readonly<Record<string, unknown>>)["input"] : undefined;
  const todo =
    vendor === "valibot"
      ? "Wrap it: toStandardJsonSchema(schema) of @valibot/to-json-schema."
      : "Use a version that has it, or write the schema with zod.";
  if (typeof make !== "function")
    throw new UsageError(
      "SCHEMA_UNSUPPORTED",
      `Expected a Standard Schema with JSON Schema, got ${valueText(schema)} of ${vendor} without. ${todo}`,
    );
  try {
    const { $schema: _dialect, ...plain } = (make as (o: object) => JsonObject).call(jsonSchema, { target: "draft-2020-12" });
    return plain;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError("SCHEMA_UNSUPPORTED", `Expected a schema of ${vendor} made of JSON types, got one that is not: ${reason}`, {
      cause,
    });
  }
}
