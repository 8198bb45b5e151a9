import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { inputJsonSchema } from "../../src/model/json-schema.ts";
import { fieldsForm } from "../../src/role/human.ts";
import { answerFaults } from "../../src/tool/answer-faults.ts";
import { jsonRoundTrip } from "../../src/kernel/json.ts";
import { fieldFault, filledIn, formFields, readField } from "../../src/tool/form-fields.ts";
import { checkAnswer, faultsText, isQuestionForm, type QuestionForm } from "../../src/tool/question-form.ts";
import { tries } from "../long.ts";

/** Returns the words for a wrong answer, or the value of a right one. */
function told(form: QuestionForm | undefined, answer: unknown): unknown {
  const check = checkAnswer(form, answer);
  return check.isRight ? check.value : faultsText(check.faults);
}

const fields = (schema: JsonObject): QuestionForm => ({ kind: "fields", schema });

const name = fc.constantFrom("a", "b", "city", "n", "x y");
const scalar: fc.Arbitrary<z.ZodType> = fc.oneof(
  fc.tuple(fc.nat(2), fc.integer({ min: 2, max: 5 })).map(([min, max]) => z.string().min(min).max(max)),
  fc.tuple(fc.integer({ min: -2, max: 1 }), fc.integer({ min: 1, max: 3 })).map(([min, max]) => z.int().min(min).max(max)),
  fc.constantFrom(z.number(), z.number().positive(), z.boolean(), z.null(), z.enum(["a", "b"]), z.literal(["a", 1, true])),
);
const { schema: schemas } = fc.letrec<{ schema: z.ZodType }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    scalar,
    tie("schema").map((inner) => inner.nullable()),
    fc.tuple(tie("schema"), fc.nat(2)).map(([inner, max]) => z.array(inner).max(max)),
    fc.tuple(tie("schema"), tie("schema")).map((inner) => z.union(inner)),
    fc.tuple(tie("schema"), tie("schema")).map((inner) => z.tuple(inner)),
    tie("schema").map((inner) => z.record(z.string(), inner)),
    fc
      .dictionary(name, fc.tuple(tie("schema"), fc.boolean()), { maxKeys: 3 })
      .map((shape) =>
        z.strictObject(Object.fromEntries(Object.entries(shape).map(([key, [inner, may]]) => [key, may ? inner.optional() : inner]))),
      ),
  ),
}));
const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>("a", "b", "", "abc", "abcdef", 0, 1, -1, 1.5, 3, true, false, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
}));

/** Schemas, each with a value that fits it. */
const { pair: pairs } = fc.letrec<{ pair: readonly [z.ZodType, Json] }>((tie) => ({
  pair: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<readonly [z.ZodType, Json]>(
      [z.string(), "a"],
      [z.int().min(1), 3],
      [z.boolean().nullable(), null],
      [z.enum(["a", "b"]), "b"],
    ),
    tie("pair").map(([inner, value]) => [z.array(inner), [value, value]] as const),
    fc.dictionary(name, fc.tuple(tie("pair"), fc.boolean(), fc.boolean()), { minKeys: 1, maxKeys: 3 }).map((shape) => {
      const members = Object.entries(shape);
      const schema = z.object(Object.fromEntries(members.map(([key, [[inner], may]]) => [key, may ? inner.optional() : inner])));
      const value = Object.fromEntries(members.flatMap(([key, [[, one], may, isLeftOut]]) => (may && isLeftOut ? [] : [[key, one]])));
      return [schema, value as Json] as const;
    }),
  ),
}));

