import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { OpenAI } from "openai";
import { z } from "zod";
import { sleep, systemClock, type Clock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { freshSeed, randomStream } from "../kernel/random.ts";
import { type Mask, redactor } from "../kernel/mask.ts";
import type { Embedder, EmbedOptions } from "../memory/embedder.ts";
import type { ModelPrice } from "../model/price.ts";
import { failureOf, modelError } from "../model/failure.ts";
import { serverError } from "../model/server-error.ts";
import { defaultRetry, retryAfterOf, retryDelay } from "../model/retry.ts";
import {
  clientOf,
  forOneRequest,
  Unanswered,
  type OpenAIServer,
  secretsOf,
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

const MAX_BATCH = 128;
const MAX_CHARS = 8_000;
const THRESHOLD = 0.3;

/** Numbers as JSON: many compatible servers know no other form. */
const ReplySchema = z.object({
  data: z.array(z.object({ index: z.number(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.int().nonnegative() }).optional().catch(undefined),
});

interface Answered {
  readonly message: string;
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly code: unknown;
}

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
  const { model, dimensions, maxBatch = MAX_BATCH, maxChars = MAX_CHARS, threshold = THRESHOLD, prefix } = options;
  for (const [name, value] of Object.entries({ dimensions, maxBatch, maxChars })) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0)) {
      throw new UsageError("OPTION_INVALID", `Expected ${name} of an embedder to be a whole number of 1 or more, got ${value}.`);
    }
  }
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
    this.#mask = redactor(secretsOf(server));
  }

  async embed(texts: readonly string[], { signal, isOneTry, onUsage }: EmbedOptions): Promise<readonly number[][]> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(texts, signal, onUsage);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        const known = await this.#failure(error);
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
    const reply = ReplySchema.safeParse(parsed(await response.text()));
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

  async #failure(error: unknown): Promise<Error> {
    const { APIError } = await import("openai");
    const answer = error instanceof APIError ? (error as Answered) : undefined;
    if (answer?.status === undefined) {
      const reason = error instanceof Error && error.cause instanceof Unanswered ? error.cause.reason : error;
      return failureOf(this.#model, reason, { began: false, mask: this.#mask });
    }
    const retryAfterMs = answer.headers === undefined ? undefined : retryAfterOf(answer.headers, this.#clock.now());
    const said = {
      message: this.#mask(answer.message.replace(/^\d{3} /, "")),
      status: answer.status,
      ...(typeof answer.code === "string" ? { code: this.#mask(answer.code) } : {}),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
    return serverError(this.#model, said, false);
  }

  async #open(): Promise<OpenAI> {
    const { OpenAI: Client } = await import("openai");
    return clientOf(Client, this.#server, this.#model);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
