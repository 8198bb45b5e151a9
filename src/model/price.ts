import { aText, object, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { utf8Length } from "../kernel/json.ts";
import { type ChatMessage, isParsedMessage } from "./chat-message.ts";
import type { ChatModel, ChatRequest, Usage } from "./chat-model.ts";
import type { MicroUsd } from "./money.ts";
import { LIST_PRICES } from "./price-table.ts";

/** Prices in US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** For input tokens served from the provider's cache. Default: `input`. */
  readonly cachedInput?: number;
}

/** What a model costs; some charge more for every token of a request whose prompt is long. */
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
  const given = own(overrides, model.id) ?? own(overrides, undated(model.id)) ?? model.price;
  if (given === undefined) return listPrice(model.id);
  checkPrice(model.id, given);
  if (given.longPrompt !== undefined) checkPrice(model.id, given.longPrompt);
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
  return ceilUnits(fresh * units(tier.input) + cached * units(tier.cachedInput ?? tier.input) + usage.outputTokens * units(tier.output));
}

/**
 * The most a call can cost: no token is shorter than a byte, so the UTF-8 bytes of the canonical request bound the input, pictures by
 * their bytes and a flat allowance, and `maxTokens` (default {@link DEFAULT_MAX_TOKENS}) bounds the output.
 */
export function holdFor(request: ChatRequest, price: ModelPrice): MicroUsd {
  if (isFree(price) && (price.longPrompt === undefined || isFree(price.longPrompt))) return 0 as MicroUsd;
  const pictures = request.messages.reduce((count, message) => count + (message.images?.length ?? 0), 0);
  const input = requestBytes(request) + pictures * IMAGE_TOKENS;
  const output = request.maxTokens ?? DEFAULT_MAX_TOKENS;
  const tiers = price.longPrompt !== undefined && input > price.longPrompt.over ? [price, price.longPrompt] : [price];
  const holds = tiers.map((tier) => input * units(Math.max(tier.input, tier.cachedInput ?? 0)) + output * units(tier.output));
  return ceilUnits(Math.max(...holds));
}

/** Of messages that cannot change: most of a request was part of the one before. */
const knownBytes = new WeakMap<ChatMessage, number>();

/** Bytes of a request as JSON. */
function requestBytes(request: ChatRequest): number {
  const { messages } = request;
  const commas = Math.max(0, messages.length - 1);
  return messages.reduce((sum, message) => sum + messageBytes(message), utf8Length(JSON.stringify({ ...request, messages: [] })) + commas);
}

function messageBytes(message: ChatMessage): number {
  const known = knownBytes.get(message);
  if (known !== undefined) return known;
  const bytes = utf8Length(JSON.stringify(message));
  if (isParsedMessage(message)) knownBytes.set(message, bytes);
  return bytes;
}

function isFree({ input, output, cachedInput = 0 }: TokenPrice): boolean {
  return input === 0 && output === 0 && cachedInput === 0;
}

/** Prices are summed as whole millionths of a micro-dollar, so that 0.1 + 0.2 does not round up to one more. */
function units(price: number): number {
  return Math.round(price * 1_000_000);
}

function ceilUnits(sum: number): MicroUsd {
  return Math.ceil(sum / 1_000_000) as MicroUsd;
}

function listPrice(id: string): ModelPrice | undefined {
  const name = plain(id);
  for (const { prefixes, models } of LIST_PRICES) {
    const prefix = prefixes.find((candidate) => name.startsWith(candidate)) ?? "";
    const short = name.slice(prefix.length);
    const found = lookup(models, short) ?? lookup(models, undated(short));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Vendors write `claude-sonnet-4-5` where routers write `claude-sonnet-4.5`. */
function lookup(models: PriceTable, id: string): ModelPrice | undefined {
  const exact = own(models, id);
  if (exact !== undefined) return exact;
  const dashed = dash(id);
  return Object.entries(models).find(([name]) => dash(name) === dashed)?.[1];
}

function plain(id: string): string {
  return id.toLowerCase().replace(/^openrouter\//, "");
}

function undated(id: string): string {
  return id.replace(/(?:-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$/, "");
}

function dash(id: string): string {
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
