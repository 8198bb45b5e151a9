import { describe, expect, it } from "vitest";
import { AbortedError, BudgetError, UsageError } from "../../src/kernel/errors.ts";
import type { AttemptOutcome, Attempts } from "../../src/kernel/step.ts";
import { type CallDeps, callModel } from "../../src/model/call.ts";
import type { ChatChunk, ChatModel, ChatRequest } from "../../src/model/chat-model.ts";
import { modelError } from "../../src/model/failure.ts";
import { allLimits, modelLimits } from "../../src/model/limits.ts";
import { holdFor } from "../../src/model/price.ts";
import { defaultRetry } from "../../src/model/retry.ts";
import { DEFAULT_TIMEOUTS } from "../../src/model/timeouts.ts";
import { type ScriptedAnswer, scriptedModel, type ScriptedReply } from "../../src/testing/scripted-model.ts";
import { callSetup, errorOf, until, withTime } from "./call-setup.ts";

const request: ChatRequest = { messages: [{ role: "user", content: "Say something." }], maxTokens: 100 };
const price = { input: 1, output: 2 };
const hold = holdFor(request, price);
const usage = { inputTokens: 10, outputTokens: 5 };
const good: ScriptedReply = { content: "Something.", usage };

const never: ScriptedAnswer = () => new Promise(() => {});
const cut = (): Error => modelError("MODEL_CUT", "cut");
const limited = (retryAfterMs?: number): Error =>
  modelError("MODEL_RATE_LIMIT", "slow down", { data: { mayHaveRun: false, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } });

/** A model whose stream is given piece by piece, and which may ignore its signal. */
function streaming(stream: (signal: AbortSignal, alive: () => void) => AsyncIterable<ChatChunk>): ChatModel {
  return {
    id: "streaming",
    price,
    chat: () => Promise.reject(new Error("not whole")),
    stream: (_request, o) => stream(o.signal, o.alive ?? (() => {})),
  };
}

describe("callModel settles each try", () => {
  it("a good answer, by its usage", async () => {
    const { deps, attempts } = callSetup();
    const reply = await callModel(scriptedModel([good], { price }), request, deps);
    expect(reply).toEqual({ content: "Something.", toolCalls: [], finishReason: "stop", usage });
    expect(attempts.told).toEqual([{ open: hold }, { settle: { cost: 20, basis: "usage", usage, failed: false } }]);
  });

  it("an answer without usage, at the whole hold, with usage counted from characters", async () => {
    const { deps, attempts } = callSetup();
    const model = streaming(async function* () {
      yield { content: "Four words of text." };
      yield { finishReason: "stop" };
    });
    const reply = await callModel(model, request, deps);
    expect(reply.usage).toMatchObject({ outputTokens: 5, estimated: true });
    expect(attempts.told[1]).toEqual({ settle: { cost: hold, basis: "hold", usage: reply.usage, failed: false } });
  });

  it.each([
    { inputTokens: 0, outputTokens: 0 },
    { inputTokens: -1, outputTokens: 5 },
    { inputTokens: 1.5, outputTokens: 5 },
    { inputTokens: Number.NaN, outputTokens: 5 },
    { inputTokens: 10, outputTokens: 5, estimated: true },
  ])("a usage that cannot be true is none: %j", async (lie) => {
    const { deps, attempts } = callSetup();
    const reply = await callModel(scriptedModel([{ content: "x", usage: lie }], { price }), request, deps);
    expect(attempts.line).toBe(`hold:${hold}`);
    expect(reply.usage?.estimated).toBe(true);
  });

  it("an unknown price, as unknown and never as nothing", async () => {
    const { deps, attempts } = callSetup();
    const { price: _none, ...unpriced } = streaming(async function* () {
      yield { content: "x", finishReason: "stop", usage };
    });
    await callModel(unpriced, request, deps);
    expect(attempts.told).toEqual([{ open: 0 }, { settle: { cost: undefined, basis: "usage", usage, failed: false } }]);
  });

  it("a failed try of unknown price: nothing when it never ran, unknown when it may have", async () => {
    const { deps, attempts } = callSetup();
    const tries = [limited(0), cut()];
    const model: ChatModel = {
      id: "unpriced",
      chat: () => Promise.reject(new Error()),
      async *stream() {
        const error = tries.shift();
        if (error !== undefined) throw error;
        yield { content: "x", finishReason: "stop", usage };
      },
    };
    await callModel(model, request, { ...deps, retry: { baseDelay: 0 }, random: () => 0, ...fastClock(deps) });
    expect(attempts.line).toBe("none:0! usage:?! usage:?");
  });

  it("a reply that is refused after it was paid, by its usage", async () => {
    const { deps, attempts } = callSetup();
    const error = await errorOf(callModel(scriptedModel([{ content: "Half", finishReason: "length", usage }], { price }), request, deps));
    expect(error).toMatchObject({ code: "MODEL_TRUNCATED", data: { text: "Half", usage, tries: 1 } });
    expect(attempts.line).toBe("usage:20!");
  });

  it("tells when a call cost more than was reserved", async () => {
    const { deps, warnings } = callSetup();
    await callModel(scriptedModel([{ content: "x", usage: { inputTokens: 1_000_000, outputTokens: 1 } }], { price }), request, deps);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`more than the ${hold} reserved`);
  });
});

