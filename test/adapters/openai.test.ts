import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { openai, type OpenAIOptions } from "../../src/adapters/openai.ts";
import { AbortedError, ModelError, UsageError } from "../../src/kernel/errors.ts";
import { directSteps } from "../../src/kernel/step.ts";
import { askModel } from "../../src/model/ask.ts";
import { callModel } from "../../src/model/call.ts";
import type { ChatModel, ChatRequest, ToolSpec } from "../../src/model/chat-model.ts";
import { holdFor } from "../../src/model/price.ts";
import { DEFAULT_TIMEOUTS } from "../../src/model/timeouts.ts";
import { type OpenAIStub, openaiStub, type StubReply } from "../../src/testing/index.ts";
import type { StubOptions } from "../../src/testing/openai-stub.ts";
import { BROKEN_TEXT, type StubFault } from "../../src/testing/stub-reply.ts";
import { freePort } from "../kernel/free-port.ts";
import { type CallSetup, callSetup, errorOf, until, WITH_NEXT_STEP, withSockets } from "../model/call-setup.ts";
import { titled } from "../titled.ts";

const KEY = "sk-canary-0123456789abcdef";
const price = { input: 1, output: 2 };
const request: ChatRequest = { messages: [{ role: "user", content: "Say something." }], maxTokens: 100 };
const hold = holdFor(request, price);
const usage = { prompt_tokens: 10, completion_tokens: 5 };
const good: StubReply = { text: "Something good.", usage };

let stub: OpenAIStub;
let printed: string[];

beforeEach(() => {
  printed = [];
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    vi.spyOn(stream, "write").mockImplementation((chunk: string | Uint8Array, ...rest: unknown[]) => {
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
      if (/canary|parse message/.test(text)) printed.push(text);
      return (write as (...args: unknown[]) => boolean)(chunk, ...rest);
    });
  }
  for (const level of ["log", "info", "warn", "error", "debug"] as const)
    vi.spyOn(console, level).mockImplementation((...args) => void printed.push(inspect(args)));
});

afterEach(async () => {
  await stub?.close();
  // A client that prints what models and servers say would print secrets too.
  if (printed.length > 0) throw new Error(`the client printed: ${printed.join("; ")}`);
});

/** A model at a stub that behaves as told, and what a call needs. The waits between tries are of no length. */
async function at(options: StubOptions, more: Partial<OpenAIOptions> = {}): Promise<CallSetup & { readonly model: ChatModel }> {
  stub = await openaiStub(options);
  const model = openai({ model: "stub-model", apiKey: KEY, baseURL: stub.url, price, ...more });
  return { ...callSetup({ random: () => 0, retry: { outage: 0 } }), model };
}

/** Carries out no request: keeps it, and answers "x". */
function keeping(): { readonly fetch: typeof fetch; readonly sent: { url: string; headers: Headers; body: Record<string, unknown> }[] } {
  const sent: ReturnType<typeof keeping>["sent"] = [];
  return {
    sent,
    fetch: (url, init) => {
      const body = JSON.parse(init?.body as string) as Record<string, unknown>;
      sent.push({ url: typeof url === "string" ? url : "not a string", headers: new Headers(init?.headers as Headers), body });
      return Promise.resolve(Response.json({ choices: [{ message: { content: "x" }, finish_reason: "stop" }] }));
    },
  };
}

function withoutKey(error: unknown): void {
  const seen = inspect(error, { depth: 20, showHidden: true });
  expect(seen).not.toContain(KEY);
  expect(seen.toLowerCase()).not.toContain("authorization");
}

