import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { canonicalJson } from "../../src/kernel/json.ts";
import { ChatMessage } from "../../src/model/chat-message.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { costOf, holdFor, type ModelPrice, priceOf } from "../../src/model/price.ts";
import { LIST_PRICES, PRICES_AS_OF } from "../../src/model/list-prices.ts";

describe("priceOf", () => {
  it.each([
    ["gpt-4o-mini-2024-07-18", "gpt-4o-mini"],
    ["openai/gpt-4o-mini", "gpt-4o-mini"],
    ["openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini"],
    ["openrouter/openai/gpt-4o-mini", "gpt-4o-mini"],
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"],
    ["claude-3-5-haiku-latest", "claude-3-5-haiku"],
    ["models/gemini-2.5-pro", "gemini-2.5-pro"],
    ["google/gemini-2.5-flash", "gemini-2.5-flash"],
    ["deepseek/deepseek-chat", "deepseek-chat"],
    ["mistralai/mistral-large-2411", "mistral-large-2411"],
    ["GPT-4o", "gpt-4o"],
  ])("finds %s as %s", (id, plain) => {
    expect(priceOf({ id })).toBeDefined();
    expect(priceOf({ id })).toBe(priceOf({ id: plain }));
  });

  it.each([
    "llama3.2",
    "my-own-model",
    "gpt-4o-mini-ft-7",
    "azure/gpt-4o",
    "deepseek/deepseek-chat:free",
    "",
    "gpt",
    "toString",
    "__proto__",
    "constructor",
  ])("knows no price of %j", (id) => {
    expect(priceOf({ id })).toBeUndefined();
  });

  it("an exact dated id wins over the undated one", () => {
    expect(priceOf({ id: "gpt-4o-2024-05-13" })).toMatchObject({ input: 5, output: 15 });
  });

  it("the model's own price wins over the list, an override over both", () => {
    const own = { input: 7, output: 8 };
    expect(priceOf({ id: "gpt-4o", price: own })).toBe(own);
    const override = { input: 1, output: 2 };
    expect(priceOf({ id: "gpt-4o", price: own }, { "gpt-4o": override })).toBe(override);
    expect(priceOf({ id: "gpt-4o-2024-08-06" }, { "gpt-4o": override })).toBe(override);
    expect(priceOf({ id: "local" }, { "gpt-4o": override })).toBeUndefined();
  });

  it.each([
    { input: -1, output: 1 },
    { input: 1, output: Number.NaN },
    { input: 1, output: 1, cachedInput: Infinity },
    { input: 1, output: 1, longPrompt: { over: 1, input: -2, output: 1 } },
  ])("refuses the price %j", (price) => {
    expect(() => priceOf({ id: "x", price })).toThrow(UsageError);
    expect(() => priceOf({ id: "x" }, { x: price })).toThrow(/0 or more/);
  });

  it("the table is dated, and cached input never costs more than fresh", () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const { models } of LIST_PRICES) {
      for (const [id, price] of models) {
        expect(price.cachedInput ?? 0, id).toBeLessThanOrEqual(price.input);
        if (price.longPrompt !== undefined) expect(price.longPrompt.input, id).toBeGreaterThan(price.input);
      }
    }
  });
});

describe("costOf", () => {
  it("a dollar for a million tokens is a micro-dollar for one", () => {
    expect(costOf({ inputTokens: 1_000_000, outputTokens: 0 }, { input: 1, output: 9 })).toBe(1_000_000);
    expect(costOf({ inputTokens: 1000, outputTokens: 100 }, { input: 2.5, output: 10 })).toBe(3500);
  });

  it("rounds up to a whole micro-dollar, and only what is not whole", () => {
    expect(costOf({ inputTokens: 1, outputTokens: 0 }, { input: 0.15, output: 0 })).toBe(1);
    // 0.1 + 0.2 of floating point is a hair above 0.3
    expect(costOf({ inputTokens: 10, outputTokens: 10 }, { input: 0.1, output: 0.2 })).toBe(3);
    expect(costOf({ inputTokens: 0, outputTokens: 10 }, { input: 0, output: 1.1 })).toBe(11);
  });

  it("cached tokens cost less, and never more tokens are cached than were sent", () => {
    const price = { input: 10, output: 0, cachedInput: 1 };
    expect(costOf({ inputTokens: 100, outputTokens: 0, cachedTokens: 60 }, price)).toBe(40 * 10 + 60);
    expect(costOf({ inputTokens: 100, outputTokens: 0, cachedTokens: 600 }, price)).toBe(100);
    expect(costOf({ inputTokens: 100, outputTokens: 0, cachedTokens: 60 }, { input: 10, output: 0 })).toBe(1000);
  });

  it("a long prompt costs more for every token of the request", () => {
    const price: ModelPrice = { input: 1, output: 2, longPrompt: { over: 1000, input: 2, output: 3 } };
    expect(costOf({ inputTokens: 1000, outputTokens: 10 }, price)).toBe(1020);
    expect(costOf({ inputTokens: 1001, outputTokens: 10 }, price)).toBe(2032);
  });
});