function fastClock({ clock }: { readonly clock: { now(): number } }): {
  readonly clock: { now(): number; timer(ms: number, fire: () => void): () => void };
} {
  return {
    clock: {
      now: () => clock.now(),
      timer(ms, fire) {
        if (ms === 0) queueMicrotask(fire);
        return () => {};
      },
    },
  };
}

describe("callModel tries again", () => {
  it("each try is opened and settled in turn", async () => {
    const { deps, attempts, clock } = callSetup();
    const model = scriptedModel([cut(), limited(), modelError("MODEL_TIMEOUT", "late"), good], { price });
    const reply = await withTime(clock, callModel(model, request, deps));
    expect(reply.content).toBe("Something.");
    expect(attempts.line).toBe(`hold:${hold}! none:0! hold:${hold}! usage:20`);
    expect(model.calls).toHaveLength(4);
  });

  it("four times, and then says so", async () => {
    const { deps, attempts, clock } = callSetup();
    const model = scriptedModel(() => cut(), { price });
    const error = await errorOf(withTime(clock, callModel(model, request, deps)));
    expect(error).toMatchObject({ code: "MODEL_CUT", retryable: true, data: { tries: 4 } });
    expect(error.message).toContain("Tried 4 times");
    expect(attempts.told).toHaveLength(8);
  });

  it.each([
    "MODEL_AUTH",
    "MODEL_QUOTA",
    "MODEL_NOT_FOUND",
    "MODEL_BAD_REQUEST",
    "MODEL_CONTEXT_OVERFLOW",
    "MODEL_FORMAT_UNSUPPORTED",
    "MODEL_REFUSED",
    "MODEL_CONTENT_FILTER",
    "MODEL_TRUNCATED",
    "MODEL_FAILED",
  ] as const)("never %s", async (code) => {
    const { deps, attempts } = callSetup();
    const model = scriptedModel([modelError(code, "no"), good], { price });
    expect(await errorOf(callModel(model, request, deps))).toMatchObject({ code });
    expect([model.calls.length, attempts.told.length, attempts.isOpen]).toEqual([1, 2, false]);
  });

  it("has the defaults it is documented with", () => {
    expect(DEFAULT_TIMEOUTS).toEqual({ firstByte: 600_000, silence: 300_000, call: 7_200_000 });
    expect([defaultRetry.tries, defaultRetry.maxRetryAfter, defaultRetry.outage]).toEqual([4, 60_000, 60_000]);
  });

  it("an empty answer, and one that ends without an end", async () => {
    const { deps, attempts, clock } = callSetup();
    let n = 0;
    const model = streaming(async function* () {
      n++;
      if (n === 1) yield { content: " ", finishReason: "stop", usage };
      else if (n === 2) yield { content: "half an answer" };
      else yield { content: "whole", finishReason: "stop", usage };
    });
    expect((await withTime(clock, callModel(model, request, deps))).content).toBe("whole");
    expect(attempts.line).toBe(`usage:20! hold:${hold}! usage:20`);
  });

  it("a whole call has one time for all its tries", async () => {
    const { deps, clock } = callSetup({ timeouts: { call: 5_000 } });
    const model = scriptedModel([limited(4_000), limited(4_000), good]);
    const error = await errorOf(withTime(clock, callModel(model, request, deps)));
    expect(error).toMatchObject({ code: "MODEL_RATE_LIMIT", data: { tries: 2 } });
    expect(clock.now()).toBe(4_000);
  });
});

describe("callModel never hangs", () => {
  it("a model that answers whole is asked whole, and its text comes in one piece", async () => {
    const { deps } = callSetup();
    const script = scriptedModel([good]);
    const whole: ChatModel = { id: "whole", streams: false, chat: (r, o) => script.chat(r, o), stream: () => expect.unreachable() };
    const heard: string[] = [];
    const reply = await callModel(whole, request, { ...deps, onDelta: (text) => void heard.push(text) });
    expect([reply.content, heard]).toEqual(["Something.", ["Something."]]);
  });
});

