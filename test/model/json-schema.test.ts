import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { UsageError } from "../../src/kernel/errors.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { outputSchema } from "../../src/model/json-schema.ts";
import { mended } from "../../src/model/schema-fit.ts";
import { OpenAIBodySchema } from "../../src/testing/stub-reply.ts";

/** Returns whether OpenAI's server would take the schema, by the rules the stub checks. */
function acceptedAsStrict(schema: JsonObject | undefined): string {
  const body = {
    model: "m",
    messages: [{ role: "user", content: "x" }],
    response_format: { type: "json_schema", json_schema: { name: "reply", strict: true, schema } },
  };
  const parsed = OpenAIBodySchema.safeParse(body);
  return parsed.success ? "accepted" : z.prettifyError(parsed.error);
}

const File = z.object({ path: z.string().min(1), text: z.string().optional(), mode: z.enum(["r", "w"]).optional() });
interface Tree {
  name: string;
  kids?: Tree[] | undefined;
}
const Tree: z.ZodType<Tree> = z.object({
  name: z.string(),
  get kids() {
    return z.array(Tree).optional();
  },
});

const strictable: [string, z.ZodType][] = [
  ["an object", z.object({ a: z.string(), b: z.number(), c: z.boolean(), d: z.null() })],
  ["an empty object", z.object({})],
  [
    "optional, nullable and defaulted members",
    z.object({ a: z.string().optional(), b: z.string().nullable(), c: z.string().nullish(), d: z.number().default(3) }),
  ],
  [
    "nested objects and arrays",
    z.object({ files: z.array(File), meta: z.object({ tags: z.array(z.string()).max(5).optional() }).optional() }),
  ],
  [
    "formats and bounds",
    z.object({ mail: z.email(), age: z.int().min(0).max(150), when: z.iso.datetime(), name: z.string().min(1).max(9).regex(/^x/) }),
  ],
  ["enums and literals", z.object({ kind: z.enum(["a", "b"]), one: z.literal(1), maybe: z.enum(["x"]).nullable().optional() })],
  [
    "literals of several types, and null among them",
    z.object({ any: z.literal([1, "a", null]), b: z.union([z.string(), z.number(), z.null()]) }),
  ],
  [
    "a union of objects",
    z.object({ shape: z.union([z.object({ r: z.number() }), z.object({ w: z.number(), h: z.number().optional() })]) }),
  ],
  [
    "a discriminated union",
    z.object({
      e: z.discriminatedUnion("t", [z.object({ t: z.literal("a"), x: z.string().optional() }), z.object({ t: z.literal("b") })]),
    }),
  ],
  ["a recursive object", Tree],
  ["a recursive object inside another", z.object({ root: Tree, other: Tree.optional() })],
  ["an array at the root", z.array(File)],
  ["a recursive array at the root", z.array(Tree)],
  ["a string at the root", z.string()],
  ["a union at the root", z.union([z.object({ a: z.string() }), z.object({ b: z.number() })])],
  ["strict and loose objects", z.object({ s: z.strictObject({ a: z.string() }), l: z.looseObject({ b: z.string() }) })],
  ["descriptions", z.object({ a: z.string().describe("the a"), b: File.describe("the file").optional() })],
  ["an intersection of objects", z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))],
];

describe("outputSchema", () => {
  it.each(strictable)("%s becomes a strict schema that OpenAI takes", (_what, schema) => {
    expect(acceptedAsStrict(outputSchema(schema).strict)).toBe("accepted");
  });

  it.each<[string, z.ZodType]>([
    ["a record", z.object({ env: z.record(z.string(), z.string()) })],
    ["a record at the root", z.record(z.string(), z.number())],
    ["anything", z.object({ data: z.unknown() })],
    ["any JSON", z.object({ data: z.json() })],
    ["a tuple", z.object({ pair: z.tuple([z.string(), z.number()]) })],
    ["an object with a catchall", z.object({ a: z.string() }).catchall(z.number())],
  ])("%s cannot be enforced, but still be told", (_what, schema) => {
    const output = outputSchema(schema);
    expect(output.strict).toBeUndefined();
    expect(output.json["type"]).toBe("object");
  });

  it.each<[string, z.ZodType]>([
    ["dates", z.object({ at: z.date() })],
    ["bigints", z.object({ n: z.bigint() })],
    ["maps", z.object({ m: z.map(z.string(), z.string()) })],
    ["classes", z.object({ u: z.instanceof(URL) })],
  ])("%s are refused with what to use instead", (_what, schema) => {
    expect(() => outputSchema(schema)).toThrow(UsageError);
    expect(() => outputSchema(schema)).toThrow(/z\.iso\.datetime/);
  });

  it("a rule that the wire format cannot express goes into the description", () => {
    const { strict } = outputSchema(z.object({ mail: z.email().describe("where to write"), n: z.int(), s: z.string().min(3) }));
    expect(strict?.["properties"]).toEqual({
      mail: { type: "string", description: "where to write (format: email)" },
      n: { type: "integer" },
      s: { type: "string", description: "(minLength: 3)" },
    });
  });

  it("wraps what is no object, and moves recursion with it", () => {
    const list = outputSchema(z.array(z.string()));
    expect(list.wrapped).toBe(true);
    expect(list.json).toMatchObject({ type: "object", required: ["value"], properties: { value: { type: "array" } } });
    expect(outputSchema(z.object({})).wrapped).toBe(false);
  });

  it("is made once for each schema", () => {
    expect(outputSchema(File)).toBe(outputSchema(File));
  });
});

