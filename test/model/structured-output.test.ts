import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ChatMessage } from "../../src/model/chat-message.ts";
import type { ChatResponse } from "../../src/model/chat-model.ts";
import { outputSchema } from "../../src/model/json-schema.ts";
import { askForValue, issueLine, readReply } from "../../src/model/structured-output.ts";
import { enforcedForm, inForm, wordsForm } from "../../src/model/reply-form.ts";
import { titled } from "../titled.ts";
import { loadRepair } from "../../src/model/json-in-text.ts";

await loadRepair("{}");

const Plan = z.object({
  title: z.string(),
  steps: z.array(z.object({ do: z.string(), hours: z.number().optional() })).min(1),
  note: z.string().optional(),
});
const read = <S extends z.ZodType>(schema: S, text: string): ReturnType<typeof readReply<S>> =>
  readReply(text, schema, outputSchema(schema));

describe("readReply", () => {
  it("reads what fits, and absent is absent again", () => {
    const text = '{"title": "T", "steps": [{"do": "x", "hours": null}], "note": null}';
    expect(read(Plan, text)).toEqual({ ok: true, value: { title: "T", steps: [{ do: "x" }] } });
  });

  it("applies defaults and transforms", () => {
    const schema = z.object({ n: z.number().default(7), s: z.string().transform((text) => text.length) });
    expect(read(schema, '{"n": null, "s": "four"}')).toEqual({ ok: true, value: { n: 7, s: 4 } });
  });

  it("of several values takes the last that fits", () => {
    const schema = z.object({ a: z.number() });
    expect(read(schema, 'The schema is {"type": "object", "properties": {"a": {"type": "number"}}}. Answer: {"a": 1}')).toEqual({
      ok: true,
      value: { a: 1 },
    });
  });

  const Typed = z.object({
    n: z.number().optional(),
    ok: z.boolean().optional(),
    list: z.array(z.object({ a: z.number() })).optional(),
    kind: z.enum(["high", "low"]).optional(),
    either: z.union([z.object({ a: z.number() }), z.array(z.number())]).optional(),
    text: z.string().optional(),
  });
  it.each<[string, string, object]>([
    ["a number as text", '{"n": " 3.5 "}', { n: 3.5 }],
    ["a boolean as text", '{"ok": "True"}', { ok: true }],
    ["a list as text", '{"list": "[{\\"a\\": \\"1\\"}]"}', { list: [{ a: 1 }] }],
    ["one item for a list", '{"list": {"a": 1}}', { list: [{ a: 1 }] }],
    ["a list around the whole", '[{"n": 1}]', { n: 1 }],
    ["a constant in another case", '{"kind": "HIGH"}', { kind: "high" }],
    ["a union as text", '{"either": "[1, 2]"}', { either: [1, 2] }],
    ["nothing as text", '{"n": "", "kind": "none", "list": "null"}', {}],
    ["text that looks like a number stays", '{"text": "3"}', { text: "3" }],
    ["wide punctuation", "{“n”： 1， “ok”： true}", { n: 1, ok: true }],
    ["quotes in a string", '{"text": "say "hi" now"}', { text: 'say "hi" now' }],
    ["joined strings", '{"text": "a" + "b"}', { text: "ab" }],
    ["the last of two", '{"n": 1, "text": "a long draft"} No: {"n": 2}', { n: 2 }],
  ])("reads %s", (_what, text, expected) => {
    expect(read(Typed, text)).toEqual({ ok: true, value: expected });
  });

  it("reads a value inside of one more object", () => {
    expect(read(z.object({ a: z.number() }), '{"result": {"a": 1}}')).toEqual({ ok: true, value: { a: 1 } });
  });

  it.each(['{"n": "two"}', '{"n": "3 apples"}', '{"kind": "middle"}', '{"ok": "yes"}', '{"list": "a, b"}', '{"n": [1, 2]}'])(
    "does not guess at %s",
    (text) => {
      expect(read(Typed, text).ok).toBe(false);
    },
  );

  it("never takes an empty object from the prose for a bad answer", () => {
    const lax = z.object({ files: z.array(z.string()).optional() });
    expect(read(lax, '{"files": 7} (or just {})')).toMatchObject({ ok: false, issues: [{ path: "files" }] });
    expect(read(lax, "{}")).toEqual({ ok: true, value: {} });
  });

  it("a longer part that cannot be read was the answer: what stands beside it is not", () => {
    const lax = z.object({ files: z.array(z.string()).optional() });
    expect(read(lax, '{"files": ["a", "b", oops, "c"]} instead of {"files": []}').ok).toBe(false);
    expect(read(lax, '{"files": []} and {"files": ["a", "b"').ok).toBe(false);
  });

  it.each<[string, z.ZodType, string, unknown]>([
    ["an array, wrapped", z.array(z.number()), '{"value": [1, 2]}', [1, 2]],
    ["an array, bare", z.array(z.number()), "[1, 2]", [1, 2]],
    ["a string, wrapped", z.string(), '{"value": "x"}', "x"],
    ["a string, bare", z.string(), '"x"', "x"],
    ["a number, bare", z.number(), "42", 42],
    ["an enum", z.enum(["yes", "no"]), '{"value": "yes"}', "yes"],
    [
      "a union of objects, wrapped",
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      '{"value": {"b": "x"}}',
      { b: "x" },
    ],
    ["a union of objects, bare", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), '{"b": "x"}', { b: "x" }],
    [
      "a union member that is itself called value",
      z.union([z.object({ value: z.string() }), z.number()]),
      '{"value": "x"}',
      { value: "x" },
    ],
    ["an object, as JSON in a string", z.object({ a: z.number() }), '"{\\"a\\": 1}"', { a: 1 }],
  ])("%s", (_what, schema, text, expected) => {
    expect(read(schema, text)).toEqual({ ok: true, value: expected });
  });

  it("says of each bad field where it stands, what is wrong and what stood there", () => {
    const result = read(Plan, '{"steps": [{"do": 3}, {"do": "y", "hours": "two"}], "note": "n"}');
    expect(result.ok ? [] : result.issues.map(issueLine)).toEqual([
      "title: is missing",
      "steps[0].do: Invalid input: expected string, received number (got 3)",
      'steps[1].hours: Invalid input: expected number, received string (got "two")',
    ]);
  });

  it("of a union tells the branch that came closest", () => {
    const shape = z.object({
      e: z.union([z.object({ t: z.literal("a"), x: z.string() }), z.object({ t: z.literal("b"), y: z.number(), z: z.number() })]),
    });
    const result = read(shape, '{"e": {"t": "a", "x": 1}}');
    expect(result.ok ? [] : result.issues.map((issue) => issue.path)).toEqual(["e.x"]);
  });

  it.each(
    titled([
      ["", "holds no JSON"],
      ["I would rather not.", "holds no JSON"],
      ['{"title": "T", "steps": [{"do": "x"', "ends before it is complete"],
      ['{"title": "T", "steps": [x]}', "is not JSON at character"],
      [`{"title": ${"[".repeat(400)}${"]".repeat(400)}}`, "nested too deep"],
    ]),
  )("of %s", (_case, text, what) => {
    const result = read(Plan, text);
    expect(result.ok ? [] : result.issues.map((issue) => issue.message).join()).toContain(what);
  });

  it("a reply of megabytes with very many mistakes gives a short report", { tags: ["numbers", "long"] }, () => {
    const text = JSON.stringify({ title: "T", steps: Array.from({ length: 30_000 }, (_, n) => ({ do: n, hours: "x".repeat(80) })) });
    const result = read(Plan, text);
    expect(result.ok ? 0 : result.issues.length).toBe(100);
    expect(JSON.stringify(result).length).toBeLessThan(50_000);
  });
});

