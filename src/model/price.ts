import { aText, object, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { utf8Length } from "../kernel/json.ts";
import { lazily } from "../kernel/lazily.ts";
import { type ChatMessage, isParsedMessage } from "./chat-message.ts";
import type { ChatModel, ChatRequest, Usage } from "./chat-model.ts";
import type { MicroUsd } from "./money.ts";

/** Prices in US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** For input tokens served from the provider's cache. Default: `input`. */
  readonly cachedInput?: number;
}

/** The price of a model; some models charge more for every token of a request with a long prompt. */
export interface ModelPrice extends TokenPrice {
  /** Prices of requests with more than `over` input tokens. */
  readonly longPrompt?: TokenPrice & { readonly over: number };
  /** The most tokens of a reply the provider takes a request for, where that is less than {@link DEFAULT_MAX_TOKENS}. */
  readonly maxOutput?: number;
}

/** Prices by model id, over and above what a model or the built-in table says. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** The most tokens a reply may have where a price is known and nobody said otherwise: without a bound no hold would be one. */
export const DEFAULT_MAX_TOKENS = 16_384;

/**
 * Input tokens reserved for each picture on top of its bytes, for an address of a few bytes can name a large one. The dearest rule
 * known is gpt-4o-mini's: 2833 tokens and 5667 for each of at most 8 tiles, 48 169 together.
 */
const IMAGE_TOKENS = 50_000;

/**
 * Returns the price of a model in dollars for a million tokens: an override by its exact id or its id without the date, else the model's
 * own price, else the list price of that id in the built-in table, also without its date (`gpt-4o-mini-2024-07-18`) and its vendor
 * (`openai/gpt-4o-mini`). Undefined when no price is known.
 *
 * @throws UsageError `PRICE_INVALID` for an override or a price that is not made of finite numbers of 0 or more; `ARGUMENT_INVALID` for a
 * model without an id.
 * @example
 * import { priceOf } from "troupe";
 *
 * const prices = { "my-model": { input: 0.5, output: 2 } }; // dollars for a million tokens
 * console.log(priceOf({ id: "my-model" }, prices)); // { input: 0.5, output: 2 }
 * console.log(priceOf({ id: "some-other-model" })); // undefined
 */
export function priceOf(model: Pick<ChatModel, "id" | "price">, overrides: PriceTable = {}): ModelPrice | undefined {
  takes("priceOf", "model", model, object("a model with an id", { id: aText }));
  takes("priceOf", "overrides", overrides, object("prices by the names of models"));
  return knownPrice(model, overrides);
}

/** {@link priceOf} without checks of its arguments, for calls within the package. */
export function knownPrice({ id, price }: Pick<ChatModel, "id" | "price">, overrides: PriceTable | undefined): ModelPrice | undefined {
  const given = (overrides && (own(overrides, id) ?? own(overrides, undated(id)))) ?? price;
  if (given === undefined) return listPrice(id);
  checkPrice(id, given);
  if (given.longPrompt !== undefined) checkPrice(id, given.longPrompt);
  return given;
}

/**
 * What a call cost, rounded up to a whole micro-dollar. A dollar for a million tokens is a micro-dollar for one.
 *
 * @param usage whole numbers of 0 or more
 */
export function costOf(usage: Usage, price: ModelPrice): MicroUsd {
  const tier = price.longPrompt !== undefined && usage.inputTokens > price.longPrompt.over ? price.longPrompt : price;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.inputTokens);
  const fresh = usage.inputTokens - cached;
  const sum = fresh * units(tier.input) + cached * units(tier.cachedInput ?? tier.input) + usage.outputTokens * units(tier.output);
  return Math.ceil(sum / UNITS) as MicroUsd;
}

/**
 * The most a call can cost: no token is shorter than a byte, so the UTF-8 bytes of the canonical request bound the input, pictures by
 * their bytes and a flat allowance, and `maxTokens` (default {@link DEFAULT_MAX_TOKENS}) bounds the output.
 */
