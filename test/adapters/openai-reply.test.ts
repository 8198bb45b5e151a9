import { describe, expect, it } from "vitest";
import { ReplyReader } from "../../src/adapters/openai-reply.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import type { ChatChunk } from "../../src/model/chat-model.ts";
import { ReplyBuilder } from "../../src/model/attempt.ts";

const whole = (data: unknown): ChatChunk => new ReplyReader("m").whole(data);
const message = (fields: object, more: object = {}): object => ({
  choices: [{ message: { role: "assistant", ...fields }, finish_reason: "stop" }],
  ...more,
});
const delta = (fields: object, finish_reason: string | null = null): object => ({ choices: [{ delta: fields, finish_reason }] });

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof ModelError ? error.code : String(error);
  }
  return "nothing";
}

describe("ReplyReader", () => {
  it("reads a whole reply", () => {
    expect(
      whole(
        message(
          { content: "Hi", refusal: null },
          { usage: { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 2 } } },
        ),
      ),
    ).toEqual({
      content: "Hi",
      finishReason: "stop",
      usage: { inputTokens: 3, outputTokens: 1, cachedTokens: 2 },
    });
  });

  it("reads text in parts, and passes over thoughts", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "Hi" },
    ];
    expect(whole(message({ content })).content).toBe("Hi");
  });

  it.each<[unknown, unknown]>([
    [
      { prompt_tokens: 3, completion_tokens: 1, prompt_cache_hit_tokens: 2 },
      { inputTokens: 3, outputTokens: 1, cachedTokens: 2 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } },
      { inputTokens: 3, outputTokens: 1 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: null },
      { inputTokens: 3, outputTokens: 1 },
    ],
    [{ prompt_tokens: -3, completion_tokens: 1 }, undefined],
    [{ prompt_tokens: "3", completion_tokens: 1 }, undefined],
    [{ prompt_tokens: 3 }, undefined],
    [null, undefined],
    ["many", undefined],
  ])("usage %j", (usage, expected) => {
    expect(whole(message({ content: "x" }, { usage })).usage).toEqual(expected);
  });

  it.each([
    ["stop", "stop"],
    ["STOP", "stop"],
    ["eos", "stop"],
    ["end_turn", "stop"],
    ["length", "length"],
    ["MAX_TOKENS", "length"],
    ["model_length", "length"],
    ["tool_calls", "tool_calls"],
    ["function_call", "tool_calls"],
    ["content_filter", "content_filter"],
    ["SAFETY", "content_filter"],
  ])("the end %s", (reason, expected) => {
    expect(whole({ choices: [{ message: { content: "x" }, finish_reason: reason }] }).finishReason).toBe(expected);
  });

  it("a failure of the server is no end, and none is none", () => {
    expect(codeOf(() => whole({ choices: [{ message: { content: "x" }, finish_reason: "insufficient_system_resource" }] }))).toBe(
      "MODEL_CUT",
    );
    expect(codeOf(() => whole({ choices: [{ message: { content: "x" }, finish_reason: 7 }] }))).toBe("MODEL_PROTOCOL");
    for (const none of [undefined, null, ""])
      expect(whole({ choices: [{ message: { content: "x" }, finish_reason: none }] }).finishReason).toBeUndefined();
  });

  it.each([
    null,
    [],
    "text",
    {},
    { hello: "world" },
    { choices: [] },
    { choices: null },
    { choices: {} },
    { choices: ["x"] },
    { choices: [{}] },
    { choices: [{ message: "x" }] },
    { choices: [{ message: { content: 7 } }] },
    { choices: [{ message: { content: [7] } }] },
    { choices: [{ message: { content: "x", tool_calls: "t" } }] },
    { choices: [{ message: { content: "x", tool_calls: ["t"] } }] },
    { choices: [{ message: { content: "x", tool_calls: [{ function: "t" }] } }] },
  ])("%j is no reply", (data) => {
    expect(codeOf(() => whole(data))).toBe("MODEL_PROTOCOL");
  });

  it.each([
    null,
    [],
    "text",
    7,
    { choices: "none" },
    { choices: [null] },
    { choices: [{ delta: [] }] },
    { choices: [{ delta: { content: {} } }] },
  ])("%j is no piece", (data) => {
    expect(codeOf(() => new ReplyReader("m").piece(data))).toBe("MODEL_PROTOCOL");
  });

  it("names the kind of choices that are no list", () => {
    expect(() => whole({ choices: null })).toThrow("got null");
    expect(() => whole({})).toThrow("got undefined");
  });

  it("pieces may say nothing: usage alone, no choices, an empty delta", () => {
    const reader = new ReplyReader("m");
    expect(reader.piece({ choices: [] })).toEqual({});
    expect(reader.piece({})).toEqual({});
    expect(reader.piece({ choices: [{ finish_reason: null }] })).toEqual({});
    expect(reader.piece(delta({ role: "assistant", content: null }))).toEqual({});
    expect(reader.piece({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } })).toEqual({
      usage: { inputTokens: 1, outputTokens: 2 },
    });
  });

  function callsOf(pieces: readonly object[]): unknown[] {
    const reader = new ReplyReader("m");
    const builder = new ReplyBuilder("m");
    for (const piece of pieces) builder.add(reader.piece(piece));
    const { toolCalls, finishReason } = builder.finish();
    return [finishReason, ...toolCalls.map((call) => [call.id, call.function.name, call.function.arguments])];
  }

  it("tool calls in pieces, two at a time", () => {
    expect(
      callsOf([
        delta({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "read", arguments: "" } }] }),
        delta({ tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "write", arguments: "" } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '{"p":' } }] }),
        delta({ tool_calls: [{ index: 1, function: { arguments: "{}" } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }),
        delta({}, "tool_calls"),
      ]),
    ).toEqual(["tool_calls", ["a", "read", '{"p":1}'], ["b", "write", "{}"]]);
  });

  it("servers that number no calls, end with stop, send arguments as objects, or leave out ids", () => {
    expect(
      callsOf([
        delta({ tool_calls: [{ id: "a", function: { name: "read", arguments: '{"p":' } }] }),
        delta({ tool_calls: [{ function: { arguments: "1}" } }] }),
        delta({ tool_calls: [{ id: "b", function: { name: "write", arguments: { q: 2 } } }] }),
        delta({}, "stop"),
      ]),
    ).toEqual(["tool_calls", ["a", "read", '{"p":1}'], ["b", "write", '{"q":2}']]);
    expect(callsOf([delta({ tool_calls: [{ function: { name: "now" } }, { function: { name: "then" } }] }), delta({}, "stop")])).toEqual([
      "tool_calls",
      ["call00000", "now", "{}"],
      ["call00001", "then", "{}"],
    ]);
  });
});
