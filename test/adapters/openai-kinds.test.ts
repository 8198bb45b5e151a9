import { describe, expect, it } from "vitest";
import { complaintIn, saidBy } from "../../src/adapters/openai-complaint.ts";
import { openai } from "../../src/adapters/openai.ts";
import { ReplyReader } from "../../src/adapters/openai-reply.ts";
import { ReplyBuilder } from "../../src/model/attempt.ts";
import type { ChatChunk, ChatResponse } from "../../src/model/chat-model.ts";
import { serverError } from "../../src/model/server-error.ts";
import { titled } from "../titled.ts";

/*
 * The real answers of servers of OpenAI's protocol, by kind. Each kind has inputs that differ in form.
 */

const said = (body: unknown, status?: number, headers: Record<string, string> = {}): ReturnType<typeof saidBy> | undefined => {
  const complaint = complaintIn(body, status !== undefined);
  const heard = { status, headers: new Headers(headers), began: false, mask: (text: string) => text, now: 1_000 };
  return complaint && saidBy(complaint, heard);
};
const codeOf = (body: unknown, status = 400): string => {
  const words = said(body, status);
  return words === undefined ? "none" : serverError("m", words, false).code;
};
const piece = (delta: object, finish_reason: string | null = null, more: object = {}): object => ({
  choices: [{ index: 0, delta, finish_reason, ...more }],
});

function replyOf(pieces: readonly object[]): ChatResponse {
  const [reader, builder] = [new ReplyReader("m"), new ReplyBuilder("m")];
  for (const one of pieces) builder.add(reader.piece(one));
  return builder.finish();
}

const whole = (data: unknown): ChatChunk => new ReplyReader("m").whole(data);
const wholeOf = (message: object, more: object = {}, finish_reason: unknown = "stop"): object => ({
  choices: [{ message: { role: "assistant", ...message }, finish_reason }],
  ...more,
});

describe("a refusal", () => {
  it.each<[string, unknown, string]>([
    ["at the top, as older vLLM", { object: "error", message: "m", code: 400 }, "m"],
    ["under detail, as FastAPI", { detail: "m" }, "m"],
    ["under detail, in a list", { detail: [{ loc: ["body", "stop"], msg: "m" }] }, "body.stop: m"],
    ["anywhere else", { oops: 1 }, '{"oops":1}'],
    ["as a bare string", "m", "m"],
  ])("complains %s", (_where, body, message) => {
    expect(said(body, 400, { "x-request-id": "r" })).toMatchObject({ status: 400, message, requestId: "r" });
  });

  it.each([
    [
      "of a body that breaks",
      new ReadableStream({ start: (controller) => controller.error(new TypeError("terminated")) }),
      "no explanation",
    ],
    ["of an empty body", "", "no explanation"],
    [
      "of a body that does not end",
      new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode("x".repeat(10_000))) }),
      "xxx",
    ],
    ["of a page", "<html>", "<html>"],
  ])("%s still has its status", async (_what, body, message) => {
    const fetch = (): Promise<Response> => Promise.resolve(new Response(body, { status: 503 }));
    const model = openai({ model: "m", apiKey: "k", baseURL: "http://127.0.0.1:1/v1", fetch });
    const answer = model.chat({ messages: [{ role: "user", content: "x" }] }, { signal: new AbortController().signal });
    await expect(answer).rejects.toMatchObject({
      code: "MODEL_SERVER",
      data: { status: 503 },
      message: expect.stringContaining(message) as string,
    });
  });
});

