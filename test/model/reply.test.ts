import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelError } from "../../src/kernel/errors.ts";
import type { ToolCall } from "../../src/model/chat-message.ts";
import type { ChatChunk, ChatRequest, ChatResponse } from "../../src/model/chat-model.ts";
import { checkReply, MAX_REPLY_CHARS, ReplyBuilder } from "../../src/model/attempt.ts";
import { WITH_NEXT_STEP } from "./call-setup.ts";

function built(chunks: readonly ChatChunk[]): ChatResponse {
  const builder = new ReplyBuilder("m");
  for (const chunk of chunks) builder.add(chunk);
  return builder.finish();
}

/** The code of the error, which must say what to do. */
function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ModelError)) return String(error);
    expect(error.message).toMatch(WITH_NEXT_STEP);
    return error.code;
  }
  return "nothing";
}

const end: ChatChunk = { finishReason: "stop" };

describe("ReplyBuilder", () => {
  it("property: however a text is cut into pieces, it comes out whole", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (pieces) => {
        expect(built([...pieces.map((content) => ({ content })), end]).content).toBe(pieces.join(""));
      }),
    );
  });

  it("Attempt.P1 without a finish reason it is a cut answer, also with no piece at all", () => {
    expect(codeOf(() => built([{ content: "half" }]))).toBe("MODEL_CUT");
    expect(codeOf(() => built([]))).toBe("MODEL_CUT");
  });

  it("Attempt.P2 nothing may follow the end but usage and the last piece again", () => {
    const usage = { inputTokens: 1, outputTokens: 2 };
    expect(built([{ content: "a" }, end, { usage }])).toEqual({ content: "a", toolCalls: [], finishReason: "stop", usage });
    expect(
      built([
        { content: "a", finishReason: "stop" },
        { content: "a", finishReason: "stop" },
      ]).content,
    ).toBe("a");
    expect(codeOf(() => built([{ content: "a" }, end, { content: "more" }]))).toBe("MODEL_PROTOCOL");
    expect(codeOf(() => built([end, { toolCalls: [{ index: 0, arguments: "{}" }] }]))).toBe("MODEL_PROTOCOL");
  });

  it("Attempt.P3 tool calls are put together by index, names and ids set once", () => {
    const { toolCalls, finishReason } = built([
      { toolCalls: [{ index: 0, id: "c1", name: "read", arguments: "" }] },
      { toolCalls: [{ index: 0, id: "c1", name: "read", arguments: "" }] },
      { toolCalls: [{ index: 1, name: "write", arguments: '{"p' }] },
      {
        toolCalls: [
          { index: 0, arguments: '{"a":' },
          { index: 1, arguments: '":1}' },
        ],
      },
      { toolCalls: [{ index: 0, arguments: "1}" }], finishReason: "tool_calls" },
    ]);
    expect(finishReason).toBe("tool_calls");
    expect(toolCalls).toEqual([
      { id: "c1", type: "function", function: { name: "read", arguments: '{"a":1}' } },
      { id: "call00001", type: "function", function: { name: "write", arguments: '{"p":1}' } },
    ]);
  });

  it("a call without arguments has none, as JSON", () => {
    expect(built([{ toolCalls: [{ index: 0, name: "now" }], finishReason: "tool_calls" }]).toolCalls[0]?.function.arguments).toBe("{}");
  });

  it("refuses an answer that does not end", () => {
    const builder = new ReplyBuilder("m");
    const chunk = { content: "x".repeat(1024 * 1024) };
    const flood = (): void => {
      for (let sent = 0; sent <= MAX_REPLY_CHARS; sent += chunk.content.length) builder.add(chunk);
    };
    expect(codeOf(flood)).toBe("MODEL_PROTOCOL");
  });
});

describe("checkReply", () => {
  const plain: ChatRequest = { messages: [{ role: "user", content: "x" }], maxTokens: 10 };
  const withTools: ChatRequest = { ...plain, tools: [{ name: "t", description: "", parameters: {} }] };
  const reply = (fields: Partial<ChatResponse>): ChatResponse => ({ content: "text", toolCalls: [], finishReason: "stop", ...fields });
  const call = { id: "c", type: "function", function: { name: "t", arguments: "{}" } } as const;

  it("lets good answers pass", () => {
    checkReply("m", plain, reply({}));
    checkReply("m", withTools, reply({ content: "", toolCalls: [call], finishReason: "tool_calls" }));
    checkReply("m", withTools, reply({ content: "both", toolCalls: [call], finishReason: "tool_calls" }));
  });

  it.each<[string, ChatRequest, Partial<ChatResponse>]>([
    ["MODEL_REFUSED", plain, { content: "", refusal: "I cannot." }],
    ["MODEL_REFUSED", plain, { content: "", refusal: "I cannot.", finishReason: "content_filter" }],
    ["MODEL_CONTENT_FILTER", plain, { finishReason: "content_filter" }],
    ["MODEL_TRUNCATED", plain, { finishReason: "length" }],
    ["MODEL_TRUNCATED", plain, { content: "", finishReason: "length" }],
    ["MODEL_TRUNCATED", { ...withTools, toolChoice: "none" }, { content: "", toolCalls: [call], finishReason: "length" }],
    [
      "MODEL_TRUNCATED",
      withTools,
      { content: "", toolCalls: [{ ...call, function: { name: "", arguments: "" } }], finishReason: "length" },
    ],
    ["MODEL_PROTOCOL", withTools, { toolCalls: [{ id: "1", type: "function" } as unknown as ToolCall] }],
    ["MODEL_EMPTY", plain, { content: "" }],
    ["MODEL_EMPTY", plain, { content: " \n\t " }],
    ["MODEL_EMPTY", plain, { content: "", toolCalls: [call], finishReason: "tool_calls" }],
    ["MODEL_EMPTY", withTools, { content: "" }],
    ["MODEL_PROTOCOL", withTools, { toolCalls: [{ ...call, function: { name: "", arguments: "{}" } }] }],
  ])("%s", (code, request, fields) => {
    expect(codeOf(() => checkReply("m", request, reply(fields)))).toBe(code);
  });

  it("keeps the text and usage of what it refuses, a long text in part", () => {
    const usage = { inputTokens: 5, outputTokens: 10 };
    try {
      checkReply("m", plain, reply({ content: "y".repeat(50_000), finishReason: "length", usage }));
      expect.unreachable();
    } catch (error) {
      const data = (error as ModelError).data as { text: string; usage: unknown };
      expect([data.text.length, data.usage]).toEqual([20_000, usage]);
      expect((error as ModelError).message).toContain("10 tokens");
    }
  });
});