describe("callModel stops when told", () => {
  it("during a try: the reason is thrown, the try settled at its hold", async () => {
    const { deps, attempts, abort, clock } = callSetup();
    const model = scriptedModel([never], { price });
    const work = errorOf(callModel(model, request, deps));
    await until(() => model.calls.length === 1, "the try");
    const reason = new BudgetError({ needed: 1, left: 0, budget: 0 });
    abort.abort(reason);
    expect(await work).toBe(reason);
    expect(attempts.line).toBe(`hold:${hold}!`);
    expect(clock.pending).toBe(0);
  });

  it("by a listener, of a model whose pieces are all there at once", async () => {
    const { deps, abort } = callSetup();
    const pieces: ChatChunk[] = [{ content: "a" }, { content: "b", finishReason: "stop", usage }];
    const ready: AsyncIterable<ChatChunk> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = pieces.shift();
          return Promise.resolve(value === undefined ? { done: true, value: undefined } : { done: false, value });
        },
      }),
    };
    const heard: string[] = [];
    const onDelta = (text: string): void => {
      heard.push(text);
      abort.abort(new AbortedError("heard enough"));
    };
    expect(
      await errorOf(
        callModel(
          streaming(() => ready),
          request,
          { ...deps, onDelta },
        ),
      ),
    ).toMatchObject({ code: "ABORTED" });
    expect(heard).toEqual(["a"]);
  });

  it("while waiting for the next try, with nothing open", async () => {
    const { deps, attempts, abort, clock } = callSetup();
    const model = scriptedModel([limited(30_000), good], { price });
    const work = errorOf(callModel(model, request, deps));
    await until(() => attempts.told.length === 2, "the first try to end");
    await clock.advance(10);
    const reason = new AbortedError("enough");
    abort.abort(reason);
    expect(await work).toBe(reason);
    expect([attempts.line, model.calls.length, clock.pending]).toEqual(["none:0!", 1, 0]);
  });

  it("before it begins: nothing is sent and nothing costs", async () => {
    const { deps, attempts } = callSetup({ signal: AbortSignal.abort(new AbortedError("early")) });
    const model = scriptedModel([good], { price });
    expect(await errorOf(callModel(model, request, deps))).toMatchObject({ code: "ABORTED" });
    expect([attempts.line, model.calls.length]).toEqual(["none:0", 0]);
  });

  it("a budget that refuses the next try ends the call and frees its place", async () => {
    const limits = modelLimits({ concurrency: 1 });
    const { deps, abort, clock } = callSetup({ limits });
    const refusal = new BudgetError({ needed: 5, left: 1, budget: 10 });
    const settled: AttemptOutcome[] = [];
    let opened = 0;
    const attempts: Attempts = {
      open: () => (++opened > 1 ? Promise.reject(refusal) : Promise.resolve()),
      settle: (outcome) => void settled.push(outcome),
    };
    const model = scriptedModel([cut(), good], { price });
    expect(await errorOf(withTime(clock, callModel(model, request, { ...deps, attempts })))).toBe(refusal);
    expect(settled).toHaveLength(1);
    const lease = await limits.acquire({ tokens: 1, clock, signal: abort.signal });
    lease.release();
  });
});

