import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { readArguments } from "../../src/tool/call-arguments.ts";
import { defineTool, type Tool } from "../../src/tool/tool.ts";
import { spentBy } from "../kernel/spent.ts";
import { loadRepair } from "../../src/model/json-in-text.ts";

await loadRepair("{}");

const shell = defineTool({
  name: "shell",
  description: "Runs a command.",
  parameters: z.object({
    command: z.string(),
    timeout: z.int().min(1).optional(),
    mode: z.enum(["fast", "slow"]).default("fast"),
    files: z.array(z.object({ path: z.string() })).optional(),
  }),
  execute: ({ command }) => command,
});
const bare = defineTool({ name: "bare", description: "", execute: () => "x" });

function argsOf(text: string, tool: Tool = shell): unknown {
  const read = readArguments(text, tool);
  return read.ok ? read.args : read.why;
}

function whyNot(text: string, tool: Tool = shell): string {
  const read = readArguments(text, tool);
  if (read.ok) throw new Error("they fit");
  return read.why;
}

describe("arguments that can be read", () => {
  it.each([
    ["JSON", '{"command": "ls"}'],
    ["with a comma too many", '{"command": "ls",}'],
    ["in single quotes", "{'command': 'ls'}"],
    ["with bare keys", '{command: "ls"}'],
    ["fenced", '```json\n{"command": "ls"}\n```'],
    ["with words around", 'Arguments: {"command": "ls"} as you wished.'],
    ["as JSON in a string", '"{\\"command\\": \\"ls\\"}"'],
    ["with null for what is left out", '{"command": "ls", "timeout": null, "files": null}'],
  ])("%s", (_, text) => {
    expect(argsOf(text)).toEqual({ command: "ls", mode: "fast" });
  });

  it("an empty text is an empty object", () => {
    expect(argsOf("", bare)).toEqual({});
    expect(argsOf("  \n", bare)).toEqual({});
  });

  it("values that stand as JSON in strings are read where another type is expected, and nowhere else", () => {
    expect(argsOf('{"command": "42", "timeout": "42", "files": "[{\\"path\\": \\"a\\"}]"}')).toEqual({
      command: "42",
      timeout: 42,
      files: [{ path: "a" }],
      mode: "fast",
    });
    expect(whyNot('{"command": "ls", "timeout": "soon"}')).toMatch(/timeout: .*expected number.*got "soon"/);
  });

  it("are recorded as the tool takes them, defaults included", () => {
    expect(readArguments('{"command": "ls"}', shell)).toMatchObject({ json: { command: "ls", mode: "fast" } });
  });

  it("are recorded so, and tried by rules, also where a part of them is no JSON", () => {
    const parameters = z.object({
      path: z.string().transform((path) => path.replace("~", "/home/me")),
      also: z.array(z.string()),
      tags: z.array(z.string()).transform((tags) => new Set(tags)),
    });
    const tool = defineTool({ name: "t", description: "", parameters, execute: () => "x" });
    const read = readArguments('{"path": "~/key", "also": "[\\"/etc/passwd\\"]", "tags": ["a", "b"]}', tool);
    expect(read).toMatchObject({ ok: true, json: { path: "/home/me/key", also: ["/etc/passwd"], tags: ["a", "b"] } });
  });

  it("a tool without parameters takes no notice of what models put there to have something", () => {
    expect(argsOf('{"dummy": ""}', bare)).toEqual({ dummy: "" });
  });
});

test("arguments made to take long are read or refused in time that is in proportion to them", { tags: ["numbers", "long"] }, async () => {
  const spent = (length: number): Promise<number> =>
    spentBy(() => {
      for (const text of ["{", "[", '{"a":', '"', "\\", "{'a':[", "/*", "{a:1,", "\u0000"]) {
        const depth = Math.floor(length * 0.4);
        expect(readArguments(text.repeat(Math.floor(length / text.length)), shell).ok).toBe(false);
        expect(readArguments(`{"command": "x", "files": ${"[".repeat(depth)}${"]".repeat(depth)}}`, shell).ok).toBe(false);
      }
    });
  await spent(1_000);
  const few = await spent(249_999);
  expect(await spent(999_999)).toBeLessThan(Math.max(few, 20) * 10);
});

