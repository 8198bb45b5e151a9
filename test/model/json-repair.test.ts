import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { findJson } from "../../src/model/json-in-text.ts";
import { outputSchema } from "../../src/model/json-schema.ts";
import { readReply } from "../../src/model/structured-output.ts";
import { mended } from "../../src/model/schema-fit.ts";

const first = (text: string): unknown => findJson(text).values[0]?.value;
const read = <S extends z.ZodType>(schema: S, text: string): unknown => {
  const reply = readReply(text, schema, outputSchema(schema));
  return reply.ok ? reply.value : undefined;
};
const Task = z.object({ title: z.string(), owner: z.object({ name: z.string(), age: z.number() }) });
const whole = { title: "T", owner: { name: "Ann", age: 3 } };

describe("a brace that is missing at the end of a reply", () => {
  it.each([
    ["of the object", '{"owner": {"name": "Ann", "age": 3}, "title": "T"'],
    ["of the object, before a line break", '{"owner": {"name": "Ann", "age": 3},\n"title": "T"\n'],
    ["of an object inside too", '{"title": "T", "owner": {"age": 3, "name": "Ann"'],
    ["before the end of a fence", '```json\n{"title": "T", "owner": {"name": "Ann", "age": 3\n```'],
    ["behind words", 'Here it is:\n{"title": "T", "owner": {"name": "Ann", "age": 3}'],
    ["with keys of another case", '{"Title": "T", "OWNER": {"Age": 3, "Name": "Ann"'],
  ])("%s is added", (_what, text) => {
    expect(read(Task, text)).toEqual(whole);
  });

  it.each([
    ["a required member may be missing", Task, '{"title": "T"'],
    ["an optional member may be missing", z.object({ a: z.string(), b: z.string().optional() }), '{"a": "x"'],
    ["an open list may lack items", z.object({ a: z.array(z.string()) }), '{"a": ["x"'],
    ["an object of an open list may not be the last", z.object({ a: z.array(z.object({ n: z.string() })) }), '{"a": [{"n": "x"}'],
    ["a record may have more", z.object({ a: z.record(z.string(), z.string()) }), '{"a": {"x": "y"'],
    ["an open object may have more", z.looseObject({ a: z.string() }), '{"a": "x"'],
    ["a number may have more digits", z.object({ a: z.number() }), '{"a": 12'],
    ["a text may be cut", z.object({ a: z.string() }), '{"a": "x'],
    ["another member was to come", z.object({ a: z.string() }), '{"a": "x",'],
    ["a value was to come", z.object({ a: z.string(), b: z.string().optional() }), '{"a": "x", "b":'],
    ["a word may be cut", z.object({ a: z.boolean() }), '{"a": tru'],
    ["words follow", z.object({ a: z.string() }), '{"a": "x"\nThat is all.'],
  ])("is not added where %s", (_why, schema, text) => {
    expect(read(schema, text)).toBeUndefined();
  });

  it("is added before the bracket of its list, whose end is known then", () => {
    expect(first('{"a": [{"n": 1}, {"n": 2], "b": 3}')).toEqual({ a: [{ n: 1 }, { n: 2 }], b: 3 });
    expect(first('{"n": 1]')).toBeUndefined();
    expect(first('[{"n": 1,]')).toBeUndefined();
  });

  test("property: of a whole text that was cut anywhere nothing is read but all of it", () => {
    const schema = z.object({
      title: z.string(),
      tags: z.array(z.string()),
      note: z.string().optional(),
      owner: z.object({ name: z.string(), age: z.number() }),
    });
    const value = fc.record({
      title: fc.string(),
      tags: fc.array(fc.string(), { maxLength: 3 }),
      note: fc.string(),
      owner: fc.record({ name: fc.string(), age: fc.integer() }),
    });
    fc.assert(
      fc.property(value, fc.nat(), (made, where) => {
        const text = JSON.stringify(made);
        const cut = text.slice(0, where % text.length);
        const came = read(schema, cut);
        if (came !== undefined) expect(came).toEqual(made);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a comma that is missing at the end of a line", () => {
  it.each([
    ["between members", '{"a": 1\n"b": "x"\n  "c": [1]\n}', { a: 1, b: "x", c: [1] }],
    ["behind a comment", '{"a": 1 // one\n"b": 2}', { a: 1, b: 2 }],
    ["between texts", '["a"\n"b",\n"c"]', ["a", "b", "c"]],
    ["between objects", '{"it": [{"a": 1}\n{"a": 2}]}', { it: [{ a: 1 }, { a: 2 }] }],
    ["between lists", "[[1]\n[2]]", [[1], [2]]],
    ["in single quotes", "{'a': 'x'\n'b': 'y'}", { a: "x", b: "y" }],
  ])("%s is added", (_where, text, expected) => {
    expect(first(text)).toEqual(expected);
  });

  it.each([
    ["in one line", '{"a": 1 "b": 2}'],
    ["between numbers, which may be one", "[1\n2]"],
    ["before words", '{"a": 1\nb is 2}'],
    ["before a text that is no key", '{"a": "one"\n"two", "b": 1}'],
  ])("%s is not", (_where, text) => {
    expect(findJson(text).values.filter(({ value }) => typeof value === "object" && Object.keys(value ?? {}).length > 0)).toEqual([]);
  });
});

describe("texts in three quotes", () => {
  it.each([
    ["lines and quotes", '{"code": """print("hi")\nprint(\'x\')\n""", "n": 1}', { code: "print(\"hi\")\nprint('x')\n", n: 1 }],
    ["single ones", `{"code": '''it's "so"''', "n": 1}`, { code: `it's "so"`, n: 1 }],
    ["nothing", '{"code": """""", "n": 1}', { code: "", n: 1 }],
    ["a quote at the end", '{"code": """say "hi"""", "n": 1}', { code: 'say "hi"', n: 1 }],
    ["two quotes in a row", '{"code": """a "" b""", "n": 1}', { code: 'a "" b', n: 1 }],
    ["escapes", String.raw`{"code": """a\n\"""b""", "n": 1}`, { code: 'a\n"""b', n: 1 }],
    ["a key", '{"""code""": 1}', { code: 1 }],
  ])("hold %s", (_what, text, expected) => {
    expect(first(text)).toEqual(expected);
  });

  it("that do not end are cut", () => {
    expect(findJson('{"code": """print("hi")\n').broken?.reason).toBe("truncated");
    expect(findJson('{"code": """print("hi")\n').broken?.closed).toBeUndefined();
  });
});

describe("keys of another case", () => {
  const Design = z.object({
    file_name: z.string(),
    implementationApproach: z.string(),
    tasks: z.array(z.object({ task_id: z.number() })).optional(),
  });

  it.each([
    ["capital letters", '{"File_Name": "a", "IMPLEMENTATIONAPPROACH": "b"}'],
    ["camel and snake", '{"fileName": "a", "implementation_approach": "b"}'],
    ["words", '{"File Name": "a", "Implementation approach": "b"}'],
  ])("in %s are the schema's", (_what, text) => {
    expect(read(Design, text)).toEqual({ file_name: "a", implementationApproach: "b" });
  });

  it("are the schema's in lists and in optional members", () => {
    const text = '{"file_name": "a", "implementationApproach": "b", "Tasks": [{"taskId": 1}, {"TASK_ID": 2}]}';
    expect(read(Design, text)).toMatchObject({ tasks: [{ task_id: 1 }, { task_id: 2 }] });
  });

  it.each([
    ["two come as near", z.object({ name: z.string() }), '{"Name": "a", "NAME": "b"}'],
    ["two are wanted", z.object({ file_name: z.string(), fileName: z.string() }), '{"FileName": "a", "fileName": "b"}'],
    ["the letters differ", z.object({ name: z.string() }), '{"names": "a"}'],
  ])("are left where %s", (_why, schema, text) => {
    expect(read(schema, text)).toBeUndefined();
  });

  it("are left where the wanted one is there, in records and in open objects", () => {
    expect(read(z.object({ name: z.string() }), '{"name": "a", "Name": "b"}')).toEqual({ name: "a" });
    expect(read(z.record(z.string(), z.number()), '{"Name": 1}')).toEqual({ Name: 1 });
    expect(read(z.looseObject({ name: z.string().optional() }), '{"Name": 1}')).toEqual({ Name: 1 });
  });

  it("are left where the schema fits what came and not what it would become", () => {
    expect(read(z.object({ name: z.string().optional() }), '{"Name": 5}')).toEqual({});
  });

  test("property: a value whose keys are the schema's is not changed", () => {
    const schema = z.object({ a_b: z.string().optional(), c: z.array(z.object({ D: z.number() })), e: z.record(z.string(), z.json()) });
    const value = fc.record(
      { a_b: fc.string(), c: fc.array(fc.record({ D: fc.integer() })), e: fc.dictionary(fc.string(), fc.jsonValue()) },
      { requiredKeys: ["c", "e"] },
    );
    fc.assert(
      fc.property(value, (made) => {
        const json = JSON.parse(JSON.stringify(made)) as Parameters<typeof mended>[0];
        expect(JSON.stringify(mended(json, outputSchema(schema).json, { names: true }))).toBe(JSON.stringify(json));
      }),
    );
  });
});

test("property: no mending changes a text that is JSON, however it is laid out", () => {
  const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, "\t"), fc.constantFrom("", " ", "\n"), (made, indent, before) => {
      const text = JSON.stringify(made, null, indent);
      if (text.includes("__proto__")) return;
      expect(first(`${before}${text}`)).toEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});
