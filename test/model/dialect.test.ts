import { beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/kernel/json.ts";
import {
  checkDialect,
  type Dialect,
  type DialectPlace,
  inDialect,
  keepLessons,
  learn,
  learntDialect,
  type Lesson,
  merged,
} from "../../src/model/dialect.ts";
import { lessonOf } from "../../src/model/dialect-lessons.ts";
import type { ServerSaid } from "../../src/model/server-error.ts";

const call = { id: "call_abc", type: "function", function: { name: "add", arguments: "{}" } };
const body: JsonObject = {
  model: "m",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "One." },
    { role: "user", content: "Two." },
    { role: "assistant", reasoning_content: "Hm.", tool_calls: [call] },
    { role: "tool", tool_call_id: "call_abc", content: "3" },
  ],
  tools: [
    {
      type: "function",
      function: {
        name: "add",
        description: "",
        parameters: { type: "object", properties: { pattern: { type: "string", pattern: "a", const: "x" } }, additionalProperties: false },
      },
    },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  temperature: 0.2,
  seed: 1,
  stop: ["x"],
  max_tokens: 16_384,
  stream: true,
  stream_options: { include_usage: true },
  response_format: { type: "json_schema", json_schema: { name: "reply", schema: { type: "object" }, strict: true } },
};
const taught = (message: string, more: Partial<ServerSaid> = {}, known: Dialect = {}): unknown => {
  const lesson = lessonOf({ status: 400, message, ...more }, body, known);
  return lesson && { ...lesson.dialect, ...(lesson.maxTokens === undefined ? {} : { only: lesson.maxTokens }) };
};