describe("arguments as models write them", () => {
  it.each(["", " ", "{}", "null", "None", "undefined", '""', "''", "[]", "()", '"{}"', '"null"', "{ }\n"])("none: %j", (text) => {
    expect(argsOf(text, bare)).toEqual({});
  });

  it.each<[string, string]>([
    ["numbers and lists as text", '{"command": "ls", "timeout": "3"}'],
    ["in a list of one", '[{"command": "ls", "timeout": 3}]'],
    ["in one more object", '{"arguments": {"command": "ls", "timeout": 3}}'],
    ["behind an empty object", '{}{"command": "ls", "timeout": 3}'],
    ["as the arguments of a call", '{"name": "shell", "arguments": {"command": "ls", "timeout": 3}}'],
    ["as a string in one more object", '{"input": "{\\"command\\": \\"ls\\", \\"timeout\\": 3}"}'],
    ["twice the same", '{"command": "ls", "timeout": 3}{"command": "ls", "timeout": 3}'],
    ["in other punctuation", "｛“command”： “ls”， “timeout”：3｝"],
    ["with quotes inside and a missing comma", '{"command": "ls" "timeout": 3}'],
  ])("%s", (_how, text) => {
    expect(argsOf(text)).toMatchObject({ command: "ls", timeout: 3 });
  });
});

describe("arguments that cannot", () => {
  it.each([
    ["no JSON", "ls -la", /are no JSON: they begin with "ls -la"/],
    ["cut short", '{"command": "l', /are no JSON/],
    ["two objects: nobody can say which is meant", '{"command": "a"} {"command": "b"}', /are no JSON/],
    ["a list", '["ls"]', /are a list, not an object/],
    ["a number", "42", /are a number, not an object/],
    ["a string", '"ls"', /are a string, not an object/],
    ["a prototype", '{"command": "ls", "__proto__": {"polluted": true}}', /names the prototype/],
    ["too many levels", `{"command": ${"[".repeat(2_000)}${"]".repeat(2_000)}}`, /levels of nesting|nested/],
  ])("%s", (_, text, why) => {
    expect(whyNot(text)).toMatch(why);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("name the field, what was expected, what came, and what to write instead", () => {
    const why = whyNot('{"timeout": 0, "mode": "quick", "files": [{"path": 3}]}');
    expect(why).toContain('Arguments of "shell" do not fit:');
    expect(why).toContain("- command: is missing");
    expect(why).toMatch(/- timeout: .*>=1 \(got 0\)/);
    expect(why).toMatch(/- mode: .*"fast"\|"slow" \(got "quick"\)/);
    expect(why).toMatch(/- files\[0\]\.path: .*expected string.*\(got 3\)/);
    expect(why).toContain('Write one JSON object that fits {"type":"object"');
  });

  it("name arguments that the tool has no parameter for, which the original answers with Python's words", () => {
    expect(whyNot('{"command": "ls", "comand": "x"}')).toMatch(/- comand: is no parameter; there are command, timeout, mode, files/);
  });

  it("are told within bounds, whatever came", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`wrong${n}`, "x".repeat(100)]));
    const record = defineTool({
      name: "r",
      description: "",
      parameters: z.object({ all: z.record(z.string(), z.int()) }),
      execute: () => 1,
    });
    expect(whyNot(JSON.stringify({ all: { ["k".repeat(500_000)]: "x" } }), record).length).toBeLessThan(4_000);
    for (const text of [JSON.stringify(many), "x".repeat(999_999), JSON.stringify({ command: 1, ["k".repeat(500_000)]: 1 })]) {
      expect(whyNot(text).length).toBeLessThan(4_000);
    }
  });

  it("are not even read when they are 10 MB long", () => {
    const why = whyNot(JSON.stringify({ command: "x".repeat(10_000_000) }));
    expect(why).toMatch(/are 10000014 characters long, and at most 1000000 are read/);
  });
});