describe("an error in an answer of status 200", () => {
  it.each<[string, unknown, object]>([
    ["one-api", { code: 1113, msg: "in arrears", success: false }, { message: "in arrears", code: "1113" }],
    ["vLLM", { object: "error", message: "too long", type: "BadRequestError", code: 400 }, { message: "too long", status: 400 }],
    ["without choices", { choices: null, error_type: "BadRequestError", error_message: "too long", error_code: 400 }, { status: 400 }],
    ["Anthropic", { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, { message: "Overloaded", status: 529 }],
    [
      "OpenRouter",
      { error: { code: 502, message: "Provider returned error", metadata: { raw: "upstream died" } } },
      { status: 502, message: "Provider returned error: upstream died" },
    ],
    [
      "a choice",
      { choices: [{ index: 0, error: { code: 429, message: "slow" }, finish_reason: "error" }] },
      { status: 429, message: "slow" },
    ],
    ["MiniMax", { choices: [], base_resp: { status_code: 1008, status_msg: "insufficient balance" } }, { message: "insufficient balance" }],
    ["Gemini", [{ error: { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED" } }], { status: 429 }],
    ["Cloudflare", { success: false, errors: [{ code: 7009, message: "no such model" }] }, { message: "no such model", code: "7009" }],
    ["another server's error inside", { error: "503 x", status: 503, details: { error: { message: "busy" } } }, { message: "busy" }],
    ["JSON in its words", { error: { message: "failed", cause: '{"error":{"message":"too long"}}', code: 400 } }, { message: "too long" }],
    ["Gemini, a prompt", { promptFeedback: { blockReason: "SAFETY" }, choices: [] }, { code: "content_filter" }],
    ["a string", { error: "no such model" }, { message: "no such model" }],
  ])("%s", (_who, body, expected) => {
    expect(said(body)).toMatchObject(expected);
  });

  it.each([
    piece({ content: "error" }),
    { choices: [] },
    { choices: [], usage: { prompt_tokens: 1 } },
    { choices: [], base_resp: { status_code: 0, status_msg: "" } },
    { id: "x", object: "chat.completion.chunk" },
    { error: null, choices: [{ delta: {} }] },
  ])("%j is none", (body) => {
    expect(said(body)).toBeUndefined();
  });
});

/** A model at a server that answers a body of a type. */
async function answered(body: string | readonly string[], type: string, stream = true): Promise<string> {
  const text = typeof body === "string" ? body : body.map((one) => `data: ${one}\n\n`).join("");
  const fetch = (): Promise<Response> => Promise.resolve(new Response(text, { headers: { "content-type": type } }));
  const model = openai({ model: "m", apiKey: "k", baseURL: "http://127.0.0.1:1/v1", stream, fetch });
  const o = { signal: new AbortController().signal };
  if (!stream) return (await model.chat({ messages: [{ role: "user", content: "x" }] }, o)).content;
  const builder = new ReplyBuilder("m");
  for await (const chunk of model.stream({ messages: [{ role: "user", content: "x" }] }, o)) builder.add(chunk);
  return builder.finish().content;
}

describe("a body is read by what it is", () => {
  const message = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "fine" }, finish_reason: "stop" }] });
  const events = JSON.stringify(piece({ content: "fine" }, "stop"));
  it.each<[string, string | readonly string[], string]>([
    ["events as JSON", [events, "[DONE]"], "application/json"],
    ["JSON as text", message, "text/plain"],
    ["JSON as events, behind spaces", `\n\n ${message}`, "text/event-stream"],
    ["an empty event", `data:\n\ndata: ${events}\n\ndata: [DONE]\n\n`, "text/event-stream"],
    ["comments before JSON", `: ping\n\n: ping\n\n${message}`, "application/json"],
    ["a prefix twice", `data: data: ${events}\n\ndata: data: [DONE]\n\n`, "text/event-stream"],
    [
      "a list of pieces",
      `[${JSON.stringify(piece({ content: "fi" }))},${JSON.stringify(piece({ content: "ne" }, "stop"))}]`,
      "application/json",
    ],
    ["comments and other fields", `: ping\n\nid: 1\nretry: 5\nevent: chunk\ndata:${events}\n\n`, "text/event-stream"],
    ["line ends of Windows, and no end", `data: ${events}\r\n\r\ndata: [DONE]`, "text/event-stream"],
    ["a whole message as the only event", [message, "[DONE]"], "text/event-stream"],
    [
      "an event of several lines",
      `data: ${events.slice(0, 20)}\ndata: ${events.slice(20)}\n\n`.replace('"index"\ndata: ', '"index"'),
      "text/event-stream",
    ],
    [
      "a value in each line",
      `${JSON.stringify(piece({ content: "fi" }))}\n${JSON.stringify(piece({ content: "ne" }, "stop"))}\n`,
      "application/x-ndjson",
    ],
  ])("%s", async (_what, body, type) => {
    expect(await answered(body, type)).toBe("fine");
    expect(await answered(body, type, false)).toBe("fine");
  });

  it.each(["<html><body>Sign in</body></html>", "{", '{"choices": "x"}', "[1]"])("%j is no answer", async (body) => {
    await expect(answered(body, "text/event-stream")).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });
});