export function holdFor(request: ChatRequest, price: ModelPrice): MicroUsd {
  const { longPrompt } = price;
  if (isFree(price) && (longPrompt === undefined || isFree(longPrompt))) return 0 as MicroUsd;
  const input = inputBound(request);
  const output = request.maxTokens ?? DEFAULT_MAX_TOKENS;
  const tiers = longPrompt !== undefined && input > longPrompt.over ? [price, longPrompt] : [price];
  let most = 0;
  for (const tier of tiers) most = Math.max(most, input * units(Math.max(tier.input, tier.cachedInput ?? 0)) + output * units(tier.output));
  return Math.ceil(most / UNITS) as MicroUsd;
}

/** The bytes of parsed messages, which cannot change: most of a request was part of the one before. */
const knownBytes = new WeakMap<ChatMessage, number>();

/** Bytes of a request as JSON, and the allowance for its pictures. */
function inputBound({ messages, ...rest }: ChatRequest): number {
  let sum = utf8Length(JSON.stringify({ ...rest, messages: [] })) + Math.max(0, messages.length - 1);
  for (const message of messages) {
    const bytes = knownBytes.get(message) ?? utf8Length(JSON.stringify(message));
    if (isParsedMessage(message)) knownBytes.set(message, bytes);
    sum += bytes + (message.images?.length ?? 0) * IMAGE_TOKENS;
  }
  return sum;
}

function isFree({ input, output, cachedInput = 0 }: TokenPrice): boolean {
  return input === 0 && output === 0 && cachedInput === 0;
}

/** Prices are summed as whole millionths of a micro-dollar, so that 0.1 + 0.2 does not round up to one more. */
const UNITS = 1_000_000;

function units(price: number): number {
  return Math.round(price * UNITS);
}

/** List prices by name, alone and behind each prefix of its vendor. Vendors write `claude-sonnet-4-5` where routers write `claude-sonnet-4.5`. */
const listed = lazily(() => {
  const prices = new Map<string, ModelPrice>();
  for (const { prefixes, models } of LIST_PRICES) {
    for (const [name, price] of Object.entries(models)) {
      for (const prefix of ["", ...prefixes]) {
        const key = dashed(prefix + name);
        if (!prices.has(key)) prices.set(key, price);
      }
    }
  }
  return prices;
});