describe("an answer with fields", () => {
  test("fits its form exactly when it fits its schema", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        expect(answerFaults(value, inputJsonSchema(schema)).length === 0).toBe(schema.safeParse(value).success);
      }),
      { numRuns: tries(200, 10_000) },
    );
  });

  test("is made again of the values of its fields", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(pairs, ([schema, value]) => {
        const filled = formFields(inputJsonSchema(schema)).map((field) => {
          let found: unknown = value;
          for (const key of field.path) found = (found as Readonly<Record<string, unknown>>)[key];
          return [field, found as Json | undefined] as const;
        });
        for (const [field, one] of filled) if (one !== undefined) expect(fieldFault(field, one)).toBeUndefined();
        expect(filledIn(filled)).toEqual(value);
      }),
      { numRuns: tries(300, 10_000) },
    );
  });

  test("lists fields in the given order, and the others after them", () => {
    const schema = z.object({ when: z.string(), note: z.string().optional(), city: z.string(), days: z.int().default(1), by: z.string() });
    const recorded = jsonRoundTrip(inputJsonSchema(schema));
    const form = fieldsForm(schema);
    const order = form.kind === "fields" ? form.order : [];
    expect(formFields(recorded, order).map((field) => field.name)).toEqual(["when", "note", "city", "days", "by"]);
    expect(formFields(recorded, ["none", "when"]).map((field) => field.name)).toEqual(["when", "by", "city", "days", "note"]);
  });

  test("has the order of its schema, however the record sorts names", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(pairs, ([schema]) => {
        const form = fieldsForm(schema);
        if (form.kind !== "fields") return;
        const sorted = { ...form, schema: jsonRoundTrip(form.schema) };
        expect(isQuestionForm(sorted)).toBe(true);
        const written = (node: z.ZodType, path: readonly string[]): readonly string[] => {
          const inner = node instanceof z.ZodObject && path.length < 4 ? Object.entries<z.ZodType>(node.shape) : [];
          if (inner.length === 0) return [path.join(".")];
          return inner.flatMap(([key, member]) => written(member, [...path, key]));
        };
        expect(formFields(sorted.schema, sorted.order).map((field) => field.name)).toEqual(written(schema, []));
      }),
      { numRuns: tries(200, 5_000) },
    );
  });

  const Order = z.object({
    size: z.int().min(1).max(5),
    to: z.object({ city: z.string().min(2), mail: z.email().optional() }),
    when: z.iso.date(),
    pay: z.discriminatedUnion("by", [z.object({ by: z.literal("card"), number: z.string() }), z.object({ by: z.literal("cash") })]),
  });
  const order = { size: 2, to: { city: "Oslo" }, when: "2026-11-23", pay: { by: "cash" } };

  test.each<[Json, unknown]>([
    [order, order],
    [{ ...order, size: "2" }, 'size: Expected a whole number from 1 to 5, got "2".'],
    [{ ...order, size: "" }, "size: Expected a whole number from 1 to 5, got nothing."],
    [{ ...order, to: {} }, "to.city: Expected a text of at least 2 characters, got nothing."],
    [{ ...order, to: { city: "Oslo", mail: "x" } }, 'to.mail: Expected an address such as ada@example.org, got "x".'],
    [{ ...order, when: "tomorrow" }, 'when: Expected a date such as 2026-11-23, got "tomorrow".'],
    [{ ...order, pay: { by: "card" } }, "pay.number: Expected a text, got nothing."],
    [{ ...order, pay: { by: "gold" } }, 'pay: Expected an object with by, number or an object with by, got {"by":"gold"}.'],
    [{ ...order, sise: 2 }, 'sise: Expected only known members, got "sise". Known: size, to, when, pay.'],
    [[order], `Expected an object with size, to, when, pay, got ${JSON.stringify([order])}.`],
  ])("%j", (answer, expected) => {
    expect(told(fieldsForm(Order), answer)).toEqual(expected);
  });

  test.each<[z.ZodType, string, Json]>([
    [z.boolean(), "Yes", true],
    [z.number(), " 3.5 ", 3.5],
    [z.string(), " as it is ", " as it is "],
    [z.string().nullable(), "", null],
    [z.enum(["red", "blue"]), "2", "blue"],
    [z.literal([1, 2]), "2", 2],
    [z.array(z.string()), "one\n\n two", ["one", "two"]],
    [z.array(z.string()), '["one"]', ["one"]],
    [z.object({ a: z.number() }), '{"a": 1}', { a: 1 }],
  ])("a text is read by the form %#", (schema, text, value) => {
    expect(told(fieldsForm(schema), text)).toEqual(value);
  });

  test("a text that is no number stays what it is", () => {
    const [field] = formFields(inputJsonSchema(z.int()));
    if (field === undefined) throw new Error("expected a field");
    expect(["", " ", "1e999", "0x", "NaN", "١"].map((text) => readField(field, text))).toEqual(["", " ", "1e999", "0x", "NaN", "١"]);
  });
});