describe("a refusal teaches", () => {
  it.each<[string, string, object | undefined, Partial<ServerSaid>?]>([
    [
      "OpenAI",
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { maxTokensField: "max_completion_tokens" },
      { param: "max_tokens", code: "unsupported_parameter" },
    ],
    ["a gateway", "Unrecognized request argument supplied: max_tokens", { maxTokensField: "max_completion_tokens" }],
    ["DeepSeek", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", { maxTokens: 8_192 }],
    [
      "OpenAI, too many",
      "max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided 16384.",
      { maxTokens: 4_096 },
    ],
    [
      "Anthropic",
      "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku",
      { maxTokens: 8_192 },
    ],
    ["Qwen", "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", { maxTokens: 8_192 }],
    [
      "Groq",
      "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
      { maxTokens: 8_192 },
    ],
    [
      "vLLM",
      "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens and your request has 50 input tokens (16384 > 8192 - 50).",
      { window: 8_192, only: 8_134 },
    ],
    [
      "vLLM, older",
      "This model's maximum context length is 8192 tokens. However, you requested 16410 tokens (26 in the messages, 16384 in the completion).",
      { window: 8_192, only: 8_158 },
    ],
    [
      "Anthropic's window",
      "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000, decrease input length or `max_tokens` and try again",
      { window: 200_000, only: 9_992 },
    ],
    [
      "a full window",
      "This model's maximum context length is 8192 tokens. However, you requested 25384 tokens (9000 in the messages, 16384 in the completion).",
      undefined,
    ],
    ["stream_options", "Unrecognized request argument supplied: stream_options", { omit: ["stream_options"] }],
    [
      "FastAPI",
      "body.stream_options: Extra inputs are not permitted",
      { omit: ["stream_options"] },
      { status: 422, param: "stream_options" },
    ],
    ["parallel calls", "Unknown parameter: 'parallel_tool_calls'.", { omit: ["parallel_tool_calls"] }],
    [
      "temperature",
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      { omit: ["temperature"] },
      { param: "temperature" },
    ],
    ["a seed", "property 'seed' is unsupported", { omit: ["seed"] }],
    ["streams", "Streaming is not supported for this model", { stream: false }],
    [
      "schemas",
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
      { format: "json" },
      { param: "response_format" },
    ],
    ["formats", "'response_format.type' must be 'json_schema' or 'text'", { format: "text" }],
    ["no formats", "Unrecognized request argument supplied: response_format", { format: "text" }],
    ["no formats, says FastAPI", "body.response_format: Extra inputs are not permitted", { format: "text" }, { param: "response_format" }],
    ["several fields", "Unrecognized request arguments supplied: seed, stream_options", { omit: ["stream_options", "seed"] }],
    [
      "several fields, each with its fault",
      "body.stream_options: Extra inputs are not permitted; body.max_tokens: Extra inputs are not permitted; body.seed: Extra inputs are not permitted",
      { maxTokensField: "max_completion_tokens", omit: ["stream_options", "seed"] },
      { status: 422, param: "stream_options" },
    ],
    ["one field of two that are named", "Unsupported value: 'temperature' is not supported with 'seed'.", { omit: ["temperature"] }],
    ["a server of llama.cpp", "failed to parse grammar", { format: "json" }, { status: 500 }],
    ["system messages", "System role not supported", { system: false }],
    ["system messages of a small model", "Developer instruction is not enabled for models/gemma-3-27b-it", { system: false }],
    [
      "roles in turns",
      "Jinja Exception: After the optional system message, conversation roles must alternate user/assistant",
      { alternates: true },
      { status: 500 },
    ],
    [
      "roles in turns, Perplexity",
      "After the (optional) system message(s), user and assistant roles should be alternating.",
      { alternates: true },
    ],
    ["ids of calls", "Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.", { shortIds: true }],
    ["ids of calls, Anthropic", "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", { shortIds: true }],
    ["names of tools", "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.", { toolNames: true }],
    ["reasoning that is missing", "Missing `reasoning_content` field in the assistant message at message index 1.", { reasoning: true }],
    [
      "reasoning that is not wanted",
      "property 'reasoning_content' is unsupported",
      { omitInMessages: ["reasoning_content"], reasoning: false },
    ],
    [
      "words of schemas",
      `Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0]': Cannot find field.`,
      { omitInSchemas: ["additionalProperties"] },
    ],
    ["a key", "Incorrect API key provided", undefined, { status: 401 }],
    ["a limit", "Rate limit reached for max_tokens", undefined, { status: 429 }],
    ["a model", "The model 'temperature' does not exist", undefined, { status: 403 }],
    ["a failure", "temperature sensor not supported", undefined, { status: 503 }],
    ["something else", "Your message is not polite", undefined],
  ])("%s", (_who, message, expected, more) => {
    expect(taught(message, more)).toEqual(expected);
  });

  it("no limit at all where both names are refused", () => {
    const known: Dialect = { maxTokensField: "max_tokens" };
    expect(taught("Unrecognized request argument supplied: max_tokens", {}, known)).toEqual({ maxTokensField: "none" });
  });
});

describe("a request in a dialect", () => {
  const messagesIn = (dialect: Dialect): readonly JsonObject[] => inDialect(body, dialect)["messages"] as unknown as readonly JsonObject[];

  it("of OpenAI is the same object", () => {
    expect(inDialect(body, {})).toBe(body);
    expect(inDialect(body, { format: "schema", system: true, maxTokens: 20_000 })).toBe(body);
  });

  it.each<[string, Dialect, object]>([
    ["without fields", { omit: ["temperature", "seed"] }, { temperature: undefined, seed: undefined, stop: ["x"] }],
    ["another field", { maxTokensField: "max_completion_tokens" }, { max_tokens: undefined, max_completion_tokens: 16_384 }],
    ["no limit", { maxTokensField: "none" }, { max_tokens: undefined }],
    ["a smaller limit", { maxTokens: 4_096 }, { max_tokens: 4_096 }],
    ["a plainer format", { format: "json" }, { response_format: { type: "json_object" } }],
    ["no format", { format: "text" }, { response_format: undefined }],
  ])("%s", (_what, dialect, expected) => {
    const spoken = inDialect(body, dialect);
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, spoken[name]]))).toEqual(expected);
  });

  it("leaves room for the request in a small window", () => {
    const { max_tokens: limit } = inDialect(body, { window: 1_000 });
    expect(limit).toBeGreaterThan(500);
    expect(limit).toBeLessThan(950);
  });

  it("states the schema in words where the server does not enforce it", () => {
    expect(messagesIn({ format: "text" }).at(-1)).toMatchObject({
      role: "user",
      content: expect.stringContaining('{"type":"object"}') as string,
    });
  });

  it("has messages as the server wants them", () => {
    expect(messagesIn({ system: false }).map(({ role }) => role)).toEqual(["user", "user", "assistant", "tool"]);
    expect(messagesIn({ system: false })[0]).toMatchObject({ content: "Be brief.\n\nOne." });
    expect(messagesIn({ alternates: true }).map(({ content }) => content)).toEqual(["Be brief.", "One.\n\nTwo.", undefined, "3"]);
    expect(messagesIn({ toolNames: true }).at(-1)).toMatchObject({ name: "add" });
    const [asked, answered] = messagesIn({ shortIds: true }).slice(-2) as unknown as [
      { tool_calls: [typeof call] },
      { tool_call_id: string },
    ];
    expect(asked.tool_calls[0].id).toMatch(/^[a-z0-9]{9}$/);
    expect(answered.tool_call_id).toBe(asked.tool_calls[0].id);
    expect(messagesIn({ omitInMessages: ["reasoning_content"] })[3]).not.toHaveProperty("reasoning_content");
  });

  it("has schemas without words, but not without members of their names", () => {
    const [tool] = inDialect(body, { omitInSchemas: ["pattern", "additionalProperties"] })["tools"] as unknown as readonly JsonObject[];
    expect(tool).toMatchObject({ function: { parameters: { properties: { pattern: { type: "string", const: "x" } } } } });
    expect(JSON.stringify(tool)).not.toContain("additionalProperties");
    const tuple = {
      tools: [{ function: { parameters: { type: "array", prefixItems: [{ type: "string" }], items: false } } }],
      messages: [],
    };
    expect(inDialect(tuple, { omitInSchemas: ["prefixItems"] })["tools"]).toEqual([
      { function: { parameters: { type: "array", items: { anyOf: [{ type: "string" }] } } } },
    ]);
  });
});