describe("usage", () => {
  const counts = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  it.each<[string, object, object]>([
    ["at the top", { usage: counts }, { inputTokens: 10, outputTokens: 5 }],
    ["of Groq", { x_groq: { usage: counts } }, { inputTokens: 10, outputTokens: 5 }],
    [
      "of Gemini",
      { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 30 } },
      { inputTokens: 10, outputTokens: 20 },
    ],
    [
      "of Anthropic",
      { usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 4 } },
      { inputTokens: 10, outputTokens: 5, cachedTokens: 4 },
    ],
    ["of llama.cpp", { timings: { cache_n: 7, prompt_n: 3, predicted_n: 5 } }, { inputTokens: 10, outputTokens: 5 }],
    ["of Cohere", { meta: { billed_units: { input_tokens: 10, output_tokens: 5 } } }, { inputTokens: 10, outputTokens: 5 }],
    ["of Ollama", { prompt_eval_count: 10, eval_count: 5 }, { inputTokens: 10, outputTokens: 5 }],
    [
      "of Gemini without a total",
      { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 9 } },
      { outputTokens: 14 },
    ],
    ["with reasoning beside", { usage: { ...counts, total_tokens: 1_015 } }, { outputTokens: 1_005 }],
    ["with reasoning inside", { usage: { ...counts, completion_tokens_details: { reasoning_tokens: 4 } } }, { outputTokens: 5 }],
  ])("%s", (_where, more, expected) => {
    expect(replyOf([{ ...piece({ content: "x" }, "stop"), ...more }]).usage).toMatchObject(expected);
  });

  it.each(
    titled<readonly [unknown, unknown]>([
      [
        { ...counts, prompt_tokens_details: { cached_tokens: 2 } },
        { inputTokens: 10, outputTokens: 5, cachedTokens: 2 },
      ],
      [
        { ...counts, prompt_cache_hit_tokens: 2 },
        { inputTokens: 10, outputTokens: 5, cachedTokens: 2 },
      ],
      [
        { ...counts, prompt_tokens_details: { cached_tokens: 19 } },
        { inputTokens: 10, outputTokens: 5 },
      ],
      [
        { ...counts, prompt_tokens_details: null },
        { inputTokens: 10, outputTokens: 5 },
      ],
      [{ ...counts, prompt_tokens: -3 }, undefined],
      [{ ...counts, prompt_tokens: "3" }, undefined],
      [{ prompt_tokens: 3 }, undefined],
      [null, undefined],
      ["many", undefined],
    ]),
  )("of a whole reply: %s", (_case, usage, expected) => {
    const told = expected === undefined ? {} : { usage: expected };
    expect(whole(wholeOf({ content: "x", refusal: null }, { usage }))).toEqual({ content: "x", finishReason: "stop", ...told });
  });

  it("in the choice", () => {
    expect(replyOf([piece({ content: "x" }, "stop", { usage: counts })]).usage).toEqual({ inputTokens: 10, outputTokens: 5 });
  });
});