describe("the instructions for the model", () => {
  const output = outputSchema(Plan);
  const [strict, text] = [enforcedForm(output), wordsForm(output)];
  const json = enforcedForm(outputSchema(z.object({ env: z.record(z.string(), z.string()) })));
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Plan it." },
  ];

  it("nothing more where the provider enforces the schema", () => {
    expect(inForm(messages, strict)).toBe(messages);
  });

  it("the schema, in what the user said last", () => {
    const told = inForm(messages, json);
    expect(told).toHaveLength(2);
    expect(told[1]?.content).toMatch(/^Plan it\.\n\nAnswer with one JSON object and nothing else/);
    expect(told[1]?.content).toContain(JSON.stringify(outputSchema(z.object({ env: z.record(z.string(), z.string()) })).json));
    expect(inForm(messages, text)[1]?.content).toContain("```json fenced block");
    expect(messages[1]?.content).toBe("Plan it.");
  });

  it("as a message of its own where the user did not speak last, and pictures stay", () => {
    const after: ChatMessage[] = [...messages, { role: "assistant", content: "Sure." }];
    expect(inForm(after, json)).toHaveLength(4);
    const picture: ChatMessage[] = [{ role: "user", images: [{ url: "https://example.com/a.png" }] }];
    expect(inForm(picture, json)[0]).toMatchObject({
      images: picture[0]?.images,
      content: expect.stringContaining("JSON Schema"),
    });
  });

  it("of a bad reply the bad fields only, and no more than a bounded part of it", async () => {
    const many = z.object({ steps: z.array(z.object({ do: z.string() })) });
    const bad = JSON.stringify({ note: `START${"x".repeat(1_000_000)}`, steps: Array.from({ length: 50 }, () => ({})), end: "END" });
    const asked: (readonly ChatMessage[])[] = [];
    const ask = (given: readonly ChatMessage[]): Promise<{ reply: ChatResponse; isCut: boolean }> => {
      asked.push(given);
      const content = asked.length === 1 ? bad : '{"steps":[]}';
      return Promise.resolve({ reply: { content, toolCalls: [], finishReason: "stop" }, isCut: false });
    };
    expect(await askForValue({ model: "m", schema: many, messages, ask })).toEqual({ steps: [] });
    const again = asked[1] ?? [];
    expect(again.slice(0, 2)).toEqual(messages);
    expect(again[2]?.content?.length).toBeLessThan(32_100);
    expect(again[2]?.content).toMatch(/^\{"note":"START[^]*END"\}$/);
    expect(again[3]?.content).toContain("- steps[0].do: is missing\n");
    expect(again[3]?.content).toContain("- and 30 more like these");
    expect(again[3]?.content).not.toContain("steps[49]");
    expect(again[3]?.content).toContain(JSON.stringify(outputSchema(many).json));
  });
});