function listPrice(id: string): ModelPrice | undefined {
  const name = dashed(id.toLowerCase().replace(/^openrouter\//, ""));
  return listed().get(name) ?? listed().get(undated(name));
}

function undated(id: string): string {
  return id.replace(/(?:-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$/, "");
}

function dashed(id: string): string {
  return id.replaceAll(".", "-");
}

function own(table: PriceTable, id: string): ModelPrice | undefined {
  return Object.hasOwn(table, id) ? table[id] : undefined;
}

function checkPrice(id: string, price: TokenPrice): void {
  if (isPrice(price.input) && isPrice(price.output) && isPrice(price.cachedInput ?? 0)) return;
  for (const [name, value] of Object.entries({ input: price.input, output: price.output, cachedInput: price.cachedInput ?? 0 })) {
    if (isPrice(value)) continue;
    throw new UsageError(
      "PRICE_INVALID",
      `Expected the ${name} price of ${id} to be dollars for a million tokens, 0 or more, got ${value}.`,
    );
  }
}

function isPrice(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

/** The day the table was last looked over. */
export const PRICES_AS_OF = "2026-06-30";

/** Prefixes that routers put before a vendor's models: a router's `openai/gpt-4o` costs what `gpt-4o` does. */
export interface VendorPrices {
  readonly prefixes: readonly string[];
  readonly models: Readonly<Record<string, ModelPrice>>;
}

/**
 * List prices as known to the authors on {@link PRICES_AS_OF}, in US dollars for a million tokens, standard tier, without tax, batch
 * or regional terms. Providers change them: what you are billed is between you and your provider, so give your own table where it
 * matters. A model that is missing here has no known price, which is told as such and never as nothing.
 */
export const LIST_PRICES: readonly VendorPrices[] = [
  {
    prefixes: ["openai/"],
    models: {
      "gpt-5.5": { input: 5, cachedInput: 0.5, output: 30, longPrompt: { over: 272_000, input: 10, cachedInput: 1, output: 45 } },
      "gpt-5.5-pro": { input: 30, output: 180, longPrompt: { over: 272_000, input: 60, output: 270 } },
      "gpt-5.4": { input: 2.5, cachedInput: 0.25, output: 15, longPrompt: { over: 272_000, input: 5, cachedInput: 0.5, output: 22.5 } },
      "gpt-5.4-mini": { input: 0.75, cachedInput: 0.075, output: 4.5 },
      "gpt-5.4-nano": { input: 0.2, cachedInput: 0.02, output: 1.25 },
      "gpt-5.4-pro": { input: 30, output: 180, longPrompt: { over: 272_000, input: 60, output: 270 } },
      "gpt-5.3-codex": { input: 1.75, cachedInput: 0.175, output: 14 },
      "gpt-5.2": { input: 1.75, cachedInput: 0.175, output: 14 },
      "gpt-5.2-codex": { input: 1.75, cachedInput: 0.175, output: 14 },
      "gpt-5.1": { input: 1.25, cachedInput: 0.125, output: 10 },
      "gpt-5.1-codex": { input: 1.25, cachedInput: 0.125, output: 10 },
      "gpt-5.1-codex-mini": { input: 0.25, cachedInput: 0.025, output: 2 },
      "gpt-5": { input: 1.25, cachedInput: 0.125, output: 10 },
      "gpt-5-mini": { input: 0.25, cachedInput: 0.025, output: 2 },
      "gpt-5-nano": { input: 0.05, cachedInput: 0.005, output: 0.4 },
      "gpt-5-pro": { input: 15, output: 120 },
      "gpt-5-codex": { input: 1.25, cachedInput: 0.125, output: 10 },
      "gpt-4.1": { input: 2, cachedInput: 0.5, output: 8 },
      "gpt-4.1-mini": { input: 0.4, cachedInput: 0.1, output: 1.6 },
      "gpt-4.1-nano": { input: 0.1, cachedInput: 0.025, output: 0.4 },
      "gpt-4o": { input: 2.5, cachedInput: 1.25, output: 10 },
      "gpt-4o-2024-05-13": { input: 5, output: 15, maxOutput: 4_096 },
      "text-embedding-3-small": { input: 0.02, output: 0 },
      "text-embedding-3-large": { input: 0.13, output: 0 },
      "text-embedding-ada-002": { input: 0.1, output: 0 },
      "gpt-4o-mini": { input: 0.15, cachedInput: 0.075, output: 0.6 },
      "chatgpt-4o-latest": { input: 5, output: 15 },
      "gpt-4-turbo": { input: 10, output: 30, maxOutput: 4_096 },
      "gpt-4": { input: 30, output: 60, maxOutput: 4_096 },
      "gpt-3.5-turbo": { input: 0.5, output: 1.5, maxOutput: 4_096 },
      o1: { input: 15, cachedInput: 7.5, output: 60 },
      "o1-mini": { input: 1.1, cachedInput: 0.55, output: 4.4 },
      o3: { input: 2, cachedInput: 0.5, output: 8 },
      "o3-mini": { input: 1.1, cachedInput: 0.55, output: 4.4 },
      "o3-pro": { input: 20, output: 80 },
      "o4-mini": { input: 1.1, cachedInput: 0.275, output: 4.4 },
    },
  },
  {
    prefixes: ["anthropic/"],
    models: {
      "claude-fable-5": { input: 10, cachedInput: 1, output: 50 },
      "claude-opus-5": { input: 5, cachedInput: 0.5, output: 25 },
      "claude-opus-4-8": { input: 5, cachedInput: 0.5, output: 25 },
      "claude-opus-4-7": { input: 5, cachedInput: 0.5, output: 25 },
      "claude-opus-4-6": { input: 5, cachedInput: 0.5, output: 25 },
      "claude-opus-4-5": { input: 5, cachedInput: 0.5, output: 25 },
      "claude-opus-4-1": { input: 15, cachedInput: 1.5, output: 75 },
      "claude-opus-4": { input: 15, cachedInput: 1.5, output: 75 },
      "claude-sonnet-5": { input: 3, cachedInput: 0.3, output: 15 },
      "claude-sonnet-4-6": { input: 3, cachedInput: 0.3, output: 15 },
      "claude-sonnet-4-5": {
        input: 3,
        cachedInput: 0.3,
        output: 15,
        longPrompt: { over: 200_000, input: 6, cachedInput: 0.6, output: 22.5 },
      },
      "claude-sonnet-4": {
        input: 3,
        cachedInput: 0.3,
        output: 15,
        longPrompt: { over: 200_000, input: 6, cachedInput: 0.6, output: 22.5 },
      },
      "claude-haiku-4-5": { input: 1, cachedInput: 0.1, output: 5 },
      "claude-3-7-sonnet": { input: 3, cachedInput: 0.3, output: 15 },
      "claude-3-5-sonnet": { input: 3, cachedInput: 0.3, output: 15, maxOutput: 8_192 },
      "claude-3-5-haiku": { input: 0.8, cachedInput: 0.08, output: 4, maxOutput: 8_192 },
      "claude-3-opus": { input: 15, cachedInput: 1.5, output: 75, maxOutput: 4_096 },
      "claude-3-haiku": { input: 0.25, cachedInput: 0.03, output: 1.25, maxOutput: 4_096 },
    },
  },
  {
    prefixes: ["google/", "gemini/", "models/"],
    models: {
      "gemini-3.5-flash": { input: 1.5, output: 9 },
      "gemini-3.1-pro-preview": {
        input: 2,
        cachedInput: 0.2,
        output: 12,
        longPrompt: { over: 200_000, input: 4, cachedInput: 0.4, output: 18 },
      },
      "gemini-3.1-flash-lite": { input: 0.25, output: 1.5 },
      "gemini-3-pro-preview": {
        input: 2,
        cachedInput: 0.2,
        output: 12,
        longPrompt: { over: 200_000, input: 4, cachedInput: 0.4, output: 18 },
      },
      "gemini-3-flash-preview": { input: 0.5, cachedInput: 0.05, output: 3 },
      "gemini-2.5-pro": {
        input: 1.25,
        cachedInput: 0.125,
        output: 10,
        longPrompt: { over: 200_000, input: 2.5, cachedInput: 0.25, output: 15 },
      },
      "gemini-2.5-flash": { input: 0.3, cachedInput: 0.075, output: 2.5 },
      "gemini-2.5-flash-lite": { input: 0.1, cachedInput: 0.025, output: 0.4 },
      "gemini-2.0-flash": { input: 0.1, cachedInput: 0.025, output: 0.4, maxOutput: 8_192 },
      "gemini-2.0-flash-lite": { input: 0.075, output: 0.3, maxOutput: 8_192 },
    },
  },
  {
    prefixes: ["deepseek/"],
    models: {
      "deepseek-v4-pro": { input: 1.74, cachedInput: 0.145, output: 3.48 },
      "deepseek-chat": { input: 0.28, cachedInput: 0.028, output: 0.42, maxOutput: 8_192 },
      "deepseek-reasoner": { input: 0.28, cachedInput: 0.028, output: 0.42 },
    },
  },
  {
    prefixes: ["mistralai/", "mistral/"],
    models: {
      "mistral-large-2512": { input: 0.5, output: 1.5 },
      "mistral-large-2411": { input: 2, output: 6 },
      "pixtral-large-2411": { input: 2, output: 6 },
      "mistral-medium-2508": { input: 0.4, output: 2 },
      "mistral-medium-2505": { input: 0.4, output: 2 },
      "mistral-small-2506": { input: 0.1, output: 0.3 },
      "magistral-medium-2509": { input: 2, output: 5 },
      "magistral-small-2509": { input: 0.5, output: 1.5 },
      "devstral-medium-2507": { input: 0.4, output: 2 },
      "devstral-small-2507": { input: 0.1, output: 0.3 },
      "codestral-2508": { input: 0.3, output: 0.9 },
      "ministral-8b-2410": { input: 0.1, output: 0.1 },
      "ministral-3b-2410": { input: 0.04, output: 0.04 },
      "open-mistral-nemo": { input: 0.15, output: 0.15 },
    },
  },
];
