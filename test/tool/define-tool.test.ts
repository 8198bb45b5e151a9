import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { defineTool, type Tool } from "../../src/tool/tool.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";

const named = (name: string): Tool => defineTool({ name, description: "", execute: () => name });

describe("a tool", () => {
  const fetch = defineTool({
    name: "web_fetch",
    description: "Fetches a page.",
    parameters: z.object({ url: z.string().describe("the address"), timeout: z.int().default(5) }),
    effect: "read",
    execute: ({ url, timeout }) => `${url} ${timeout}`,
  });

  it("is told to a model with its parameters as JSON Schema, defaults and all", () => {
    expect(fetch.spec).toEqual({
      name: "web_fetch",
      description: "Fetches a page.",
      parameters: {
        type: "object",
        properties: {
          url: { type: "string", description: "the address" },
          timeout: expect.objectContaining({ type: "integer", default: 5 }),
        },
        required: ["url"],
      },
    });
  });

  it("that reads runs without asking and again; one that writes does neither", () => {
    expect(fetch).toMatchObject({ permission: "allow", idempotent: true, effect: "read", timeout: 60_000, ends: false, again: false });
    const writing = defineTool({ name: "x", description: "", effect: "write", execute: () => 1 });
    expect(writing).toMatchObject({ permission: "ask", idempotent: false, effect: "write" });
  });

  it("that says neither its effect nor its permission runs without asking, and counts as a write all the same", () => {
    expect(named("x")).toMatchObject({ permission: "allow", idempotent: false, effect: "write", fresh: false });
    expect(defineTool({ name: "x", description: "", permission: "ask", execute: () => 1 })).toMatchObject({ permission: "ask" });
  });

  it("may have no parameters, or parameters told by a JSON Schema", () => {
    expect(named("x").spec.parameters).toEqual({ type: "object", properties: {} });
    const parameters = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    expect(defineTool({ name: "x", description: "", parameters, execute: () => 1 }).spec.parameters).toBe(parameters);
  });

  it.each<[string, Partial<Parameters<typeof defineTool>[0]>]>([
    ["an empty name", { name: "" }],
    ["a name that providers refuse", { name: "say hello" }],
    ["a name of 65 characters", { name: "x".repeat(65) }],
    ["a name that is a prototype", { name: "__proto__" }],
    ["no description", { description: undefined as unknown as string }],
    ["no time", { timeout: 0 }],
    ["endless time", { timeout: Infinity }],
    ["time that is none", { timeout: Number.NaN }],
    ["no room for output", { maxOutput: 0 }],
    ["room for output that is true, of which the original makes 1 character", { maxOutput: true as unknown as number }],
    ["parameters that are a list", { parameters: z.array(z.string()) as never }],
    ["parameters that are a choice", { parameters: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) as never }],
    ["a JSON Schema that is no object's", { parameters: { type: "array" } as never }],
  ])("with %s is refused", (_, wrong) => {
    const options = { name: "x", description: "", execute: () => 1, ...wrong } as Parameters<typeof defineTool>[0];
    expect(() => defineTool(options)).toThrow(expect.objectContaining({ code: "TOOL_INVALID" }) as Error);
  });

  it("with a permission that is none is refused", () => {
    const permission = "maybe" as unknown as "allow";
    expect(() => defineTool({ name: "x", description: "", permission, execute: () => 1 })).toThrow(/"allow", "ask" or "deny"/);
  });
});

describe("a collection", () => {
  it("ToolCollection.K1 refuses two tools of one name, and then adds nothing", () => {
    const tools = new ToolCollection([named("a")]);
    expect(() => tools.add([named("b"), named("a")])).toThrow(expect.objectContaining({ code: "TOOL_DUPLICATE" }) as Error);
    expect(() => new ToolCollection([named("x"), named("x")])).toThrow(/two of the name "x"/);
    expect(tools.names).toEqual(["a"]);
    expect(tools.size).toBe(1);
  });

  it("ToolCollection.K2 keeps the order, and tells a model of those it has now", () => {
    const tools = new ToolCollection([named("b"), named("a")]);
    expect(tools.specs.map(({ name }) => name)).toEqual(["b", "a"]);
    tools.add(named("c"));
    expect(tools.remove("b")).toBe(true);
    expect(tools.remove("b")).toBe(false);
    expect(tools.specs.map(({ name }) => name)).toEqual(["a", "c"]);
    expect([...tools].map(({ name }) => name)).toEqual(["a", "c"]);
  });

  it("ToolCollection.K3 has nothing under the names that every object has", () => {
    const tools = new ToolCollection([named("constructor")]);
    expect(["__proto__", "toString", "hasOwnProperty"].map((name) => tools.find(name))).toEqual([undefined, undefined, undefined]);
    expect(tools.get("constructor")?.name).toBe("constructor");
  });
});

test("a model's upper and lower case is forgiven where only one tool can be meant", () => {
  const tools = new ToolCollection([named("terminate"), named("Read"), named("read")]);
  expect(tools.find("Terminate")?.name).toBe("terminate");
  expect(tools.find("read")?.name).toBe("read");
  expect(tools.find("READ")).toBeUndefined();
  expect(tools.get("Terminate")).toBeUndefined();
});

test("a name with marks, quotes or a namespace around it finds the only tool that it can mean", () => {
  const tools = new ToolCollection([named("add"), named("read_file"), named("list"), named("list_all")]);
  const written = [
    '"add"',
    "add ",
    "`add`",
    "add()",
    "functions.add",
    "functions.add:0",
    "google:tool:add:index:0",
    "<function=add>",
    "add</tool_name>",
    "functions.add json",
    "functions__add",
    "ａｄｄ",
    '{"name": "add"}',
    "default_api.add",
    "tools/add",
    "ADD",
    "add<|channel|>commentary",
  ];
  for (const name of written) expect([name, tools.find(name)?.name]).toEqual([name, "add"]);
  for (const name of ["read-file", "Read File", "fs.read_file"]) expect([name, tools.find(name)?.name]).toEqual([name, "read_file"]);
  for (const name of ["", "functions.", "addition", "sub.tract", "<|channel|>add", "list_"])
    expect([name, tools.find(name)]).toEqual([name, undefined]);
});