describe("openai over HTTP", () => {
  for (const stream of [true, false]) {
    describe(`asked ${stream ? "to stream" : "whole"}`, () => {
      it("a good answer", async () => {
        const { model, deps, attempts, clock } = await at({ reply: good }, { stream });
        const reply = await withSockets(clock, callModel(model, request, deps));
        expect(reply).toEqual({
          content: "Something good.",
          toolCalls: [],
          finishReason: "stop",
          usage: { inputTokens: 10, outputTokens: 5 },
        });
        expect(attempts.line).toBe("usage:20");
        expect(stub.requests[0]?.stream ?? false).toBe(stream);
        expect(stub.authorizations).toEqual([`Bearer ${KEY}`]);
        expect(stub.rejected).toEqual([]);
      });

      it("tool calls", async () => {
        const tools: ToolSpec[] = [{ name: "clock", description: "Tells the time.", parameters: { type: "object", properties: {} } }];
        const calls = [
          { name: "clock", arguments: '{"zone":"UTC"}' },
          { id: "mine", name: "clock", arguments: "{}" },
        ];
        const { model, deps, clock } = await at({ reply: { toolCalls: calls } }, { stream });
        const reply = await withSockets(clock, callModel(model, { ...request, tools, toolChoice: "auto" }, deps));
        expect(reply.toolCalls.map((call) => [call.id, call.function.name, call.function.arguments])).toEqual([
          ["call_0", "clock", '{"zone":"UTC"}'],
          ["mine", "clock", "{}"],
        ]);
        expect(stub.requests[0]).toMatchObject({ tool_choice: "auto", tools: [{ type: "function", function: { name: "clock" } }] });
      });

      // The cost and the meaning of one bad reply; a good one after it is taken if another try helps.
      const passing: [StubFault, string, string][] = [
        [{ fault: "cut" }, stream ? "MODEL_CUT" : "MODEL_UNREACHABLE", `hold:${hold}!`],
        [{ fault: "reset" }, stream ? "MODEL_CUT" : "MODEL_UNREACHABLE", `hold:${hold}!`],
        [{ fault: "reset", after: 0 }, "MODEL_UNREACHABLE", `hold:${hold}!`],
        [{ fault: "stream-error" }, "MODEL_SERVER", `hold:${hold}!`],
        [{ fault: "stream-error", code: 429, message: "slow down" }, "MODEL_RATE_LIMIT", stream ? `hold:${hold}!` : "none:0!"],
        [{ fault: "rate-limit" }, "MODEL_RATE_LIMIT", "none:0!"],
        [{ fault: "server-error" }, "MODEL_SERVER", `hold:${hold}!`],
        [{ fault: "server-error", status: 503 }, "MODEL_SERVER", "none:0!"],
        [{ fault: "server-error", status: 504 }, "MODEL_SERVER", `hold:${hold}!`],
        [{ fault: "bad-json" }, "MODEL_PROTOCOL", `hold:${hold}!`],
        [{ fault: "wrong-shape" }, "MODEL_PROTOCOL", `hold:${hold}!`],
        [{ fault: "empty-choices" }, stream ? "MODEL_CUT" : "MODEL_PROTOCOL", `hold:${hold}!`],
        [{ fault: "empty" }, "MODEL_EMPTY", "usage"],
        [
          { fault: "status", status: 200, body: "<html>Welcome to nginx</html>", headers: { "content-type": "text/html" } },
          "MODEL_PROTOCOL",
          `hold:${hold}!`,
        ],
        [
          { fault: "status", status: 502, body: "<html>Bad gateway</html>", headers: { "content-type": "text/html" } },
          "MODEL_SERVER",
          `hold:${hold}!`,
        ],
      ];
      if (stream) passing.push([{ fault: "text-after-end" }, "MODEL_PROTOCOL", `hold:${hold}!`]);

      it.each(titled(passing))("%s passes: the next try is taken", async (_case, fault, code, settled) => {
        const { model, deps, attempts, clock, warnings } = await at({ replies: [fault, good] }, { stream });
        const reply = await withSockets(clock, callModel(model, request, deps));
        expect(reply.content).toBe("Something good.");
        expect(attempts.line).toMatch(new RegExp(`^${settled === "usage" ? "usage:\\d+!" : settled} usage:20$`));
        expect(attempts.told.map((event) => Object.keys(event)[0])).toEqual(["open", "settle", "open", "settle"]);
        expect(warnings).toHaveLength(1);
        expect(stub.rejected).toEqual([]);
        await stub.close();

        const again = await at({ reply: fault }, { stream });
        const error = await errorOf(withSockets(again.clock, callModel(again.model, request, again.deps)));
        expect(error).toBeInstanceOf(ModelError);
        expect(error).toMatchObject({ code, retryable: true, data: { tries: 4 } });
        expect(again.attempts.told).toHaveLength(8);
        withoutKey(error);
      });

      const final: [StubFault, string, string][] = [
        [{ fault: "unauthorized" }, "MODEL_AUTH", "none:0!"],
        [{ fault: "quota" }, "MODEL_QUOTA", "none:0!"],
        [{ fault: "not-found" }, "MODEL_NOT_FOUND", "none:0!"],
        [{ fault: "context-overflow" }, "MODEL_CONTEXT_OVERFLOW", "none:0!"],
        [{ fault: "length" }, "MODEL_TRUNCATED", "usage"],
        [{ fault: "refusal" }, "MODEL_REFUSED", "usage"],
        [{ fault: "content-filter" }, "MODEL_CONTENT_FILTER", "usage"],
        [
          { fault: "status", status: 422, body: JSON.stringify({ detail: [{ loc: ["body"], msg: "field required" }] }) },
          "MODEL_BAD_REQUEST",
          "none:0!",
        ],
        // vLLM and others put the complaint at the top of the body, Ollama a bare string, a proxy plain text.
        [
          {
            fault: "status",
            status: 400,
            body: JSON.stringify({ object: "error", message: "maximum context length is 4096 tokens", code: 400 }),
          },
          "MODEL_CONTEXT_OVERFLOW",
          "none:0!",
        ],
        [
          { fault: "status", status: 404, body: JSON.stringify({ error: "model 'x' not found, try pulling it first" }) },
          "MODEL_NOT_FOUND",
          "none:0!",
        ],
        [{ fault: "status", status: 403, body: "Forbidden" }, "MODEL_AUTH", "none:0!"],
      ];

      it.each(titled(final))("%s does not: it is told at once", async (_case, fault, code, settled) => {
        const { model, deps, attempts, clock } = await at({ replies: [fault, good] }, { stream });
        const error = await errorOf(withSockets(clock, callModel(model, request, deps)));
        expect(error).toMatchObject({ code, retryable: false, data: { tries: 1 } });
        expect(attempts.line).toMatch(settled === "usage" ? /^usage:\d+!$/ : new RegExp(`^${settled}$`));
        expect(stub.requests).toHaveLength(1);
        withoutKey(error);
      });

      it("an answer without usage is settled at its hold and counted from characters", async () => {
        const { model, deps, attempts, clock } = await at({ reply: { fault: "no-usage" } }, { stream });
        const reply = await withSockets(clock, callModel(model, request, deps));
        expect(reply.usage).toMatchObject({ outputTokens: Math.ceil(BROKEN_TEXT.length / 4), estimated: true });
        expect(attempts.line).toBe(`hold:${hold}`);
      });

      it("a truncated answer keeps its text and usage", async () => {
        const { model, deps, clock } = await at({ reply: { text: "Half an ans", finishReason: "length", usage } }, { stream });
        const error = await errorOf(withSockets(clock, callModel(model, request, deps)));
        expect(error.data).toMatchObject({ text: "Half an ans", usage: { inputTokens: 10, outputTokens: 5 } });
      });

      it("an abort before the answer, and one within it", async () => {
        for (const fault of [
          { fault: "stall", after: 0 },
          { fault: "stall", after: 2 },
        ] as const) {
          const { model, deps, attempts, abort, clock } = await at({ reply: fault }, { stream });
          const heard: string[] = [];
          const work = errorOf(callModel(model, request, { ...deps, onDelta: (text) => void heard.push(text) }));
          await until(() => stub.requests.length === 1 && (!stream || heard.length === fault.after), "the stall");
          const reason = new AbortedError("enough");
          abort.abort(reason);
          expect(await work).toBe(reason);
          expect(attempts.line).toBe(`hold:${hold}!`);
          expect(clock.pending).toBe(0);
          await stub.close();
        }
      });

      it("retry-after, in seconds, milliseconds and as a date, on the call's own clock", async () => {
        const waits: [StubFault, number][] = [
          [{ fault: "rate-limit", retryAfter: "7" }, 7_000],
          [{ fault: "rate-limit", retryAfterMs: "1500" }, 1_500],
          [{ fault: "rate-limit", date: "Fri, 20 Nov 2026 10:00:00 GMT", retryAfter: "Fri, 20 Nov 2026 10:00:30 GMT" }, 30_000],
          [{ fault: "rate-limit", retryAfter: "100000" }, 60_000],
        ];
        for (const [fault, ms] of waits) {
          const { model, deps, attempts, clock } = await at({ replies: [fault, good] }, { stream });
          const work = callModel(model, request, deps);
          await until(() => attempts.told.length === 2 && clock.pending === 1, "the wait");
          await clock.advance(ms - 1);
          expect(attempts.told).toHaveLength(2);
          await clock.advance(1);
          expect((await withSockets(clock, work)).content).toBe("Something good.");
          expect(attempts.line).toBe("none:0! usage:20");
          await stub.close();
        }
      });
    });
  }
});