const amount = fc.double({ min: 0, max: 200, noNaN: true }).map((value) => Math.round(value * 1000) / 1000);
const prices: fc.Arbitrary<ModelPrice> = fc.record(
  { input: amount, output: amount, cachedInput: amount, longPrompt: fc.record({ over: fc.nat(5000), input: amount, output: amount }) },
  { requiredKeys: ["input", "output"] },
);
const requests: fc.Arbitrary<ChatRequest> = fc.record({
  messages: fc.array(fc.record({ role: fc.constantFrom("system" as const, "user" as const), content: fc.string({ unit: "binary" }) }), {
    minLength: 1,
  }),
  maxTokens: fc.integer({ min: 1, max: 200_000 }),
});

describe("holdFor", () => {
  it("T2: no usage within the bytes and the limit costs more than the hold", () => {
    fc.assert(
      fc.property(
        requests,
        prices,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (request, price, a, b, c) => {
          const bytes = Buffer.byteLength(canonicalJson(request));
          const inputTokens = Math.round(bytes * a);
          const usage = { inputTokens, outputTokens: Math.round((request.maxTokens ?? 0) * b), cachedTokens: Math.round(inputTokens * c) };
          expect(holdFor(request, price)).toBeGreaterThanOrEqual(costOf(usage, price));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("T2: is a whole number and grows with the request", () => {
    fc.assert(
      fc.property(requests, prices, fc.string({ minLength: 1 }), (request, price, more) => {
        const longer = { ...request, messages: [...request.messages, { role: "user" as const, content: more }] };
        expect(Number.isSafeInteger(holdFor(request, price))).toBe(true);
        expect(holdFor(longer, { ...price, cachedInput: 0 })).toBeGreaterThanOrEqual(holdFor(request, { ...price, cachedInput: 0 }));
      }),
    );
  });

  it("is of all the bytes there are, however many of its messages are known from the request before", () => {
    const price = { input: 1, output: 0 };
    const text = fc.string({ unit: fc.oneof(fc.string({ maxLength: 1 }), fc.constantFrom("猫", "\ud800", '"')) });
    const message = fc.oneof(
      text.map((content) => ChatMessage.user(content)),
      text.map((content) => ({ role: "user" as const, content })),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.nat({ max: 9 }), (messages, maxTokens) => {
        for (let end = 0; end <= messages.length; end++) {
          const request = { maxTokens, messages: messages.slice(0, end) };
          expect(holdFor(request, price)).toBe(Buffer.byteLength(JSON.stringify(request)));
        }
      }),
    );
    const changed = { role: "user" as const, content: "cat" };
    const hold = (): number => holdFor({ messages: [changed], maxTokens: 1 }, price);
    const before = hold();
    changed.content = "a longer one";
    expect(hold() - before).toBe(9);
  });

  it("counts the bytes of a picture, and allows for what a mere address can name", () => {
    const price = { input: 1, output: 0 };
    const hold = (data: string): number =>
      holdFor({ messages: [{ role: "user", images: [{ mediaType: "image/png", data }] }], maxTokens: 1 }, price);
    expect(hold("A".repeat(1000)) - hold("")).toBe(1000);
    const named = holdFor({ messages: [{ role: "user", images: [{ url: "https://example.com/a.png" }] }], maxTokens: 1 }, price);
    expect(named).toBeGreaterThan(48_169);
  });

  it("is nothing for a model that costs nothing, and then does not even read the request", () => {
    const unread = {
      get messages(): never {
        throw new Error("it was read");
      },
    };
    expect(holdFor(unread, { input: 0, output: 0 })).toBe(0);
    for (const part of ["input", "output", "cachedInput"]) {
      expect(() => holdFor(unread, { input: 0, output: 0, [part]: 1 })).toThrow("it was read");
      expect(() => holdFor(unread, { input: 0, output: 0, longPrompt: { over: 1, input: 0, output: 0, [part]: 1 } })).toThrow(
        "it was read",
      );
    }
  });
});