describe("nulls that mean left out", () => {
  const read = (schema: z.ZodType, value: Json): Json => mended(value, outputSchema(schema).json, { fillers: true });

  it("null is absent where the field is optional and not nullable", () => {
    const schema = z.object({
      a: z.string().optional(),
      b: z.string().nullable(),
      c: z.string().nullish(),
      d: z.string().default("x"),
      e: z.string(),
    });
    expect(read(schema, { a: null, b: null, c: null, d: null, e: null })).toEqual({ b: null, c: null, e: null });
  });

  it("also deep in objects, arrays and records", () => {
    const schema = z.object({ files: z.array(File), by: z.record(z.string(), File).optional(), tuple: z.tuple([File]).optional() });
    const file = { path: "p", text: null, mode: null };
    expect(read(schema, { files: [file, file], by: { x: file }, tuple: [file] })).toEqual({
      files: [{ path: "p" }, { path: "p" }],
      by: { x: { path: "p" } },
      tuple: [{ path: "p" }],
    });
  });

  it("a null item of an array stays", () => {
    expect(read(z.array(z.string().nullable()), { value: ["a", null] })).toEqual({ value: ["a", null] });
  });

  it("unions are read by the branch that is meant", () => {
    const schema = z.object({
      e: z.discriminatedUnion("t", [
        z.object({ t: z.literal("a"), x: z.string().optional() }),
        z.object({ t: z.literal("b"), x: z.string().nullable() }),
      ]),
    });
    expect(read(schema, { e: { t: "a", x: null } })).toEqual({ e: { t: "a" } });
    expect(read(schema, { e: { t: "b", x: null } })).toEqual({ e: { t: "b", x: null } });
  });

  it("unions inside unions, and members that only one branch has", () => {
    const inner = z.union([
      z.object({ k: z.literal(1), o: z.number().optional() }),
      z.object({ k: z.literal(2), p: z.number().optional() }),
    ]);
    const schema = z.object({ list: z.array(z.union([inner, z.string()])) });
    expect(read(schema, { list: [{ k: 1, o: null }, { k: 2, p: null }, "s"] })).toEqual({ list: [{ k: 1 }, { k: 2 }, "s"] });
  });

  it("recursive schemas to any depth", () => {
    expect(
      read(Tree, {
        name: "a",
        kids: [
          { name: "b", kids: null },
          { name: "c", kids: [{ name: "d", kids: null }] },
        ],
      }),
    ).toEqual({
      name: "a",
      kids: [{ name: "b" }, { name: "c", kids: [{ name: "d" }] }],
    });
  });

  it("members the schema does not know stay as they are, and so does a wrong reply", () => {
    expect(read(File, { path: "p", other: null, text: null })).toEqual({ path: "p", other: null });
    expect(read(File, { text: null })).toEqual({});
    for (const wrong of [null, "text", 3, [1], [[null]]]) expect(read(File, wrong)).toEqual(wrong);
  });

  it("property: what the wire fills up with nulls is read back as it was", () => {
    const values = fc.record(
      {
        name: fc.string(),
        note: fc.string(),
        tags: fc.array(fc.record({ id: fc.integer(), label: fc.string() }, { requiredKeys: ["id"] })),
        either: fc.oneof(
          fc.record({ t: fc.constant("a" as const), x: fc.string() }, { requiredKeys: ["t"] }),
          fc.record({ t: fc.constant("b" as const), y: fc.option(fc.integer()) }, { requiredKeys: ["t", "y"] }),
        ),
      },
      { requiredKeys: ["name"] },
    );
    const schema = z.object({
      name: z.string(),
      note: z.string().optional(),
      tags: z.array(z.object({ id: z.number(), label: z.string().optional() })).optional(),
      either: z
        .union([z.object({ t: z.literal("a"), x: z.string().optional() }), z.object({ t: z.literal("b"), y: z.number().nullable() })])
        .optional(),
    });
    const filled = (value: Json, members: readonly string[]): Json =>
      ({ ...Object.fromEntries(members.map((member) => [member, null])), ...(value as JsonObject) }) as Json;
    fc.assert(
      fc.property(values, (value) => {
        const tags = value.tags?.map((tag) => filled(tag as Json, ["label"])) ?? null;
        const either = value.either === undefined ? null : value.either.t === "a" ? filled(value.either as Json, ["x"]) : value.either;
        const wire = filled({ ...value, tags, either } as Json, ["note"]);
        expect(schema.parse(read(schema, wire))).toEqual(value);
      }),
    );
  });
});
