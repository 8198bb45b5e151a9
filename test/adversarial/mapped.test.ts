import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import { ChatMessage, defineTool, MessagesMemory, resultText, toolFailure, toolOutput } from "../../src/agent/index.ts";
import { createMessage, defineAction, defineRole, Environment, Memory, TroupeError } from "../../src/index.ts";
import { experiment } from "../../src/research/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const exported = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: Record<string, string | { default: string }> })
  .exports;

type Call = (...given: unknown[]) => unknown;

/** Public functions, also of classes and objects, that take one value and then, by default, something else. */
async function mappable(): Promise<ReadonlyMap<string, Call>> {
  const found = new Map<string, Call>();
  const note = (name: string, value: unknown): void => {
    if (typeof value !== "function" || /^class\b/.test(String(value))) return;
    const parameters = /\(([^)]*)/.exec(String(value))?.[1] ?? "";
    if ((value.length === 1 && parameters.includes(",")) || parameters.endsWith(", given, list")) found.set(name, value as Call);
  };
  for (const entry of Object.values(exported)) {
    if (typeof entry === "string") continue;
    const module = (await import(join(root, entry.default.replace("./dist/", "").replace(/\.js$/, ".ts")))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(module)) {
      note(name, value);
      if (value === null || !["function", "object"].includes(typeof value)) continue;
      for (const key of Object.getOwnPropertyNames(value)) {
        const member: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
        if (typeof member === "function" && key !== "constructor") note(`${name}.${key}`, member);
      }
    }
  }
  return found;
}

const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } } as const;
const record = [ChatMessage.user("go")];
const points = [1, 2, 3, 4];
const study = experiment({ params: [{ n: 1 }], world: () => new Environment(), measure: () => ({ n: 1 }) });

/** Functions that make one value of another: `map` may call them. Each with a value that it takes. */
const WORK: Readonly<Record<string, unknown>> = {
  "ChatMemory.fromJSON": new MessagesMemory().chat.toJSON(),
  "ChatMessage.fromToolCalls": [call],
  "ChatMessage.user": "hello",
  "MessagesMemory.from": record,
  "MessagesMemory.fromJSON": MessagesMemory.from(record).toJSON(),
  createMessage: "hello",
  resultText: toolOutput("a long output"),
  toolFailure: "it broke",
  toolOutput: "it works",
  visible: "a text",
};

/** Functions with options: a number in their place is refused. */
const REFUSE: Readonly<Record<string, unknown>> = {
  aiSdk: { specificationVersion: "v3", modelId: "m", doGenerate() {}, doStream() {} },
  asTool: defineRole({ name: "Ada", actions: [defineAction({ name: "Draft", prompt: () => "" })] }),
  bootstrapInterval: points,
  budgetPool: 5,
  byzantine: "Ann",
  cassetteModel: { v: 1, calls: [] },
  coordinationMetrics: [],
  corrupt: 0.5,
  explore: () => new Environment(),
  exportSnapshot: new Memory(),
  failuresIn: [],
  fallback: [scriptedModel([]), scriptedModel([])],
  flushOnSignals: [],
  handoff: "Rita",
  formFields: { type: "object", properties: {} },
  linearRegression: [
    [1, 2],
    [2, 3],
    [3, 5],
  ],
  messageRows: [],
  priceOf: scriptedModel([]),
  readCrew: "name: x",
  retry: 3,
  route: () => scriptedModel([]),
  runExperiment: study,
  scriptedModel: [],
  shareInterval: points,
  tInterval: points,
  timeToConsensus: [],
  topologyOf: [],
  traceRun: [],
  treeTopology: 3,
  verifyExperiment: study,
};

/** They take numbers second, or the names of methods. */
const NUMBERS = ["delay", "duplicate", "kinds.each", "kinds.having", "kinds.options", "reorder"];

const all = await mappable();

test("every public function that takes one value and options is in one of the tables here", () => {
  expect([...all.keys()].toSorted()).toEqual([...Object.keys(WORK), ...Object.keys(REFUSE), ...NUMBERS].toSorted());
});

describe("a function that is passed to map", () => {
  it.each(Object.entries(WORK))("%s makes of each item what it makes of it alone", (name, item) => {
    const make = all.get(name) as Call;
    const plain = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (key, part: unknown) => (/^(id|timestamp)$/.test(key) ? "" : part)));
    const [alone] = [item].map((one) => make(one));
    for (const made of [item, item, item].map(make)) expect(plain(made)).toEqual(plain(alone));
  });

  it.each(Object.entries(REFUSE))("%s refuses an index in the place of its options", async (name, item) => {
    const made = async (): Promise<unknown> => [item].map(all.get(name) as Call)[0];
    const error: unknown = await made().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(TroupeError.isInstance(error) && [error.code, error.message]).toEqual([
      expect.stringMatching(/^(OPTION|ARGUMENT|RETRY|EDGE|CREW)_INVALID$/),
      expect.stringMatching(/got 0\b/),
    ]);
  });

  it("compiles", () => {
    const texts = ["a", "b"];
    const made = [
      texts.map(ChatMessage.user),
      texts.map(ChatMessage.assistant),
      texts.map(toolOutput).map(resultText),
      texts.map(toolFailure),
    ];
    expect([...made, texts.map(createMessage), [record].map(MessagesMemory.from)].map(({ length }) => length)).toEqual([2, 2, 2, 2, 2, 1]);
  });

  it("an index is known by the list behind it: a number alone is no option", () => {
    expect(() => createMessage("x", 5 as never)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining("map") }),
    );
    expect(() => ChatMessage.user("x", 5 as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });
});

describe("[seed: MessagesMemory(tools)] a memory made of a list", () => {
  const look = defineTool({ name: "look", description: "", execute: () => "" });

  it.each([
    ["a list of tools", () => new MessagesMemory([look]).tools.names, ["look"]],
    ["a set of tools", () => new MessagesMemory(new Set([look])).tools.names, ["look"]],
    ["an empty list", () => new MessagesMemory([]).tools.names, []],
  ])("of %s has these tools", (_what, made, names) => {
    expect(made()).toEqual(names);
  });

  const toolMessage = ChatMessage.tool({ content: "seen", name: "look", toolCallId: "call_1" });
  it.each([
    ["messages", () => new MessagesMemory([ChatMessage.user("hi")] as never)],
    ["an answer of a tool", () => new MessagesMemory([toolMessage] as never)],
    ["messages by name", () => new MessagesMemory({ messages: [{ role: "user", content: "hi" }] as never })],
    ["messages as tools", () => new MessagesMemory({ tools: [toolMessage] as never })],
  ])("of %s says which function takes messages", (_what, make) => {
    expect(make).toThrow(
      expect.objectContaining({ code: "AGENT_MEMORY_INVALID", message: expect.stringContaining("MessagesMemory.from(") }),
    );
  });

  it("of anything else is refused as before", () => {
    expect(() => new MessagesMemory([defineAction({ name: "A" })] as never)).toThrow(expect.objectContaining({ code: "TOOL_INVALID" }));
    expect(() => new MessagesMemory([5] as never)).toThrow(expect.objectContaining({ code: "TOOL_INVALID" }));
  });
});
