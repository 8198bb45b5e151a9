import type { AnySchema } from "../model/standard-schema.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { schemaFaults } from "../tool/answer-faults.ts";

/** A schema of values from a JSON Schema of any origin, checked in bounded time. A value that cannot be checked so is at fault. */
export function answerSchema(schema: JsonObject): AnySchema<Json> {
  const { $schema: _dialect, ...json } = schema;
  const validate = (value: unknown): unknown => {
    const faults = schemaFaults(value as Json, json, { isOpen: true });
    if (faults?.length === 0) return { value };
    if (faults !== undefined) return { issues: faults.map(({ text: message, path }) => ({ message, path })) };
    return { issues: [{ message: "Expected a value that can be checked in bounded time; this one is too large or too deep." }] };
  };
  const standard = { version: 1, vendor: "json-schema", validate, jsonSchema: { input: () => json } };
  return { "~standard": standard } as unknown as AnySchema<Json>;
}