describe("callModel and its neighbours", () => {
  it("text as it comes, with the try it belongs to", async () => {
    const { deps, clock } = callSetup();
    let n = 0;
    const model = streaming(async function* () {
      n++;
      yield { content: `${n}-a` };
      if (n === 1) throw new TypeError("terminated");
      yield { content: `${n}-b`, finishReason: "stop", usage };
    });
    const heard: [string, number][] = [];
    await withTime(clock, callModel(model, request, { ...deps, onDelta: (text, info) => void heard.push([text, info.try]) }));
    expect(heard).toEqual([
      ["1-a", 1],
      ["2-a", 2],
      ["2-b", 2],
    ]);
  });

  it("a listener that throws loses the text, not the answer", async () => {
    const { deps, warnings } = callSetup();
    const onDelta = (): void => {
      throw new Error("listener");
    };
    expect((await callModel(scriptedModel([good]), request, { ...deps, onDelta })).content).toBe("Something.");
    expect(warnings.filter((text) => text.includes("listener"))).toHaveLength(1);
  });

  it("a price is needed: nothing is sent without one", async () => {
    const { deps, attempts } = callSetup({ requirePrice: true });
    const script = scriptedModel([good]);
    const model: ChatModel = { id: "nobody-knows", chat: (r, o) => script.chat(r, o), stream: (r, o) => script.stream(r, o) };
    const error = await errorOf(callModel(model, request, deps));
    expect(error).toMatchObject({ code: "MODEL_UNPRICED", retryable: false });
    expect(error.message).toContain("allowUnpriced");
    expect([script.calls.length, attempts.told.length]).toEqual([0, 0]);
    await callModel(model, request, { ...deps, prices: { "nobody-knows": price } });
    expect(attempts.line).toBe("usage:20");
  });

  it("a wrong price is told before anything is sent", async () => {
    const model = scriptedModel([good]);
    const deps = { ...callSetup().deps, prices: { [model.id]: { input: -1, output: 0 } } };
    await expect(callModel(model, request, deps)).rejects.toBeInstanceOf(UsageError);
    expect(model.calls).toEqual([]);
  });

  it.each<[string, number | undefined, Partial<CallDeps>, object]>([
    ["no budget", undefined, {}, { price }],
    ["a budget", 16_384, { requirePrice: true }, { price }],
    ["a budget and a free model", undefined, { requirePrice: true }, { price: { input: 0, output: 0 } }],
    ["a budget and a model with a limit of its own", 64_000, { requirePrice: true }, { price, maxOutputTokens: 64_000 }],
    ["a budget and a price for short replies", 4_096, { requirePrice: true, prices: { x: { ...price, maxOutput: 4_096 } } }, { id: "x" }],
  ])("a request without a limit: %s", async (_what, expected, more, of) => {
    const model = scriptedModel([good], of);
    await callModel(model, { messages: request.messages }, { ...callSetup().deps, ...more });
    expect(model.calls[0]?.maxTokens).toBe(expected);
  });

  it("a picture is estimated by its kind, not by its bytes", async () => {
    const asked: number[] = [];
    const limits = {
      acquire: ({ tokens }: { readonly tokens: number }) => {
        asked.push(tokens);
        return Promise.resolve({ release() {} });
      },
    };
    const { deps } = callSetup({ limits });
    const look = (data: string): ChatRequest => ({
      messages: [{ role: "user", content: "Look.", images: [{ mediaType: "image/png", data }] }],
      maxTokens: 100,
    });
    for (const data of ["A".repeat(10), "A".repeat(1_000_000)]) await callModel(scriptedModel([good]), look(data), deps);
    expect(asked[1]).toBe(asked[0]);
    expect(asked[0]).toBeGreaterThan(1_100);
  });

  it("limits are taken before money, given back after each try, and corrected by what was used", async () => {
    const events: string[] = [];
    const limits = {
      acquire: ({ tokens }: { readonly tokens: number }) => {
        events.push(`place for ${tokens > 100 ? "more than the reply" : "too little"}`);
        return Promise.resolve({ release: (used?: number) => void events.push(`back ${used ?? "as said"}`) });
      },
    };
    const { deps, clock } = callSetup({ limits });
    const attempts: Attempts = {
      open: () => {
        events.push("hold");
        return Promise.resolve();
      },
      settle: ({ basis }) => void events.push(basis),
    };
    await withTime(clock, callModel(scriptedModel([cut(), limited(), good], { price }), request, { ...deps, attempts }));
    const place = "place for more than the reply";
    expect(events).toEqual([place, "hold", "hold", "back as said", place, "hold", "none", "back 0", place, "hold", "usage", "back 15"]);
  });

  it("a call begins under all limits before the model is asked, and gives its place back once", async () => {
    const events: string[] = [];
    const limits = {
      acquire: () => {
        events.push("place");
        return Promise.resolve({
          begin: () => Promise.resolve(void events.push("begin")),
          release: (used?: number) => void events.push(`back ${used}`),
        });
      },
    };
    const { deps } = callSetup({ limits: allLimits(limits, modelLimits({ concurrency: 1 })) });
    const attempts: Attempts = { open: () => Promise.resolve(void events.push("hold")), settle: ({ basis }) => void events.push(basis) };
    const model = scriptedModel([good], { price });
    await callModel(model, request, { ...deps, attempts });
    expect(events).toEqual(["place", "hold", "begin", "usage", "back 15"]);
  });

  it("Limits.W5 a call that got its money late keeps its place, so calls that wait for that money do not hold it up", async () => {
    const limits = modelLimits({ concurrency: 2, requestsPerSecond: 1 });
    const { clock } = callSetup();
    let free = 1;
    const waiting: (() => void)[] = [];
    let isFirst = true;
    // There is money for one call at a time, and the first is recorded for a long time.
    const attempts: Attempts = {
      open: async () => {
        while (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        free -= 1;
        if (!isFirst) return;
        isFirst = false;
        await new Promise<void>((resolve) => {
          clock.timer(1_500, resolve);
        });
      },
      settle: () => {
        free += 1;
        for (const wake of waiting.splice(0)) wake();
      },
    };
    let asked = 0;
    const model = scriptedModel(() => ((asked += 1), good), { price });
    const calls = [0, 1, 2].map(() => callModel(model, request, { ...callSetup().deps, clock, limits, attempts }));
    await withTime(clock, Promise.all(calls));
    expect(asked).toBe(3);
  });
});