describe("calls", () => {
  const named = (args: unknown, more: object = {}): object => ({ type: "function", function: { name: "add", arguments: args }, ...more });
  const [A, B] = ['{"a":1}', '{"b":2}'];
  const both = [
    ["add", A],
    ["add", B],
  ];
  it.each<[string, readonly object[], unknown]>([
    [
      "of one index, without ids",
      [piece({ tool_calls: [named(A, { index: 0, id: "" })] }), piece({ tool_calls: [named(B, { index: 0, id: "" })] })],
      both,
    ],
    [
      "of one index and one id",
      [piece({ tool_calls: [named(A, { index: 0, id: "x" })] }), piece({ tool_calls: [named(B, { index: 0, id: "x" })] })],
      both,
    ],
    ["of one index, in one piece", [piece({ tool_calls: [named(A, { index: 0 }), named(B, { index: 0 })] })], both],
    [
      "that come twice",
      [piece({ tool_calls: [named(A, { index: 0, id: "x" })] }), piece({ tool_calls: [named(A, { index: 0, id: "x" })] })],
      [["add", A]],
    ],
    [
      "with a name in pieces",
      [
        piece({ tool_calls: [{ index: 0, id: "x", function: { name: "ad" } }] }),
        piece({ tool_calls: [{ index: 0, function: { name: "d" } }] }),
        piece({ tool_calls: [{ index: 0, function: { arguments: A } }] }),
      ],
      [["add", A]],
    ],
    [
      "with a name that grows",
      [
        piece({ tool_calls: [{ index: 0, id: "x", function: { name: "ad" } }] }),
        piece({ tool_calls: [{ index: 0, function: { name: "add", arguments: A } }] }),
      ],
      [["add", A]],
    ],
    ["beside nothing", [piece({ tool_calls: [null, named(A)] })], [["add", A]]],
    ["by key", [piece({ tool_calls: { 0: named(A) } })], [["add", A]]],
    ["as a string", [piece({ tool_calls: JSON.stringify([named(A)]) })], [["add", A]]],
    ["of another spelling", [piece({ toolCalls: [{ name: "add", args: { a: 1 } }] })], [["add", A]]],
    ["behind an empty list", [piece({ tool_calls: [], function_call: { name: "add", arguments: A } })], [["add", A]]],
    ["as a part of the content", [piece({ content: [{ type: "tool_use", id: "x", name: "add", input: { a: 1 } }] })], [["add", A]]],
    ["that are no list", [piece({ tool_calls: named(A) })], [["add", A]]],
    ["without the inner object", [piece({ tool_calls: [{ index: 0, id: "x", name: "add", arguments: { a: 1 } }] })], [["add", A]]],
    [
      "of the old form",
      [piece({ function_call: { name: "add", arguments: "" } }), piece({ function_call: { arguments: A } })],
      [["add", A]],
    ],
    [
      "in pieces, two at a time",
      [
        piece({ tool_calls: [{ index: 0, id: "x", function: { name: "add", arguments: "" } }] }),
        piece({ tool_calls: [{ index: 1, id: "x", function: { name: "add", arguments: "" } }] }),
        piece({ tool_calls: [{ index: 0, function: { arguments: A.slice(0, 3) } }] }),
        piece({ tool_calls: [{ index: 1, function: { arguments: B } }] }),
        piece({ tool_calls: [{ index: 0, function: { arguments: A.slice(3) } }] }),
      ],
      both,
    ],
    [
      "without numbers, with arguments in pieces and as an object",
      [
        piece({ tool_calls: [{ id: "x", function: { name: "add", arguments: A.slice(0, 3) } }] }),
        piece({ tool_calls: [{ function: { arguments: A.slice(3) } }] }),
        piece({ tool_calls: [{ id: "y", function: { name: "add", arguments: { b: 2 } } }] }),
      ],
      both,
    ],
    [
      "without numbers, ids and arguments",
      [piece({ tool_calls: [{ function: { name: "now" } }, { function: { name: "then" } }] })],
      [
        ["now", "{}"],
        ["then", "{}"],
      ],
    ],
    ["of the old form, whole", [{ choices: [{ message: { function_call: { name: "add", arguments: A } } }] }], [["add", A]]],
  ])("%s", (_what, pieces, expected) => {
    const { toolCalls, finishReason } = replyOf([...pieces, piece({}, "stop")]);
    expect(toolCalls.map(({ function: { name, arguments: args } }) => [name, args])).toEqual(expected);
    expect(finishReason).toBe("tool_calls");
    for (const { id } of toolCalls) expect(id).toMatch(/^(?:[xy]|call\d{5})$/);
  });
});

