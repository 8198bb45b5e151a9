import type { OpenAI } from "openai";
import { z } from "zod";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { parsedJson } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import type { Mask } from "../kernel/mask.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { freshSeed, randomStream } from "../kernel/random.ts";
import type { Embedder, EmbedOptions } from "../memory/embedder.ts";
import type { ModelPrice } from "../model/price.ts";
import { modelError } from "../model/failure.ts";
import { defaultRetry, retryDelay } from "../model/retry.ts";
import {
  clientOf,
  forOneRequest,
  maskOf,
  type OpenAIServer,
  requestError,
  serverOf,
  serverOptions,
  type ServerOptions,
} from "./openai-server.ts";

/** An embedding model behind an OpenAI-compatible server. */
export interface OpenAIEmbedderOptions extends Omit<ServerOptions, "stream"> {
  /** Numbers in a vector. Sent only when given: `text-embedding-3` and later can shorten theirs, most others refuse the question. */
  readonly dimensions?: number | undefined;
  /** Most texts of one request. Default 128. */
  readonly maxBatch?: number | undefined;
  /** Most characters of one text; of a longer one the beginning is embedded. Default 8,000, which is below 8,191 tokens in any language. */
  readonly maxChars?: number | undefined;
  /** Similarity below which texts have nothing to do with each other. Default 0.3, which fits `text-embedding-3`. */
  readonly threshold?: number | undefined;
  /** Written before what is asked, or what is kept, for models that want it: `{ query: "query: ", document: "passage: " }`. */
  readonly prefix?: { readonly query: string; readonly document: string } | undefined;
  /** Dollars for a million tokens, for a model that is in no list of prices. A budget needs one. */
  readonly price?: ModelPrice | undefined;
  readonly clock?: Clock | undefined;
}

const openAIEmbedderOptions: Known<OpenAIEmbedderOptions> = {
  ...serverOptions,
  dimensions: kinds.size,
  maxBatch: kinds.size,
  maxChars: kinds.size,
  threshold: kinds.number,
  prefix: kinds.record(kinds.text),
  price: kinds.price,
  clock: kinds.clock,
};

const ReplySchema = z.object({
  data: z.array(z.object({ index: z.number(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.int().nonnegative() }).optional().catch(undefined),
});

/**
 * An {@link Embedder} over the `openai` package, which is loaded with the first call. What passes (rate limits, servers that fail) is tried
 * again, at most four times.
 *
 * @throws ModelError `MODEL_AUTH` when there is neither a key nor a base URL. UsageError `BASE_URL_INVALID`, `OPTION_INVALID`
 * @example
 * import { MemoryStorage } from "troupe";
 * import { openaiEmbedder } from "troupe/openai";
 *
 * const embedder = openaiEmbedder({ model: "text-embedding-3-small", apiKey: process.env["MY_KEY"] ?? "none" });
 * export const storage = new MemoryStorage({ roleId: "Ada", embedder });
 */
export function openaiEmbedder(options: OpenAIEmbedderOptions): Embedder {
  checkGivenOptions("openaiEmbedder", options, openAIEmbedderOptions);
  const { model, dimensions, maxBatch = 128, maxChars = 8_000, threshold = 0.3, prefix } = options;
  const endpoint = new EmbeddingsEndpoint(serverOf(options), model, dimensions, options.clock ?? systemClock);
  const prefixed = prefix === undefined ? "" : `/${JSON.stringify([prefix.query, prefix.document])}`;
  return {
    id: `openai/${model}/${dimensions ?? "whole"}/${maxChars}${prefixed}`,
    ...(dimensions === undefined ? {} : { dimensions }),
    maxBatch,
    maxChars,
    threshold,
    model,
    ...(options.price === undefined ? {} : { price: options.price }),
    embed: (texts, o = {}) => endpoint.embed(prefix === undefined ? texts : texts.map((text) => prefix[o.kind ?? "document"] + text), o),
  };
}

class EmbeddingsEndpoint {
  readonly #server: OpenAIServer;
  readonly #model: string;
  readonly #dimensions: number | undefined;
  readonly #clock: Clock;
  readonly #mask: Mask;
  readonly #random = randomStream(freshSeed(), "embeddings");
  #client: Promise<OpenAI> | undefined;

  constructor(server: OpenAIServer, model: string, dimensions: number | undefined, clock: Clock) {
    this.#server = server;
    this.#model = model;
    this.#dimensions = dimensions;
    this.#clock = clock;
    this.#mask = maskOf(server);
  }

  async embed(texts: readonly string[], { signal, isOneTry, onUsage }: EmbedOptions): Promise<readonly number[][]> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(texts, signal, onUsage);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        const request = { model: this.#model, mask: this.#mask, now: this.#clock.now(), began: false, hasSchema: false };
        const known = requestError(error, request);
        if (isOneTry === true) throw known;
        const wait = retryDelay(known, tries, defaultRetry, this.#random);
        if (wait === undefined) throw known;
        await sleep(this.#clock, wait, signal);
      }
    }
  }

  async #once(texts: readonly string[], signal: AbortSignal | undefined, onUsage: EmbedOptions["onUsage"]): Promise<readonly number[][]> {
    const client = await (this.#client ??= this.#open());
    const body = {
      model: this.#model,
      input: [...texts],
      encoding_format: "float" as const,
      ...(this.#dimensions === undefined ? {} : { dimensions: this.#dimensions }),
    };
    const response = await client.embeddings.create(body, signal === undefined ? {} : { signal: forOneRequest(signal) }).asResponse();
    const reply = ReplySchema.safeParse(parsedJson(await response.text()));
    if (!reply.success || reply.data.data.length !== texts.length) throw this.#noAnswer(texts.length);
    const { usage } = reply.data;
    if (usage !== undefined) onUsage?.({ inputTokens: usage.prompt_tokens });
    const vectors: number[][] = [];
    // Servers may answer in any order.
    for (const { index, embedding } of reply.data.data) vectors[index] = embedding;
    if (texts.some((_, n) => vectors[n] === undefined)) throw this.#noAnswer(texts.length);
    return vectors;
  }

  #noAnswer(count: number): Error {
    return modelError(
      "MODEL_PROTOCOL",
      `Expected ${count} embeddings from ${this.#model}, got something else. Check that the base URL leads to a server that makes embeddings.`,
    );
  }

  async #open(): Promise<OpenAI> {
    const { OpenAI: Client } = await import("openai");
    return clientOf(Client, this.#server, this.#model);
  }
}
