import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { outputSchema } from "../../src/model/json-schema.ts";
import { type AnySchema, type ValueOf, zodOf } from "../../src/model/standard-schema.ts";

const Valibot = toStandardJsonSchema(v.object({ title: v.string(), pages: v.optional(v.number()) }));
const Ark = type({ title: "string", "pages?": "number" });
const Mini = mini.object({ title: mini.string(), pages: mini.optional(mini.number()) });
const Zod = z.object({ title: z.string(), pages: z.number().optional() });

const schemas: readonly [string, AnySchema][] = [
  ["valibot", Valibot],
  ["arktype", Ark],
  ["zod/mini", Mini],
  ["zod", Zod],
];

describe.each(schemas)("a schema of %s", (_vendor, schema) => {
  const used = zodOf(schema) as z.ZodType;

  it("has the JSON Schema that its library makes, and a strict form with nullable members", () => {
    const { json, strict } = outputSchema(used);
    expect(json).toMatchObject({
      type: "object",
      properties: { title: { type: "string" }, pages: { type: "number" } },
      required: ["title"],
    });
    expect(strict).toMatchObject({ required: ["title", "pages"], additionalProperties: false });
  });

  it("checks values, and reports what is wrong by its path", () => {
    expect(used.safeParse({ title: "Sea", pages: 3 })).toMatchObject({ success: true, data: { title: "Sea", pages: 3 } });
    const { error } = used.safeParse({ title: 5 });
    expect(error?.issues.map(({ path }) => path)).toEqual([["title"]]);
  });
});

it("types a value by its schema", () => {
  expectTypeOf<ValueOf<typeof Zod>>().toEqualTypeOf<{ title: string; pages?: number | undefined }>();
  expectTypeOf<ValueOf<typeof Mini>>().toEqualTypeOf<{ title: string; pages?: number | undefined }>();
  expectTypeOf<ValueOf<typeof Ark>>().toEqualTypeOf<{ title: string; pages?: number }>();
  expectTypeOf<ValueOf<typeof Valibot>>().toEqualTypeOf<{ title: string; pages?: number | undefined }>();
});

describe("zodOf", () => {
  const refused =
    (schema: unknown): (() => unknown) =>
    () =>
      zodOf(schema);

  it("refuses a schema without JSON Schema, and says what to do", () => {
    const error = expect.objectContaining({
      code: "SCHEMA_UNSUPPORTED",
      message: expect.stringContaining("toStandardJsonSchema") as string,
    });
    expect(refused(v.object({}))).toThrow(error as unknown as Error);
  });

  it("refuses a schema of types that JSON has not", () => {
    expect(refused(toStandardJsonSchema(v.date()))).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }) as Error);
  });

  it("refuses a schema that waits, when it checks", () => {
    const waiting = toStandardJsonSchema(v.string());
    const late = { "~standard": { ...waiting["~standard"], validate: () => Promise.resolve({ value: "x" }) } };
    const used = zodOf(late) as z.ZodType;
    expect(() => used.safeParse("x")).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }) as Error);
  });
});
