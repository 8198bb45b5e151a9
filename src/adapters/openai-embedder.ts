import { stopSignal } from "../kernel/abort.ts";
import type { OpenAI } from "openai";
import { z } from "zod";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { parsedJson } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { freshSeed, randomStream } from "../kernel/random.ts";
import { defined } from "../kernel/value-kind.ts";
import type { Embedder, EmbedOptions } from "../memory/embedder.ts";
import type { ModelPrice } from "../model/price.ts";
import { modelError } from "../model/failure.ts";
import { defaultRetry, retryDelay } from "../model/retry.ts";
import { clientOf, maskOf, requestError, serverOf, serverOptions, type ServerOptions } from "./openai-server.ts";

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
  const { model, dimensions, maxBatch = 128, maxChars = 8_000, threshold = 0.3, prefix, price, clock = systemClock } = options;
  const server = serverOf(options);
  const mask = maskOf(server);
  const random = randomStream(freshSeed(), "embeddings");
  const prefixed = prefix === undefined ? "" : `/${JSON.stringify([prefix.query, prefix.document])}`;
  let client: Promise<OpenAI> | undefined;
  return {
    id: `openai/${model}/${dimensions ?? "whole"}/${maxChars}${prefixed}`,
    ...{ maxBatch, maxChars, threshold, model, ...defined({ dimensions, price }) },
    async embed(texts, { signal, isOneTry, onUsage, kind = "document" } = {}) {
      const input = texts.map((text) => (prefix?.[kind] ?? "") + text);
      for (let tries = 1; ; tries++) {
        try {
          client ??= import("openai").then(({ OpenAI: Client }) => clientOf(Client, server, model));
          return await vectorsOf(await client, { model, input, encoding_format: "float", ...defined({ dimensions }) }, signal, onUsage);
        } catch (error) {
          if (signal?.aborted === true) throw signal.reason;
          const known = requestError(error, { model, mask, now: clock.now(), began: false, hasSchema: false });
          const wait = isOneTry === true ? undefined : retryDelay(known, tries, defaultRetry, random);
          if (wait === undefined) throw known;
          await sleep(clock, wait, signal);
        }
      }
    },
  };
}

type Body = OpenAI.EmbeddingCreateParams & { readonly input: readonly string[] };

async function vectorsOf(
  client: OpenAI,
  body: Body,
  signal: AbortSignal | undefined,
  onUsage: EmbedOptions["onUsage"],
): Promise<readonly number[][]> {
  const { model, input } = body;
  const request = stopSignal(signal);
  const answer = async (): Promise<string> => (await client.embeddings.create(body, { signal: request.signal }).asResponse()).text();
  const { data: reply } = ReplySchema.safeParse(parsedJson(await answer().finally(request.end)));
  if (reply?.data.length === input.length && reply.usage !== undefined) onUsage?.({ inputTokens: reply.usage.prompt_tokens });
  const vectors: number[][] = [];
  // Servers may answer in any order.
  for (const { index, embedding } of reply?.data ?? []) vectors[index] = embedding;
  if (reply?.data.length === input.length && input.every((_, n) => vectors[n] !== undefined)) return vectors;
  throw modelError(
    "MODEL_PROTOCOL",
    `Expected ${input.length} embeddings from ${model}, got something else. Check that the base URL leads to a server that makes embeddings.`,
  );
}
