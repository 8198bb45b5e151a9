import { kinds } from "../kernel/option-kinds.ts";
import { aText, object, takes } from "../kernel/argument.ts";
import { utf8Length } from "../kernel/json.ts";
import { type ChatMessage, isParsedMessage } from "./chat-message.ts";
import type { ChatModel, ChatRequest, Usage } from "./chat-model.ts";
import { LIST_PRICES } from "./list-prices.ts";
import type { MicroUsd } from "./money.ts";

/** Prices in US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** For input tokens served from the provider's cache. Default: `input`. */
  readonly cachedInput?: number;
}

/** Some models charge more for every token of a request with a long prompt. */
export interface ModelPrice extends TokenPrice {
  /** For requests with more than `over` input tokens. */
  readonly longPrompt?: TokenPrice & { readonly over: number };
  /** The provider's limit on a reply, if it is less than {@link DEFAULT_MAX_TOKENS}. */
  readonly maxOutput?: number;
}

/** By model id; overrides the model's own price and the built-in table. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** The default limit on a reply if a price is known: without a limit no hold would bound the cost. */
export const DEFAULT_MAX_TOKENS = 16_384;

/** Input tokens reserved for each picture: an address can name a large one. gpt-4o-mini takes 2833 tokens and 5667 for each of 8 tiles. */
const IMAGE_TOKENS = 50_000;

/**
 * Returns the price of a model in dollars for a million tokens: an override by its exact id or its id without the date, else the model's
 * own, else that of the built-in table, also without its date (`gpt-4o-mini-2024-07-18`) and its vendor (`openai/gpt-4o-mini`). Undefined
 * when none is known.
 *
 * @throws UsageError `OPTION_UNKNOWN`; `OPTION_INVALID` for a price that is not made of finite numbers of 0 or more; `ARGUMENT_INVALID` for
 * a model without an id
 * @example
 * import { priceOf } from "troupe";
 *
 * const prices = { "my-model": { input: 0.5, output: 2 } }; // dollars for a million tokens
 * console.log(priceOf({ id: "my-model" }, prices)); // { input: 0.5, output: 2 }
 * console.log(priceOf({ id: "some-other-model" })); // undefined
 */
export function priceOf(model: Pick<ChatModel, "id" | "price">, overrides: PriceTable = {}): ModelPrice | undefined {
  takes("priceOf", "model", model, object("a model with an id", { id: aText }));
  takes("priceOf", "overrides", overrides, kinds.record(kinds.object));
  return knownPrice(model, overrides);
}

/** {@link priceOf} for calls within the package. */
export function knownPrice({ id, price }: Pick<ChatModel, "id" | "price">, overrides: PriceTable | undefined): ModelPrice | undefined {
  const given =
    [id, undated(id)].flatMap((name) => (overrides && Object.hasOwn(overrides, name) ? (overrides[name] ?? []) : []))[0] ?? price;
  if (given === undefined) return listPrice(id);
  takes(`the model ${id}`, "price", given, kinds.price);
  return given;
}

/** Rounded up to a whole micro-dollar. A dollar for a million tokens is a micro-dollar for one. @param usage whole numbers of 0 or more */
export function costOf(usage: Usage, price: ModelPrice): MicroUsd {
  const tier = price.longPrompt !== undefined && usage.inputTokens > price.longPrompt.over ? price.longPrompt : price;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.inputTokens);
  const fresh = usage.inputTokens - cached;
  const sum = fresh * units(tier.input) + cached * units(tier.cachedInput ?? tier.input) + usage.outputTokens * units(tier.output);
  return Math.ceil(sum / UNITS) as MicroUsd;
}

/**
 * The largest possible cost of a call: no token is shorter than a byte, so the UTF-8 bytes of the request bound the input, pictures by
 * their bytes and a flat allowance, and `maxTokens` bounds the output.
 *
 * @param maxOutput tokens of one reply of the model
 */
export function holdFor(request: ChatRequest, price: ModelPrice, maxOutput: number = price.maxOutput ?? DEFAULT_MAX_TOKENS): MicroUsd {
  const { longPrompt } = price;
  if (isFree(price)) return 0 as MicroUsd;
  const input = inputBound(request);
  const output = request.maxTokens ?? maxOutput;
  const tiers = longPrompt !== undefined && input > longPrompt.over ? [price, longPrompt] : [price];
  let most = 0;
  for (const tier of tiers) most = Math.max(most, input * units(Math.max(tier.input, tier.cachedInput ?? 0)) + output * units(tier.output));
  return Math.ceil(most / UNITS) as MicroUsd;
}

const nothing: readonly never[] = [];

/** Parsed messages cannot change: most of a request was part of the one before. */
const knownBytes = new WeakMap<ChatMessage, number>();

function inputBound({ messages, ...rest }: ChatRequest): number {
  let sum = utf8Length(JSON.stringify({ ...rest, messages: [] })) + Math.max(0, messages.length - 1);
  for (const message of messages) {
    const bytes = knownBytes.get(message) ?? utf8Length(JSON.stringify(message));
    if (isParsedMessage(message)) knownBytes.set(message, bytes);
    sum += bytes;
    for (const part of message.images ?? nothing)
      sum += IMAGE_TOKENS + ("size" in part && !part.mediaType.startsWith("image/") ? part.size : 0);
  }
  return sum;
}

export function isFree({ input, output, cachedInput = 0, longPrompt }: ModelPrice): boolean {
  return input === 0 && output === 0 && cachedInput === 0 && (longPrompt === undefined || isFree(longPrompt));
}

/** Whole millionths of a micro-dollar, so that 0.1 + 0.2 does not round up to one more. */
const UNITS = 1_000_000;

function units(price: number): number {
  return Math.round(price * UNITS);
}

/** By name, alone and behind each prefix of its vendor. Vendors write `claude-sonnet-4-5` where routers write `claude-sonnet-4.5`. */
let listed: ReadonlyMap<string, ModelPrice> | undefined;

function listPrice(id: string): ModelPrice | undefined {
  listed ??= pricesByName();
  const name = id
    .toLowerCase()
    .replace(/^openrouter\//, "")
    .replaceAll(".", "-");
  return listed.get(name) ?? listed.get(undated(name));
}

function pricesByName(): ReadonlyMap<string, ModelPrice> {
  const prices = new Map<string, ModelPrice>();
  for (const { prefixes, models } of LIST_PRICES) {
    for (const [names, price] of models) {
      for (const name of names.split(" ")) for (const prefix of ["", ...prefixes]) prices.set((prefix + name).replaceAll(".", "-"), price);
    }
  }
  return prices;
}

function undated(id: string): string {
  return id.replace(/(?:-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$/, "");
}