describe("a hostile form", () => {
  const huge = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`m${n}`, { type: "string" }]));
  const deep = (levels: number): JsonObject =>
    Array.from({ length: levels }).reduce<JsonObject>((inner) => ({ type: "array", items: inner }), { type: "string" });
  const branching: JsonObject = {
    $defs: {
      n: { anyOf: Array.from({ length: 10 }, () => ({ type: "object", properties: { k: { $ref: "#/$defs/n" } }, required: ["k"] })) },
    },
    $ref: "#/$defs/n",
  };
  const nested = Array.from({ length: 30 }).reduce<Json>((inner) => ({ k: inner }), {});

  test.each<[string, JsonObject, Json]>([
    ["that refers to itself", { $ref: "#" }, "x"],
    ["that refers in a circle", { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, "x"],
    ["whose unions branch at each level", branching, nested],
    ["that is deeper than any answer", deep(1_000), Array.from({ length: 200 }).reduce<Json>((inner) => [inner], "x")],
  ])("%s is refused in bounded time", (_what, schema, answer) => {
    expect(told(fields(schema), answer)).toContain("bounded time");
    expect(formFields(schema).length).toBeLessThanOrEqual(100);
  });

  test("of 10,000 fields is one field of JSON, and its faults are few", () => {
    const schema: JsonObject = { type: "object", properties: huge, required: Object.keys(huge) };
    expect(formFields(schema)).toMatchObject([{ kind: "json", path: [] }]);
    const check = checkAnswer(fields(schema), {});
    expect(check).toMatchObject({ isRight: false, faults: { length: 20 } });
  });

  test("runs no pattern: a catastrophic one is told, and the program checks it", () => {
    const schema: JsonObject = { type: "string", pattern: "^(a+)+$", format: "regex" };
    expect(told(fields(schema), `${"a".repeat(50_000)}!`)).toBe(`${"a".repeat(50_000)}!`);
    expect(formFields(schema)[0]?.wanted).toBe("a text that fits ^(a+)+$");
  });

  test("with names of a prototype changes nothing", () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"a":{"type":"string"}}}') as JsonObject;
    const filled = filledIn(formFields(schema).map((field) => [field, "x"] as const));
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
    expect(JSON.stringify(filled)).toBe('{"__proto__":"x","a":"x"}');
    const strange = JSON.parse('{"__proto__":{"a":1},"constructor":1}') as Json;
    expect(told(fieldsForm(z.object({ a: z.string().optional() })), strange)).toContain("Expected only known members");
  });

  test.each<unknown>([
    null,
    "form",
    { kind: "fields" },
    { kind: "fields", schema: [] },
    { kind: "choices", choices: "ab" },
    { kind: "choices", choices: [{ label: "a" }] },
    { kind: "choices", choices: [], words: 3 },
    { kind: "other" },
  ])("that is none is known as such: %j", (given) => {
    expect(isQuestionForm(given)).toBe(false);
  });

  test("shows no character that steers a terminal", () => {
    const form: QuestionForm = { kind: "choices", choices: [{ value: "a\u001b[2J" }] };
    expect(told(form, "\u202eb")).toMatch(/^[\x20-\x7e]+$/);
    expect(told(fields({ type: "object", properties: { "x\u001b": { type: "string" } }, required: ["x\u001b"] }), {})).toMatch(
      /^[\x20-\x7e]+$/,
    );
  });

  test.each<[string, unknown]>([
    ["10 MB of text", "x".repeat(10_000_000)],
    ["10 MB of JSON", { a: "x".repeat(10_000_000) }],
    ["a circle", (() => ((circle: { self?: unknown }) => Object.assign(circle, { self: circle }))({}))()],
    ["nothing", undefined],
    ["a function", () => 1],
  ])("%s is refused in words", (_what, answer) => {
    for (const form of [undefined, fields({ type: "string" }), { kind: "choices", choices: [{ value: "a" }] } as const])
      expect(told(form, answer)).toContain("Expected");
  });
});
