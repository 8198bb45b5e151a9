import type { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import { outputSchema } from "../model/json-schema.ts";
import { mended } from "../model/schema-fit.ts";
import { issuesOf, type OutputIssue, pathText } from "../model/structured-output.ts";
import { schemaFaults } from "./answer-faults.ts";

export type CheckedArguments<P> = { readonly ok: true; readonly args: P } | { readonly ok: false; readonly issues: readonly OutputIssue[] };

export interface ToolParameters {
  readonly json: JsonObject;
  readonly check: (args: JsonObject) => CheckedArguments<unknown>;
}

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

/** Checks arguments unchanged; then without nulls that mean "left out"; then coerced by the schema. */
function checked(args: JsonObject, json: JsonObject, read: (value: Json) => CheckedArguments<unknown>): CheckedArguments<unknown> {
  let faults: CheckedArguments<unknown> | undefined;
  for (const types of [undefined, false, true]) {
    const value = types === undefined ? args : (mended(args, json, { fillers: true, types }) as JsonObject);
    const strange = strangers(value, json);
    const result: CheckedArguments<unknown> = strange.length > 0 ? { ok: false, issues: strange } : read(value);
    if (result.ok) return result;
    if (types !== true) faults = result;
  }
  return faults ?? read(args);
}

function readByZod(schema: z.ZodType, value: Json): CheckedArguments<unknown> {
  try {
    const { success, data, error } = schema.safeParse(value);
    return success ? { ok: true, args: data } : { ok: false, issues: issuesOf(error.issues, value) };
  } catch (error) {
    return { ok: false, issues: [{ path: "", message: `could not be checked: ${thrownText(error)}` }] };
  }
}

function readByJsonSchema(schema: JsonObject, value: Json): CheckedArguments<unknown> {
  const faults = schemaFaults(value, schema, { isOpen: true }) ?? [];
  if (faults.length === 0) return { ok: true, args: value };
  return { ok: false, issues: faults.map(({ path, text }) => ({ path: pathText(path), message: text })) };
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