describe("ends, choices and content", () => {
  it.each([
    ["stop", "stop STOP eos end_turn eos_found FINISH_REASON_STOP some_new_end"],
    ["length", "length MAX_TOKENS model_length MAX_OUTPUT_TOKENS model_context_window_exceeded"],
    ["tool_calls", "tool_calls function_call toolUse"],
    ["content_filter", "content_filter SAFETY RECITATION PROHIBITED_CONTENT sensitive ERROR_TOXIC"],
  ])("ends by %s, which servers call %s", (expected, words) => {
    for (const reason of words.split(" ")) {
      expect(replyOf([piece({ content: "x" }, reason)]).finishReason, reason).toBe(expected);
      expect(whole(wholeOf({ content: "x" }, {}, reason)).finishReason, reason).toBe(expected);
    }
  });

  it.each(["error", "network_error", "insufficient_system_resource", "MALFORMED_FUNCTION_CALL", "abort"])("%s is a failure", (reason) => {
    expect(() => replyOf([piece({ content: "x" }, reason)])).toThrow(expect.objectContaining({ code: "MODEL_CUT" }));
  });

  it.each([undefined, null, ""])("%j is no end", (none) => {
    expect(whole({ choices: [{ message: { content: "x" }, finish_reason: none }] }).finishReason).toBeUndefined();
  });

  it("reads one of several choices, in turns and side by side", () => {
    const choice = (index: number, content: string, end: string | null = null): object => ({
      choices: [{ index, delta: { content }, finish_reason: end }],
    });
    expect(replyOf([choice(0, "one"), choice(1, "TWO"), choice(0, "", "stop"), choice(1, "", "stop")]).content).toBe("one");
    const sides = { choices: [0, 1].map((index) => ({ index, delta: { content: "ab"[index] }, finish_reason: "stop" })) };
    expect(replyOf([sides]).content).toBe("a");
  });

  it.each<[string, unknown]>([
    ["output_text", [{ type: "output_text", text: "fine" }]],
    ["strings", ["fi", "ne"]],
    ["a text with a value", [{ type: "text", text: { value: "fine", annotations: [] } }]],
    ["an object", { type: "text", text: "fine" }],
    [
      "thoughts beside it",
      [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "fine" },
      ],
    ],
  ])("content as %s", (_what, content) => {
    expect(replyOf([piece({ content }, "stop")]).content).toBe("fine");
  });

  it("reads the first choice of several that were asked for, whichever comes first", () => {
    const reader = new ReplyReader("m", true);
    const read = [1, 0].map((index) => reader.piece({ choices: [{ index, delta: { content: "ab"[index] } }] }).content);
    expect(read).toEqual([undefined, "a"]);
  });

  it("keeps reasoning as text, and as parts that come in pieces", () => {
    const signed = { index: 0, type: "reasoning.text", text: "I " };
    const reply = replyOf([
      piece({ reasoning_content: "I ", reasoning_details: [signed] }),
      piece({ reasoning_content: "add.", reasoning_details: [{ ...signed, text: "add.", signature: "s" }] }),
      piece({ content: "3" }, "stop"),
    ]);
    expect(reply.reasoning).toEqual({
      text: "I add.",
      parts: { reasoning_content: "I add.", reasoning_details: [{ ...signed, text: "I add.", signature: "s" }] },
    });
  });
});