describe("openai, what only a stream can do", () => {
  it("a stall is noticed by its silence, wherever it begins, and tried again", async () => {
    for (const after of [0, 1, 3]) {
      const { model, deps, attempts, clock } = await at({ replies: [{ fault: "stall", after }, good] });
      const heard: string[] = [];
      const work = callModel(model, request, { ...deps, onDelta: (text) => void heard.push(text) });
      await until(() => stub.requests.length === 1 && heard.length === after, "the stall");
      await clock.advance((after === 0 ? DEFAULT_TIMEOUTS.firstByte : DEFAULT_TIMEOUTS.silence) - 1);
      expect(attempts.isOpen).toBe(true);
      await clock.advance(1);
      expect((await withSockets(clock, work)).content).toBe("Something good.");
      expect(attempts.line).toBe(`hold:${hold}! usage:20`);
      expect(clock.pending).toBe(0);
      await stub.close();
    }
  });

  it("a stall is asked for again once, and two are one typed error", async () => {
    const { model, deps, clock } = await at({ reply: { fault: "stall", after: 1 } });
    const work = errorOf(callModel(model, request, { ...deps, timeouts: { firstByte: 1_000, silence: 1_000 } }));
    for (let n = 1; n <= 2; n++) {
      await until(() => stub.requests.length === n, "the next try");
      await clock.advance(1_000);
    }
    const error = await work;
    expect(error).toMatchObject({ code: "MODEL_TIMEOUT", data: { tries: 2 } });
    withoutKey(error);
  });

  it("a server that says it still thinks is not silent", async () => {
    let go = (): void => {};
    let sent = 0;
    const pace = async (n: number): Promise<void> => {
      sent = n;
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    };
    const { model, deps, attempts, clock } = await at({ reply: { text: "At last.", comments: 4, pace } });
    const work = callModel(model, request, { ...deps, timeouts: { firstByte: 1_000, silence: 1_000 } });
    for (let n = 0; n <= 4; n++) {
      await until(() => stub.requests.length === 1 && sent === n, "the next comment");
      // Long enough for what was sent to arrive.
      let turns = 0;
      await until(() => ++turns > 200, "the comment to arrive");
      await clock.advance(900);
      go();
    }
    expect((await withSockets(clock, work)).content).toBe("At last.");
    expect(clock.now()).toBeGreaterThan(4_000);
    expect(attempts.line).toMatch(/^usage:\d+$/);
  });

  it("the last piece twice is the last piece once", async () => {
    const { model, deps, clock } = await at({ reply: { fault: "duplicate-chunk" } });
    const heard: string[] = [];
    const reply = await withSockets(clock, callModel(model, request, { ...deps, onDelta: (text) => void heard.push(text) }));
    expect(reply.content).toBe(`${BROKEN_TEXT} End.`);
    expect(heard.join("")).toBe(reply.content);
  });

  it("a server that answers whole although asked to stream", async () => {
    const body = JSON.stringify({ choices: [{ message: { role: "assistant", content: "Whole." }, finish_reason: "stop" }], usage });
    const { model, deps, clock } = await at({ reply: { fault: "status", status: 200, body } });
    expect((await withSockets(clock, callModel(model, request, deps))).content).toBe("Whole.");
  });

  it("text that survives being cut anywhere between bytes", async () => {
    const text = 'äöü 猫 🎭 "quoted" \\ data: [DONE] \n\n data: x';
    const { model, deps, clock } = await at({ reply: { text, chunks: Array.from(text) } });
    expect((await withSockets(clock, callModel(model, request, deps))).content).toBe(text);
  });

  it("ten megabytes in many pieces", { tags: ["fleet", "long"] }, async () => {
    const piece = "x".repeat(50_000);
    const { model, deps, clock } = await at({ reply: { chunks: Array.from({ length: 200 }, () => piece) } });
    expect((await withSockets(clock, callModel(model, request, deps))).content.length).toBe(10_000_000);
  });

  it("the stream itself ends by the reason it was aborted for, and not as if it were over", async () => {
    const { model } = await at({ reply: { fault: "stall", after: 1 } });
    const abort = new AbortController();
    const pieces = model.stream(request, { signal: abort.signal })[Symbol.asyncIterator]();
    for (let said = ""; said === "";) said = ((await pieces.next()).value as { content?: string }).content ?? "";
    const next = errorOf(pieces.next());
    const reason = new AbortedError("enough");
    abort.abort(reason);
    expect(await next).toBe(reason);
  });

  it("a connection that is given up is closed", async () => {
    const { model, deps, abort } = await at({ reply: { fault: "stall", after: 1 } });
    let closed = false;
    const seen: typeof fetch = async (url, init) => {
      init?.signal?.addEventListener("abort", () => {
        closed = true;
      });
      return fetch(url, init);
    };
    const watched = openai({ model: "m", apiKey: KEY, baseURL: stub.url, fetch: seen });
    const heard: string[] = [];
    const work = errorOf(callModel(watched, request, { ...deps, onDelta: (text) => void heard.push(text) }));
    await until(() => heard.length === 1, "the piece");
    abort.abort();
    await work;
    expect(closed).toBe(true);
    expect(model.id).toBe("stub-model");
  });
});

