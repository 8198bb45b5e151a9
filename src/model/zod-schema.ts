import { isObject } from "../kernel/value-kind.ts";
import { z } from "zod";
import { valueText } from "../kernel/value-text.ts";

/** What is wrong with a value that should be a schema, and what to do about it. */
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

/** Whether a value is a schema of zod 3, which JSON Schema, prompts and types here cannot be made of. */
export function isZod3(value: unknown): boolean {
  return isSchema(value) && !("_zod" in value) && "_def" in value;
}

/** Why a value is no schema of zod 4, if it is none. */
export function versionFault(value: unknown): SchemaFault | undefined {
  const expected = "a schema of zod 4";
  if (isZod3(value)) return { expected, got: "one of zod 3", todo: 'Install zod 4 (npm install zod@4) and import { z } from "zod".' };
  if (isSchema(value) && "_zod" in value) return undefined;
  return { expected, got: valueText(value), todo: "Write z.object({ ... })." };
}

/**
 * Why a schema cannot say what is recorded and handed on, if it cannot: what it gives is typed as a Date or a Map, but comes back from the
 * record as something else. What a transform makes is not known before it runs.
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