describe("another shape than the protocol has", () => {
  it.each([
    ...[
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
    ],
    ...["x", { content: 7 }, { content: [7] }, { content: "x", tool_calls: "t" }, { content: "x", tool_calls: ["t"] }].map((message) => ({
      choices: [{ message }],
    })),
    { choices: [{ message: { content: "x", tool_calls: [{ function: "t" }] } }] },
    { choices: [{ message: { content: "x" }, finish_reason: 7 }] },
  ])("%j is no reply", (data) => {
    expect(() => whole(data)).toThrow(expect.objectContaining({ code: "MODEL_PROTOCOL" }));
  });

  it.each([
    ...[
      null,
      [],
      "text",
      7,
      { choices: "none" },
      { choices: [null] },
      { choices: [{ delta: [] }] },
      { choices: [{ delta: { content: {} } }] },
    ],
  ])("%j is no piece", (data) => {
    expect(() => new ReplyReader("m").piece(data)).toThrow(expect.objectContaining({ code: "MODEL_PROTOCOL" }));
  });

  it("names the kind of choices that are no list", () => {
    expect(() => whole({ choices: null })).toThrow("got null");
    expect(() => whole({})).toThrow("got undefined");
  });

  it("pieces may say nothing: usage alone, no choices, an empty delta", () => {
    const reader = new ReplyReader("m");
    for (const empty of [{ choices: [] }, {}, { choices: [{ finish_reason: null }] }, piece({ role: "assistant", content: null })])
      expect(reader.piece(empty)).toEqual({});
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    expect(reader.piece({ choices: [], usage })).toEqual({ usage: { inputTokens: 1, outputTokens: 2 } });
  });
});

describe("times to wait", () => {
  it.each<[string, object, number | undefined]>([
    ["Groq", { message: "Limit 6000, Used 5800, Requested 900. Please try again in 9s." }, 9_000],
    ["Groq, minutes", { message: "Please try again in 1m30.5s." }, 90_500],
    ["OpenAI", { message: "Please try again in 540ms. Visit https://x" }, 540],
    ["Azure", { message: "Please retry after 26 seconds." }, 26_000],
    ["Gemini", { message: "x", details: [{ retryDelay: "2.5s" }] }, 2_500],
    ["a member", { message: "slow", retry_after: 3 }, 3_000],
    ["GLM", { message: "请在4秒后重试" }, 4_000],
    ["Antigravity", { message: "Your quota will reset after 0h0m4s." }, 4_000],
    ["OpenRouter", { message: "slow", metadata: { headers: { "X-RateLimit-Reset": "0000000004000" } } }, 3_000],
    ["none", { message: "Try again with 3 images" }, undefined],
  ])("%s", (_who, error, expected) => {
    expect(said({ error }, 429)?.retryAfterMs).toBe(expected);
  });

  it("in a header come first", () => {
    expect(said({ error: { message: "try again in 9s" } }, 429, { "retry-after": "2" })?.retryAfterMs).toBe(2_000);
  });
});