describe("openai and the network", () => {
  it("a server that is not there costs nothing and is told in words", async () => {
    const { deps, attempts, clock } = callSetup({ random: () => 0, retry: { outage: 0 } });
    const model = openai({ model: "m", apiKey: KEY, baseURL: `http://127.0.0.1:${await freePort()}/v1`, price });
    const error = await errorOf(withSockets(clock, callModel(model, request, deps)));
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", data: { mayHaveRun: false, tries: 4 } });
    expect(error.message).toMatch(/ECONNREFUSED.*base URL/);
    expect(attempts.line).toBe("none:0! none:0! none:0! none:0!");
    withoutKey(error);
  });

  it.each<[string, () => Error, string, string]>([
    [
      "a name nobody knows",
      () => new TypeError("fetch failed", { cause: Object.assign(new Error("getaddrinfo ENOTFOUND x"), { code: "ENOTFOUND" }) }),
      "MODEL_UNREACHABLE",
      "none:0!",
    ],
    [
      "no connection in time",
      () =>
        new TypeError("fetch failed", { cause: Object.assign(new Error("Connect Timeout Error"), { code: "UND_ERR_CONNECT_TIMEOUT" }) }),
      "MODEL_UNREACHABLE",
      "none:0!",
    ],
    [
      "no headers in time",
      () =>
        new TypeError("fetch failed", { cause: Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" }) }),
      "MODEL_TIMEOUT",
      `hold:${hold}!`,
    ],
    [
      "a fetch that throws the key about",
      () => new Error(`proxy refused Bearer ${KEY}`, { cause: new Error(KEY) }),
      "MODEL_FAILED",
      `hold:${hold}!`,
    ],
  ])("%s", async (_what, makeError, code, settled) => {
    const { deps, attempts, clock } = callSetup({ random: () => 0, retry: { tries: 1 } });
    const model = openai({ model: "m", apiKey: KEY, price, fetch: () => Promise.reject(makeError()) });
    const error = await errorOf(withSockets(clock, callModel(model, request, deps)));
    expect(error.code).toBe(code);
    expect(attempts.line).toBe(settled);
    withoutKey(error);
  });

  it("each try is one request: the client does not try again by itself", async () => {
    let sent = 0;
    const counted: typeof fetch = () => {
      sent++;
      return Promise.resolve(new Response("{}", { status: 500, headers: { "x-should-retry": "true" } }));
    };
    const { deps } = callSetup({ retry: { tries: 1 } });
    await errorOf(callModel(openai({ model: "m", apiKey: KEY, fetch: counted }), request, deps));
    expect(sent).toBe(1);
  });
});

describe("openai and secrets", () => {
  it("the key of a careless server's complaint is masked, and so are the values of headers", async () => {
    const body = JSON.stringify({ error: { message: `Bad key ${KEY}; header was canary-header-value`, code: KEY, type: KEY } });
    const { deps, clock } = callSetup();
    stub = await openaiStub({ reply: { fault: "status", status: 401, body } });
    const model = openai({ model: "m", apiKey: KEY, baseURL: stub.url, headers: { "x-proxy-auth": "canary-header-value" } });
    const error = await errorOf(withSockets(clock, callModel(model, request, deps)));
    expect(error.message).toContain("Bad key [secret]; header was [secret]");
    withoutKey(error);
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("canary-header-value");
  });

  it("the model shows its key to nobody", () => {
    const model = openai({ model: "m", apiKey: KEY });
    expect(inspect(model, { depth: 20, showHidden: true })).not.toContain(KEY);
    expect(JSON.stringify(model)).not.toContain(KEY);
  });

  it("terminal tricks of a server stay out of errors", async () => {
    const { model, deps, clock } = await at({
      reply: { fault: "status", status: 400, body: JSON.stringify({ error: { message: "\u001b[2J\u0007boo\r\nhidden" } }) },
    });
    const error = await errorOf(withSockets(clock, callModel(model, request, deps)));
    expect(error.message).not.toMatch(/[\u0000-\u001f]/);
    expect(error.message).toContain("boo hidden");
  });

  it("the idempotency key goes along as a header, and not at all where there is none", async () => {
    const { fetch: answer, sent } = keeping();
    const model = openai({ model: "m", apiKey: KEY, fetch: answer });
    const { signal } = new AbortController();
    await model.chat(request, { signal, key: "a-0" });
    for await (const _ of model.stream(request, { signal, key: "a-1" }));
    await model.chat(request, { signal });
    expect(sent.map(({ headers }) => headers.get("idempotency-key"))).toEqual(["a-0", "a-1", null]);
  });

  it("what the environment says of other accounts is sent to OpenAI alone", async () => {
    vi.stubEnv("OPENAI_ORG_ID", "org-private");
    vi.stubEnv("OPENAI_PROJECT_ID", "proj-private");
    vi.stubEnv("OPENAI_ADMIN_KEY", "sk-admin-canary-1234567890");
    const { fetch: answer, sent } = keeping();
    const { deps } = callSetup();
    await callModel(openai({ model: "m", apiKey: KEY, baseURL: "http://127.0.0.1:9/v1", fetch: answer }), request, deps);
    await callModel(openai({ model: "m", apiKey: KEY, fetch: answer }), request, deps);
    expect(
      sent.map(({ headers }) => [headers.get("openai-organization"), headers.get("openai-project"), headers.get("authorization")]),
    ).toEqual([
      [null, null, `Bearer ${KEY}`],
      ["org-private", "proj-private", `Bearer ${KEY}`],
    ]);
  });
});

describe("openai, made", () => {
  beforeEach(() => {
    for (const name of ["TROUPE_BASE_URL", "OPENAI_BASE_URL", "TROUPE_API_KEY", "OPENAI_API_KEY"]) vi.stubEnv(name, "");
  });

  /** Returns the address and the key of a model's requests. */
  async function target(options: Partial<OpenAIOptions> = {}): Promise<{ url: string; key: string | null; body: Record<string, unknown> }> {
    const { fetch: answer, sent } = keeping();
    await openai({ model: "m", fetch: answer, ...options }).chat(request, { signal: new AbortController().signal });
    const [{ url, headers, body } = expect.fail()] = sent;
    return { url, key: headers.get("authorization"), body };
  }

  it("without key and base URL says how to give one", () => {
    expect(() => openai({ model: "m" })).toThrow(/OPENAI_API_KEY.*TROUPE_BASE_URL/);
    expect(() => openai({ model: "m" })).toThrow(ModelError);
  });

  it("takes the environment in its order, and options before it", async () => {
    vi.stubEnv("OPENAI_API_KEY", "key-openai");
    expect(await target()).toMatchObject({ url: "https://api.openai.com/v1/chat/completions", key: "Bearer key-openai" });
    vi.stubEnv("OPENAI_BASE_URL", "http://openai.local/v1/");
    expect(await target()).toMatchObject({ url: "http://openai.local/v1/chat/completions" });
    vi.stubEnv("TROUPE_BASE_URL", "http://troupe.local/v1");
    vi.stubEnv("TROUPE_API_KEY", "key-troupe");
    expect(await target()).toMatchObject({ url: "http://troupe.local/v1/chat/completions", key: "Bearer key-troupe" });
    expect(await target({ baseURL: "http://option.local/v1", apiKey: "key-option" })).toMatchObject({
      url: "http://option.local/v1/chat/completions",
      key: "Bearer key-option",
    });
  });

  it("a local server needs no key", async () => {
    expect(await target({ baseURL: "http://127.0.0.1:11434/v1" })).toMatchObject({ key: "Bearer none" });
  });

  it("limits by the field the server knows", async () => {
    expect((await target({ apiKey: "key-abc" })).body).toMatchObject({ max_completion_tokens: 100 });
    const other = await target({ baseURL: "http://127.0.0.1:11434/v1" });
    expect(other.body).toMatchObject({ max_tokens: 100 });
    expect(other.body).not.toHaveProperty("max_completion_tokens");
    expect((await target({ apiKey: "key-abc", dialect: { maxTokensField: "max_tokens" } })).body).toMatchObject({ max_tokens: 100 });
  });

  it.each([
    ["canary-password", /one without http/],
    ["localhost:8080/canary-password", /one without http/],
    ["ftp://canary-password/v1", /one without http/],
    ["file:///etc/canary-password", /one without http/],
    ["http://canary-password:port/v1", /one that cannot be read/],
    ["http://user:canary-password@host/v1", /user and password.* for host\./],
  ])("refuses the base URL %s, says what is wrong and what to do, and repeats no secrets", async (baseURL, what) => {
    const error = await errorOf(Promise.resolve().then(() => openai({ model: "m", baseURL })));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ code: "BASE_URL_INVALID", message: expect.stringMatching(what) });
    expect(error.message).toMatch(WITH_NEXT_STEP);
    expect(error.message).not.toMatch(/canary-password/);
  });

  it.each(["key with space", "key\nnewline-inside", "kéy-of-another-kind"])("refuses a key that no header can carry: %j", (apiKey) => {
    expect(() => openai({ model: "m", apiKey })).toThrow(/Copy it again/);
    expect(() => openai({ model: "m", apiKey })).not.toThrow(apiKey);
  });

  it("a key with spaces around is taken without them", async () => {
    expect(await target({ apiKey: "  key-abc\n" })).toMatchObject({ key: "Bearer key-abc" });
  });

  it("carries its facts: price, limit, extra fields, whether it streams", () => {
    const model = openai({ model: "m", apiKey: "key-abc", price, maxOutputTokens: 9, extra: { top_k: 1 }, stream: false });
    expect(model).toMatchObject({ id: "m", price, maxOutputTokens: 9, extra: { top_k: 1 }, streams: false });
  });
});