describe("lessons", () => {
  const DAY = 86_400_000;
  let place: DialectPlace = { baseURL: "http://host/v1", model: "m", key: "" };
  beforeEach(() => void (place = { ...place, key: `tenant ${place.key.length} ${Math.floor(performance.now() * 1_000)}` }));

  it("add up, hold for a day, and are those of one tenant, server and model", () => {
    learn(place, { omit: ["seed"] }, 0);
    learn(place, { omit: ["stop"], maxTokens: 10 }, DAY / 2);
    expect(learntDialect(place, DAY - 1)).toEqual({ omit: ["seed", "stop"], maxTokens: 10 });
    expect(learntDialect(place, DAY)).toEqual({ omit: ["stop"], maxTokens: 10 });
    expect(learntDialect(place, 2 * DAY)).toEqual({});
    expect(learntDialect({ ...place, key: `${place.key} of another` }, 1)).toEqual({});
  });

  it("outlive the process where a store keeps them, and are known before those of the process", () => {
    const added: Lesson[] = [];
    const of = (): readonly Lesson[] => [
      { dialect: { maxTokens: 5, stream: false }, at: 0 },
      { dialect: { tools: false }, at: 3 * DAY },
    ];
    const stop = keepLessons({ of, add: (_place, lesson) => void added.push(lesson) });
    learn(place, { maxTokens: 4 }, 1);
    expect([learntDialect(place, 2), added]).toEqual([{ maxTokens: 4, stream: false }, [{ dialect: { maxTokens: 4 }, at: 1 }]]);
    stop();
    learn(place, { omit: ["seed"] }, 2);
    expect([learntDialect(place, 3), added.length]).toEqual([{ maxTokens: 4, omit: ["seed"] }, 1]);
  });

  it("lose against what a program says", () => {
    expect(merged({ maxTokensField: "none", omit: ["seed"] }, { maxTokensField: "max_tokens" })).toEqual({
      maxTokensField: "max_tokens",
      omit: ["seed"],
    });
    expect(() => checkDialect({ maxTokens: 0 })).toThrow(expect.objectContaining({ code: "DIALECT_INVALID" }));
    expect(() => checkDialect({ streams: true } as never)).toThrow(expect.objectContaining({ code: "DIALECT_INVALID" }));
  });
});