describe("kinds of refusals", () => {
  it.each<[string, string, number?]>([
    ["xAI", "This model's maximum prompt length is 131072 but the request contains 200000 tokens."],
    ["Moonshot", "Invalid request: Your request exceeded model token limit: 8192"],
    ["GLM", "Prompt exceeds max length"],
    ["Qwen", "Range of input length should be [1, 30720]"],
    ["SambaNova", "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."],
    [
      "Together",
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 512 `max_new_tokens`",
    ],
    ["Cohere", "too many tokens: size limit exceeded by 1000 tokens. Try using shorter or fewer inputs."],
    ["Bedrock", "Input is too long for requested model."],
    ["MiniMax", "invalid params, context window exceeds limit"],
    ["Cerebras", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192"],
    [
      "LM Studio",
      "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    ],
    ["TGI", "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"],
    ["OpenAI", "Your input exceeds the context window of this model. Please adjust your input and try again."],
    ["OpenRouter", "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens"],
    ["GitHub", "Request body too large for gpt-4o model. Max size: 8000 tokens.", 413],
    ["llama.cpp", "Context size has been exceeded.", 500],
    ["GLM, in Chinese", "Prompt 超长"],
    ["Ollama", "the input length exceeds the context length", 500],
  ])("too long, says %s", (_who, message, status) => {
    expect(codeOf({ error: { message } }, status)).toBe("MODEL_CONTEXT_OVERFLOW");
  });

  it.each<[string, object, number?]>([
    ["DeepSeek", { message: "Content Exists Risk" }],
    ["Qwen", { code: "data_inspection_failed", message: "Input data may contain inappropriate content." }],
    ["Moonshot", { message: "The request was rejected because it was considered high risk", type: "content_filter" }],
    ["xAI", { message: "Content violates usage guidelines" }, 403],
    ["OpenRouter", { code: 403, message: "your input was flagged", metadata: { reasons: ["violence"] } }, 403],
    ["OpenAI", { message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy." }],
    ["GLM", { code: "1301", message: "系统检测到输入或生成内容可能包含不安全或敏感内容" }],
  ])("filtered by %s", (_who, error, status) => {
    expect(codeOf({ error }, status)).toBe("MODEL_CONTENT_FILTER");
  });

  it.each<[string, string, number]>([
    ["vLLM", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', 400],
    ["OpenRouter", "No endpoints found that support tool use.", 404],
    ["Ollama", "registry.ollama.ai/library/gemma:2b does not support tools", 400],
    ["llama.cpp", "tools param requires --jinja flag", 500],
    ["Groq", "`tool calling` is not supported with this model", 400],
    ["DeepSeek", "deepseek-reasoner does not support Function Calling", 400],
    ["Gemini", "Function calling is not enabled for models/gemma-3-27b-it", 400],
    ["NIM", "Tool use has not been enabled, because it is unsupported by m", 400],
    ["Azure", "'tools' is not a valid parameter for this model", 400],
    ["OpenAI", "Unsupported parameter: 'tools' is not supported with this model.", 400],
  ])("no tools, says %s", (_who, message, status) => {
    const words = said({ error: { message } }, status);
    expect(words && serverError("m", words, false)).toMatchObject({ code: "MODEL_BAD_REQUEST", data: { unsupported: "tools" } });
  });

  it.each<[string, object, number, string]>([
    [
      "Gemini, a minute",
      { message: "You exceeded your current quota. Please retry in 2.1s.", details: [{ retryDelay: "2s" }] },
      429,
      "MODEL_RATE_LIMIT",
    ],
    [
      "Gemini, a day",
      {
        message: "You exceeded your current quota.",
        details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerModel" }] }, { retryDelay: "9s" }],
      },
      429,
      "MODEL_QUOTA",
    ],
    ["OpenAI", { message: "You exceeded your current quota, please check your plan.", code: "insufficient_quota" }, 429, "MODEL_QUOTA"],
    ["xAI", { message: "Your team has either used all available credits or reached its monthly spending limit." }, 429, "MODEL_QUOTA"],
    ["Anthropic", { message: "Your credit balance is too low to access the API." }, 400, "MODEL_QUOTA"],
    [
      "Aliyun",
      { message: "Allocated quota exceeded, please increase your quota limit.", code: "Throttling.AllocationQuota" },
      429,
      "MODEL_RATE_LIMIT",
    ],
    ["GLM", { message: "余额不足或无可用资源包,请充值。", code: "1113" }, 429, "MODEL_QUOTA"],
    [
      "Groq, tokens a minute",
      { message: "Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5800, Requested 900." },
      429,
      "MODEL_RATE_LIMIT",
    ],
    ["Groq, a call", { message: "Failed to call a function.", code: "tool_use_failed" }, 400, "MODEL_PROTOCOL"],
    ["Ollama, a call", { message: "error parsing tool call: raw='{', err=unexpected end of JSON input" }, 500, "MODEL_PROTOCOL"],
    ["Volcengine", { message: "The request failed because your account has an overdue balance." }, 403, "MODEL_QUOTA"],
    ["vLLM, a call", { message: "unexpected tokens remaining in message header" }, 400, "MODEL_PROTOCOL"],
    ["a wrong field", { message: "Invalid value for temperature" }, 400, "MODEL_BAD_REQUEST"],
  ])("%s", (_who, error, status, code) => {
    expect(codeOf({ error }, status)).toBe(code);
  });
});

describe("a lesson", () => {
  const refusal = (message: string): Response => Response.json({ error: { message } }, { status: 400 });
  const answer = (): Response =>
    Response.json({ choices: [{ index: 0, message: { role: "assistant", content: "fine" }, finish_reason: "stop" }] });
  const o = { signal: new AbortController().signal, key: "k" };

  /** A model at a server of that name, and the requests that were sent. */
  function learner(host: string, takes: (body: Record<string, unknown>) => string | undefined, more: object = {}) {
    const sent: Record<string, unknown>[] = [];
    const keys: (string | null)[] = [];
    const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
      const body = JSON.parse(init?.body as string) as Record<string, unknown>;
      sent.push(body);
      keys.push(new Headers(init?.headers).get("idempotency-key"));
      const why = takes(body);
      return Promise.resolve(why === undefined ? answer() : refusal(why));
    };
    const model = openai({ model: "m", apiKey: "k", baseURL: `http://${host}.test/v1`, fetch: fetch as typeof globalThis.fetch, ...more });
    return { sent, keys, ask: (request: object = {}) => model.chat({ messages: [{ role: "user", content: "x" }], ...request }, o) };
  }
  const picky = (body: Record<string, unknown>): string | undefined =>
    "seed" in body ? "Unknown parameter: 'seed'." : "temperature" in body ? "Unsupported value: 'temperature'" : undefined;

  it("is taken at once, several for one request, each under a key of its own, and kept for other models there", async () => {
    const first = learner("picky", picky);
    expect((await first.ask({ seed: 1, temperature: 0 })).content).toBe("fine");
    expect(first.sent.map((body) => ["seed" in body, "temperature" in body])).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
    expect(first.keys).toEqual(["k", "k-1", "k-2"]);
    const second = learner("picky", picky);
    await second.ask({ seed: 1, temperature: 0 });
    expect(second.sent).toHaveLength(1);
    const other = learner("picky", picky, { apiKey: "another" });
    await other.ask({ seed: 1 });
    expect(other.sent).toHaveLength(2);
  });

  it("loses against what the program says, and ends where nothing is left to change", async () => {
    const stubborn = learner("stubborn", () => "Unknown parameter: 'seed'.");
    await expect(stubborn.ask({ seed: 1 })).rejects.toMatchObject({ code: "MODEL_BAD_REQUEST" });
    expect(stubborn.sent).toHaveLength(2);
    const told = learner("told", picky, { dialect: { omit: ["seed", "temperature"] } });
    await told.ask({ seed: 1, temperature: 0 });
    expect(told.sent).toHaveLength(1);
  });

  it("of a model without tools costs one request", async () => {
    const tools = [{ name: "add", description: "", parameters: { type: "object" } }];
    const none = (body: Record<string, unknown>): string | undefined => ("tools" in body ? "m does not support tools" : undefined);
    const model = learner("no-tools", none);
    for (let n = 0; n < 2; n++)
      await expect(model.ask({ tools })).rejects.toMatchObject({ code: "MODEL_BAD_REQUEST", data: { unsupported: "tools" } });
    expect(model.sent).toHaveLength(1);
  });

  it("of one schema is not kept", async () => {
    const schema = { type: "schema", name: "reply", schema: { type: "object" } };
    const model = learner("schemas", ({ response_format: format }) =>
      (format as { type?: string } | undefined)?.type === "json_schema" ? "Invalid schema for response_format 'reply'" : undefined,
    );
    for (let n = 0; n < 2; n++) await model.ask({ schema });
    expect(model.sent.map(({ response_format: format }) => (format as { type: string }).type)).toEqual([
      "json_schema",
      "json_object",
      "json_schema",
      "json_object",
    ]);
    expect(JSON.stringify(model.sent[1]?.["messages"])).toContain("JSON Schema");
  });
});