describe("openai and structured output, over HTTP", () => {
  const Plan = z.object({
    title: z.string(),
    steps: z.array(z.object({ do: z.string(), hours: z.number().optional() })),
    note: z.string().optional(),
  });
  const answer = '{"title": "T", "steps": [{"do": "x", "hours": null}], "note": null}';
  const expected = { title: "T", steps: [{ do: "x" }] };

  async function plan(options: StubOptions): Promise<unknown> {
    const { model, clock, deps } = await at(options);
    const work = askModel({
      steps: directSteps(new AbortController().signal),
      model,
      messages: [{ role: "user", content: "Plan it." }],
      policy: { clock, random: deps.random },
      schema: Plan,
    });
    return withSockets(clock, work);
  }

  it("by strict schema, in a body that OpenAI's server takes", async () => {
    expect(await plan({ reply: answer })).toEqual(expected);
    expect(stub.rejected).toEqual([]);
    expect(stub.requests[0]?.response_format).toMatchObject({ type: "json_schema", json_schema: { strict: true } });
  });

  it("by JSON mode where the schema is refused, by words where that is refused too", async () => {
    const refusing = (refused: readonly string[]): StubOptions => ({
      handler: ({ response_format }) =>
        refused.includes(response_format?.type ?? "none") ? { fault: "format-unsupported" } : `\`\`\`json\n${answer}\n\`\`\``,
    });
    expect(await plan(refusing(["json_schema"]))).toEqual(expected);
    expect(stub.requests.map((body) => body.response_format?.type)).toEqual(["json_schema", "json_object"]);
    await stub.close();
    expect(await plan(refusing(["json_schema", "json_object"]))).toEqual(expected);
    expect(stub.requests.map((body) => body.response_format?.type)).toEqual(["json_schema", "json_object", undefined]);
    expect(stub.rejected).toEqual([]);
  });

  it("asks twice more and no more", async () => {
    expect(await plan({ replies: ['{"title": 1}', answer] })).toEqual(expected);
    expect(stub.requests).toHaveLength(2);
    expect(stub.rejected).toEqual([]);
    await stub.close();
    await expect(plan({ reply: "Never." })).rejects.toMatchObject({ code: "OUTPUT_INVALID" });
    expect(stub.requests).toHaveLength(3);
  });
});

describe("importing the adapter", () => {
  it("loads the openai package with the first call and not before", async () => {
    const loaded: string[] = [];
    for (const name of ["openai", "openai/streaming"]) {
      vi.doMock(name, async (original) => {
        loaded.push(name);
        return original();
      });
    }
    vi.resetModules();
    const fresh = (await import("../../src/adapters/openai.ts")).openai;
    const model = fresh({ model: "m", apiKey: KEY, fetch: keeping().fetch });
    expect(loaded).toEqual([]);
    await model.chat(request, { signal: new AbortController().signal });
    expect(loaded.toSorted()).toEqual(["openai"]);
    vi.doUnmock("openai");
    vi.doUnmock("openai/streaming");
  });
});
