import { afterEach, describe, expect, it } from "vitest";
import { type OpenAIStub, openaiStub } from "../../src/testing/index.ts";
import type { StubOptions } from "../../src/testing/openai-stub.ts";
import { OpenAIBodySchema, type StubFault } from "../../src/testing/stub-reply.ts";
import { errorOf } from "../model/call-setup.ts";

let stub: OpenAIStub | undefined;

afterEach(async () => {
  await stub?.close();
  stub = undefined;
});

async function started(options: StubOptions): Promise<OpenAIStub> {
  stub = await openaiStub(options);
  return stub;
}

const body = { model: "m", messages: [{ role: "user", content: "Say something." }] };

function post(to: OpenAIStub, more: object = {}, path = "/chat/completions"): Promise<Response> {
  return fetch(`${to.url}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer key" },
    body: JSON.stringify({ ...body, ...more }),
  });
}

const streamed = { stream: true, stream_options: { include_usage: true } };

/** The data of the events of a stream. */
async function eventsOf(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6));
}

describe("openaiStub", () => {
  it("answers whole", async () => {
    const response = await post(await started({ reply: "Hello." }));
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
      usage: { completion_tokens: 2 },
    });
    expect(stub?.requests).toEqual([body]);
    expect(stub?.authorizations).toEqual(["Bearer key"]);
  });

  it("streams in pieces, with usage where it is asked for", async () => {
    const to = await started({ reply: { chunks: ["Hel", "lo."], usage: { prompt_tokens: 3, completion_tokens: 2, cached_tokens: 1 } } });
    const events = await eventsOf(await post(to, streamed));
    expect(events.at(-1)).toBe("[DONE]");
    const parsed = events
      .slice(0, -1)
      .map((event) => JSON.parse(event) as { choices: { delta: { content?: string }; finish_reason: string | null }[]; usage?: object });
    expect(parsed.flatMap((event) => event.choices.map((choice) => choice.delta.content ?? "")).join("")).toBe("Hello.");
    expect(parsed.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 5, prompt_tokens_details: { cached_tokens: 1 } } });
    const without = await eventsOf(await post(to, { stream: true }));
    expect(without.some((event) => event.includes("usage"))).toBe(false);
  });

  it("one reply after another, then a refusal; or what a function says", async () => {
    const list = await started({ replies: ["one"] });
    expect((await post(list)).status).toBe(200);
    expect((await post(list)).status).toBe(400);
    await list.close();
    const handler = await started({ handler: ({ messages }, n) => `${n} ${messages[0]?.content as string}` });
    await post(handler);
    expect(await (await post(handler)).json()).toMatchObject({ choices: [{ message: { content: "1 Say something." } }] });
  });

  it.each<[StubFault, number, string]>([
    [{ fault: "rate-limit", retryAfter: "7" }, 429, "rate_limit_exceeded"],
    [{ fault: "quota" }, 429, "insufficient_quota"],
    [{ fault: "unauthorized" }, 401, "Bearer key"],
    [{ fault: "not-found" }, 404, "model_not_found"],
    [{ fault: "context-overflow" }, 400, "context_length_exceeded"],
    [{ fault: "format-unsupported" }, 400, "response_format"],
    [{ fault: "server-error", status: 503 }, 503, "server_error"],
    [{ fault: "status", status: 418, body: "teapot" }, 418, "teapot"],
  ])("refuses as told: %j", async (fault, status, words) => {
    const response = await post(await started({ reply: fault }));
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(words);
    if (fault.fault === "rate-limit") expect(response.headers.get("retry-after")).toBe("7");
  });

  it("cuts, resets and stalls, whole and streamed", async () => {
    const to = await started({
      handler: (_body, n) => [{ fault: "cut" }, { fault: "reset" }, { fault: "reset", after: 0 }, { fault: "cut" }][n] as StubFault,
    });
    expect((await eventsOf(await post(to, streamed))).at(-1)).not.toBe("[DONE]");
    expect((await errorOf((await post(to, streamed)).text())).message).toBe("terminated");
    expect((await errorOf(post(to, streamed))).message).toBe("fetch failed");
    expect((await errorOf((await post(to)).text())).message).toBe("terminated");
  });

  it.each<[StubFault, (events: readonly string[]) => void]>([
    [{ fault: "no-usage", text: "x" }, (events) => expect(events.join()).not.toContain("usage")],
    [{ fault: "length", text: "x" }, (events) => expect(events.join()).toContain('"finish_reason":"length"')],
    [{ fault: "content-filter" }, (events) => expect(events.join()).toContain('"finish_reason":"content_filter"')],
    [{ fault: "refusal", refusal: "No." }, (events) => expect(events.join()).toContain('"refusal":"No."')],
    [{ fault: "empty" }, (events) => expect(events.join()).not.toContain('"content"')],
    [{ fault: "bad-json", text: "x" }, (events) => expect(events.some((event) => event.includes("oops"))).toBe(true)],
    [{ fault: "wrong-shape" }, (events) => expect(events).toContain('{"choices":"none"}')],
    [{ fault: "empty-choices" }, (events) => expect(events.filter((event) => event.includes('"finish_reason":"stop"'))).toEqual([])],
    [{ fault: "duplicate-chunk" }, (events) => expect(events.filter((event) => event.includes(" End."))).toHaveLength(2)],
    [
      { fault: "text-after-end" },
      (events) =>
        expect(events.findIndex((event) => event.includes("another"))).toBeGreaterThan(
          events.findIndex((event) => event.includes('"stop"')),
        ),
    ],
    [
      { fault: "stream-error", after: 2, code: 429, message: "slow" },
      (events) => expect(events.at(-2)).toContain('{"error":{"message":"slow","code":429'),
    ],
  ])("a stream breaks in the given way: %j", async (fault, check) => {
    const response = await post(await started({ reply: fault }), streamed);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = await eventsOf(response);
    expect(events.at(-1)).toBe("[DONE]");
    check(events);
  });

  it.each<[StubFault, object]>([
    [{ fault: "no-usage", text: "x" }, { choices: [{ message: { content: "x" } }] }],
    [{ fault: "length", text: "x" }, { choices: [{ message: { content: "x" }, finish_reason: "length" }] }],
    [{ fault: "content-filter" }, { choices: [{ finish_reason: "content_filter" }] }],
    [{ fault: "refusal" }, { choices: [{ message: { content: "", refusal: "I cannot help with that." } }] }],
    [{ fault: "empty" }, { choices: [{ message: { content: "" } }] }],
    [{ fault: "empty-choices" }, { choices: [] }],
    [{ fault: "wrong-shape" }, { hello: "world" }],
    [{ fault: "stream-error" }, { error: { code: "server_error" } }],
  ])("a whole reply breaks in the given way: %j", async (fault, expected) => {
    const told = (await (await post(await started({ reply: fault }))).json()) as object;
    expect(told).toMatchObject(expected);
    if (fault.fault === "no-usage") expect(told).not.toHaveProperty("usage");
  });

  it("tool calls come in pieces, or whole", async () => {
    const to = await started({ reply: { toolCalls: [{ name: "t", arguments: '{"a":1}' }] } });
    const tools = [{ type: "function", function: { name: "t" } }];
    const pieces = (await eventsOf(await post(to, { ...streamed, tools }))).filter(
      (event) => event.includes("tool_calls") && event.includes("function"),
    );
    expect(pieces).toHaveLength(3);
    expect(await (await post(to, { tools })).json()).toMatchObject({
      choices: [
        {
          message: { tool_calls: [{ id: "call_0", type: "function", function: { name: "t", arguments: '{"a":1}' } }] },
          finish_reason: "tool_calls",
        },
      ],
    });
  });

  it("a handler that throws is a failed server, not a failed test", async () => {
    const to = await started({
      handler: () => {
        throw new Error("in the handler");
      },
    });
    const response = await post(to);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("in the handler");
  });

  it("a pace decides when each piece goes out", async () => {
    const seen: number[] = [];
    const to = await started({ reply: { chunks: ["a", "b"], comments: 2, pace: (n) => void seen.push(n) } });
    const text = await (await post(to, streamed)).text();
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(text.startsWith(": still thinking\n\n: still thinking\n\n")).toBe(true);
  });
});

describe("what the stub is given to send", () => {
  const raw = { pieces: [{ any: "thing" }, ["more"]], whole: { the: "whole" } };

  it("goes out word for word, as a stream or whole", async () => {
    const to = await started({ reply: raw });
    expect(await eventsOf(await post(to, streamed))).toEqual(['{"any":"thing"}', '["more"]', "[DONE]"]);
    expect(await (await post(to)).json()).toEqual({ the: "whole" });
  });

  it("ends early where it should", async () => {
    const cut = await started({ reply: { ...raw, end: "cut" } });
    expect(await eventsOf(await post(cut, streamed))).toEqual(['{"any":"thing"}', '["more"]']);
    expect(await errorOf(post(cut).then((response) => response.text()))).toBeInstanceOf(Error);
    await cut.close();
    const reset = await started({ reply: { ...raw, end: "reset" } });
    expect(await errorOf(post(reset, streamed).then((response) => response.text()))).toBeInstanceOf(Error);
  });
});

describe("the stub refuses what OpenAI's server refuses", () => {
  const user = { role: "user", content: "json please" };
  const call = { id: "c1", type: "function", function: { name: "t", arguments: "{}" } };
  const strict = (schema: object): object => ({
    response_format: { type: "json_schema", json_schema: { name: "r", strict: true, schema } },
  });

  it.each<[string, object]>([
    ["an unknown field", { top_k: 3 }],
    ["a null", { temperature: null }],
    ["no messages", { messages: [] }],
    ["a message without content", { messages: [{ role: "user" }] }],
    ["an unknown field of a message", { messages: [{ ...user, images: [] }] }],
    ["an assistant's message of nothing", { messages: [user, { role: "assistant" }] }],
    ["a null content", { messages: [user, { role: "assistant", content: null, tool_calls: [call] }] }],
    ["a name with spaces", { messages: [{ ...user, name: "Alice B" }] }],
    ["an answer to no call", { messages: [user, { role: "tool", content: "x", tool_call_id: "c1" }] }],
    ["a call without an answer", { messages: [user, { role: "assistant", tool_calls: [call] }, user] }],
    ["a call without an answer at the end", { messages: [user, { role: "assistant", tool_calls: [call] }] }],
    ["both limits", { max_tokens: 1, max_completion_tokens: 1 }],
    ["no limit at all", { max_tokens: 0 }],
    ["a tool choice without tools", { tool_choice: "auto" }],
    ["stream options without a stream", { stream_options: { include_usage: true } }],
    ["five stops", { stop: ["a", "b", "c", "d", "e"] }],
    ["a temperature out of range", { temperature: 3 }],
    ["JSON mode without the word", { messages: [{ role: "user", content: "x" }], response_format: { type: "json_object" } }],
    ["a strict schema whose root is no object", strict({ type: "array", items: { type: "string" } })],
    [
      "a strict schema with an optional property",
      strict({ type: "object", properties: { a: { type: "string" } }, required: [], additionalProperties: false }),
    ],
    ["a strict schema that is open", strict({ type: "object", properties: {}, required: [] })],
    [
      "a strict schema with other keywords",
      strict({ type: "object", properties: { a: { type: "string", minLength: 3 } }, required: ["a"], additionalProperties: false }),
    ],
    ["a picture that is none", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "ftp://x" } }] }] }],
  ])("%s", async (_what, more) => {
    const to = await started({ reply: "never" });
    const response = await post(to, more);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
    expect([to.requests.length, to.rejected.length]).toEqual([0, 1]);
    expect(to.rejected[0]?.problem).not.toBe("");
  });

  it("what is no JSON", async () => {
    const to = await started({ reply: "never" });
    expect((await fetch(`${to.url}/chat/completions`, { method: "POST", body: "{" })).status).toBe(400);
  });

  it("and takes what it takes", () => {
    const good = {
      model: "m",
      messages: [
        { role: "system", content: "s" },
        {
          role: "user",
          content: [
            { type: "text", text: "t" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
          name: "alice",
        },
        { role: "assistant", content: "thinking", tool_calls: [call, { ...call, id: "c2" }] },
        { role: "tool", content: "2", tool_call_id: "c2" },
        { role: "tool", content: "1", tool_call_id: "c1" },
      ],
      tools: [{ type: "function", function: { name: "t", description: "d", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "t" } },
      temperature: 0,
      max_completion_tokens: 5,
      stop: ["x"],
      seed: 1,
      ...streamed,
    };
    expect(OpenAIBodySchema.safeParse(good).error).toBeUndefined();
  });
});
