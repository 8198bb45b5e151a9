import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestBody, type WireForm } from "../../src/model/openai-request.ts";
import { UsageError } from "../../src/kernel/errors.ts";
import type { ChatMessage, ToolCall } from "../../src/model/chat-message.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { OpenAIBodySchema } from "../../src/testing/stub-reply.ts";

const dialect: WireForm = { model: "m", maxTokensField: "max_tokens", extra: {} };
const body = (request: Partial<ChatRequest>, stream = false): Record<string, unknown> =>
  requestBody({ messages: [{ role: "user", content: "x" }], ...request }, dialect, stream);

describe("requestBody", () => {
  it("says no more than was asked", () => {
    expect(body({})).toEqual({ model: "m", messages: [{ role: "user", content: "x" }] });
    expect(body({ tools: [], stop: [], schema: { type: "text" } })).toEqual({ model: "m", messages: [{ role: "user", content: "x" }] });
  });

  it.each<[string, ChatMessage]>([
    ["a text", { role: "user", content: "cut \ud83d" }],
    ["a result", { role: "tool", toolCallId: "1", content: "\udc00 cut" }],
    ["arguments", { role: "assistant", toolCalls: [{ id: "1", type: "function", function: { name: "t", arguments: '{"a":"\ud83d"}' } }] }],
    [
      "escapes in arguments",
      { role: "assistant", toolCalls: [{ id: "1", type: "function", function: { name: "t", arguments: '{"a":"\\ud83d"}' } }] },
    ],
    [
      "reasoning",
      {
        role: "assistant",
        reasoning: { parts: { reasoning_content: "\ud83d" } },
        toolCalls: [{ id: "1", type: "function", function: { name: "t", arguments: "{}" } }],
      },
    ],
  ])("sends no half of a character: %s", (_where, message) => {
    const sent = JSON.stringify(body({ messages: [message] }));
    expect(sent).toMatch(/\ufffd|\\ufffd/);
    expect(sent).not.toMatch(/\\ud[89a-f]/i);
    expect(JSON.stringify(body({ messages: [{ role: "user", content: "\ud83e\udd8a" }] }))).toContain("\ud83e\udd8a");
  });

  it("says all that was asked, in the server's words", () => {
    const parameters = { type: "object", properties: {} };
    const full = body(
      {
        tools: [{ name: "t", description: "d", parameters }],
        toolChoice: { name: "t" },
        schema: { type: "schema", name: "reply", schema: { type: "object", properties: {}, required: [], additionalProperties: false } },
        temperature: 0,
        maxTokens: 7,
        seed: 0,
        stop: ["END"],
        extra: { reasoning_effort: "low" },
      },
      true,
    );
    expect(full).toEqual({
      model: "m",
      messages: [{ role: "user", content: "x" }],
      tools: [{ type: "function", function: { name: "t", description: "d", parameters } }],
      tool_choice: { type: "function", function: { name: "t" } },
      response_format: {
        type: "json_schema",
        json_schema: { name: "reply", strict: true, schema: { type: "object", properties: {}, required: [], additionalProperties: false } },
      },
      temperature: 0,
      max_tokens: 7,
      seed: 0,
      stop: ["END"],
      reasoning_effort: "low",
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(OpenAIBodySchema.safeParse(full).error).toBeUndefined();
  });

  it.each(["none", "auto", "required"] as const)("tool choice %s", (toolChoice) => {
    expect(body({ tools: [{ name: "t", description: "", parameters: {} }], toolChoice })["tool_choice"]).toBe(toolChoice);
  });

  it("extra fields of the model and the request go along, but what bounds and bills the call is ours", () => {
    const own: WireForm = {
      model: "m",
      maxTokensField: "max_completion_tokens",
      extra: { top_p: 0.5, model: "other", messages: "none" },
    };
    const made = requestBody(
      { messages: [{ role: "user", content: "x" }], maxTokens: 5, extra: { top_p: 0.9, max_completion_tokens: 1_000_000, stream: false } },
      own,
      true,
    );
    expect(made).toMatchObject({
      model: "m",
      top_p: 0.9,
      max_completion_tokens: 5,
      stream: true,
      messages: [{ role: "user", content: "x" }],
    });
  });

  it("pictures, as data and by address", () => {
    const images = [{ mediaType: "image/png", data: "AAAA" }, { url: "https://example.com/a.png" }];
    expect(body({ messages: [{ role: "user", content: "What is it?", images }] })["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        ],
      },
    ]);
    expect(() => body({ messages: [{ role: "system", content: "x", images }] })).toThrow(UsageError);
  });

  it("pictures of tools follow their answers, which stay together", () => {
    const call = (id: string): ToolCall => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
    const images = [{ mediaType: "image/png", data: "AAAA" }];
    const made = body({
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", toolCalls: [call("a"), call("b")] },
        { role: "tool", content: "one", toolCallId: "a", name: "look", images },
        { role: "tool", content: "two", toolCallId: "b", images },
        { role: "assistant", content: "I see." },
      ],
    });
    expect((made["messages"] as { role: string }[]).map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
      "assistant",
    ]);
    expect(OpenAIBodySchema.safeParse(made).error).toBeUndefined();
  });

  it("an assistant that only calls has no content, one that says nothing has an empty one", () => {
    const call: ToolCall = { id: "a", type: "function", function: { name: "t", arguments: "{}" } };
    const made = body({
      messages: [
        { role: "assistant", toolCalls: [call] },
        { role: "assistant" },
        { role: "assistant", content: "both", toolCalls: [call] },
      ],
    });
    expect(made["messages"]).toEqual([
      { role: "assistant", tool_calls: [call] },
      { role: "assistant", content: "" },
      { role: "assistant", content: "both", tool_calls: [call] },
    ]);
  });

  it("names of speakers are such as servers take", () => {
    expect(body({ messages: [{ role: "user", content: "x", name: "Alice <PM> B." }] })["messages"]).toEqual([
      { role: "user", content: "x", name: "Alice__PM__B_" },
    ]);
    expect(body({ messages: [{ role: "user", content: "x", name: "" }] })["messages"]).toEqual([{ role: "user", content: "x" }]);
  });

  it("property: whatever a sound request says, an OpenAI server takes it", () => {
    const image = fc.oneof(
      fc.record({ mediaType: fc.constantFrom("image/png", "image/jpeg"), data: fc.base64String({ minLength: 4 }) }),
      fc.record({ url: fc.constant("https://example.com/a.png") }),
    );
    const said = fc.record(
      { role: fc.constantFrom("system" as const, "assistant" as const), content: fc.string(), name: fc.string() },
      { requiredKeys: ["role"] },
    );
    const asked = fc.record(
      { role: fc.constant("user" as const), content: fc.string(), name: fc.string(), images: fc.array(image) },
      { requiredKeys: ["role"] },
    );
    const called = fc
      .array(fc.record({ output: fc.string(), images: fc.array(image) }), { minLength: 1, maxLength: 3 })
      .map((outputs): ChatMessage[] => [
        {
          role: "assistant",
          toolCalls: outputs.map((_, n) => ({ id: `c${n}`, type: "function", function: { name: "t", arguments: "{}" } })),
        },
        ...outputs.map((output, n): ChatMessage => ({ role: "tool", content: output.output, toolCallId: `c${n}`, images: output.images })),
      ]);
    const messages = fc
      .array(
        fc.oneof(
          said.map((m) => [m]),
          asked.map((m) => [m]),
          called,
        ),
        { minLength: 1 },
      )
      .map((turns) => turns.flat() as ChatMessage[]);
    const request = fc.record(
      {
        messages,
        temperature: fc.double({ min: 0, max: 2, noNaN: true }),
        maxTokens: fc.integer({ min: 1, max: 100_000 }),
        seed: fc.integer(),
        stop: fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }),
        tools: fc.constant([{ name: "t", description: "d", parameters: { type: "object" } }]),
      },
      { requiredKeys: ["messages"] },
    );
    fc.assert(
      fc.property(request, fc.boolean(), (asks, stream) => {
        expect(OpenAIBodySchema.safeParse(JSON.parse(JSON.stringify(requestBody(asks, dialect, stream)))).error).toBeUndefined();
      }),
    );
  });
});