test("a check that throws is told, not thrown", () => {
  const strict = defineTool({
    name: "strict",
    description: "",
    parameters: z.object({ a: z.string().transform(() => JSON.parse("{") as string) }),
    execute: () => 1,
  });
  expect(whyNot('{"a": "x"}', strict)).toMatch(/could not be checked: .*JSON/);
  const later = defineTool({
    name: "later",
    description: "",
    parameters: z.object({ a: z.string().refine(() => Promise.resolve(true)) }),
    execute: () => 1,
  });
  expect(whyNot('{"a": "x"}', later)).toMatch(/could not be checked/);
});

describe("parameters told by a JSON Schema, which may come from anywhere", () => {
  const remote = (parameters: Record<string, unknown>): Tool =>
    defineTool({ name: "remote", description: "", parameters: { type: "object", ...parameters } as never, execute: () => 1 });

  it("are checked, and arguments that fit stay as they came", () => {
    const tool = remote({ properties: { a: { type: "integer" }, b: { enum: ["x", "y"] }, c: { default: 1 } }, required: ["a"] });
    expect(argsOf('{"a": 1, "b": "x"}', tool)).toEqual({ a: 1, b: "x" });
    expect(argsOf('{"a": "1"}', tool)).toEqual({ a: 1 });
    expect(whyNot('{"b": "z"}', tool)).toMatch(/- a: Expected a whole number, got nothing[^]*- b: Expected one of "x", "y", got "z"/);
  });

  it("never run a regular expression of a stranger", { tags: ["numbers", "long"] }, async () => {
    const tool = remote({ properties: { a: { type: "string", pattern: "^(a+)+$" }, pattern: { type: "string" } } });
    const args = { a: `${"a".repeat(40)}!`, pattern: "p" };
    expect(await spentBy(() => expect(argsOf(JSON.stringify(args), tool)).toEqual(args))).toBeLessThan(1_000);
  });

  it(
    "with alternatives of alternatives are not tried one by one, nor those that refer to themselves",
    { tags: ["numbers", "long"] },
    async () => {
      const both = (name: string): unknown => ({ anyOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
      const doubling = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`d${n}`, both(`d${n + 1}`)]));
      const itself = { anyOf: [1, 2].map(() => ({ type: "object", properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] })) };
      const deep = `${'{"a":'.repeat(100)}1${"}".repeat(100)}`;
      const spent = await spentBy(() => {
        const doubled = remote({ properties: { a: both("d0") }, $defs: { ...doubling, d60: { type: "string" } } });
        expect(argsOf('{"a": 1}', doubled)).toEqual({ a: 1 });
        expect(argsOf(deep, remote({ properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: itself } }))).toEqual(JSON.parse(deep));
      });
      expect(spent).toBeLessThan(1_000);
    },
  );

  it("may use definitions", () => {
    const tool = remote({ properties: { a: { $ref: "#/$defs/n" }, b: { $ref: "#/$defs/n" } }, $defs: { n: { type: "integer" } } });
    expect(argsOf('{"a": 1, "b": "2"}', tool)).toEqual({ a: 1, b: 2 });
    expect(whyNot('{"a": "x"}', tool)).toMatch(/- a: Expected a whole number, got "x"/);
  });

  it.each([
    ["a type that is none", { properties: { a: { type: "oracle" } } }],
    ["references to nowhere", { properties: { a: { $ref: "#/$defs/missing" } } }],
    ["references elsewhere", { properties: { a: { $ref: "https://evil.test/schema" } } }],
    ["references in a circle", { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/a" } } }],
    ["properties that are none", { properties: 7 }],
    ["conditions", { properties: { a: {} }, if: {}, then: {}, not: {} }],
    ["a required that is none", { properties: { a: {} }, required: "a" }],
  ])("with %s let arguments pass or refuse them, but never fail", (_, parameters) => {
    const read = readArguments('{"a": 1}', remote(parameters));
    expect(read.ok || read.why.length > 0).toBe(true);
    if (read.ok) expect(read.args).toEqual({ a: 1 });
  });
});

test.each([" ", "\n", '"\n', "{ "])("100,000 of %j before other words are read in one go", (unit) => {
  expect(readArguments(`${unit.repeat(100_000)}x`, bare).ok).toBe(false);
  expect(readArguments(`${" ".repeat(100_000)}null${" ".repeat(100_000)}`, bare)).toMatchObject({ ok: true, args: {} });
});
