import type { OpenAI } from "openai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import { systemClock } from "../kernel/clock.ts";
import type { Json } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Mask } from "../kernel/mask.ts";
import { isObject } from "../kernel/value-kind.ts";
import { ReplyBuilder } from "../model/attempt.ts";
import { calledHere } from "../model/ask.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import { requestBody, type WireDialect } from "../model/openai-request.ts";
import type { ModelPrice } from "../model/price.ts";
import { checkTimeouts } from "../model/timeouts.ts";
import type { CallTimeouts } from "../model/timeouts.ts";
import { ReplyReader } from "./openai-reply.ts";
import {
  clientOf,
  complaintError,
  type FailedRequest,
  forOneRequest,
  maskOf,
  type OpenAIServer,
  requestError,
  serverOf,
  type ServerOptions,
  serverOptions,
} from "./openai-server.ts";

export { openaiEmbedder, type OpenAIEmbedderOptions } from "./openai-embedder.ts";

/** A model behind an OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and many more. */
export interface OpenAIOptions extends ServerOptions {
  /** Provider-specific fields of every request, for example `{ reasoning_effort: "low" }`. */
  readonly extra?: Readonly<Record<string, Json>> | undefined;
  readonly price?: ModelPrice | undefined;
  /** The most tokens one reply of this model may have. */
  readonly maxOutputTokens?: number | undefined;
  /** Default: `max_completion_tokens` for OpenAI's own servers, which refuse the older name for newer models, `max_tokens` for others. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens" | undefined;
  /** The server drops a request whose `Idempotency-Key` it has seen: see {@link ChatModel.dropsRepeats}. Default false. */
  readonly dropsRepeats?: boolean | undefined;
  /** Time limits of its calls, in milliseconds. Default {@link DEFAULT_TIMEOUTS}. */
  readonly timeouts?: CallTimeouts | undefined;
}

const openAIOptions: Known<OpenAIOptions> = {
  ...serverOptions,
  extra: kinds.object,
  price: kinds.price,
  maxOutputTokens: kinds.count,
  maxTokensField: kinds.oneOf("max_tokens", "max_completion_tokens"),
  dropsRepeats: kinds.boolean,
  timeouts: kinds.checked,
};

/**
 * A {@link ChatModel} over the `openai` package, which is loaded with the first call.
 *
 * One call is one HTTP request. The client's retries, timers, parsing helpers and log are off, because they repeat paid calls, stop watching
 * after the first byte, lose the usage of bad replies, and print the texts of models.
 *
 * @throws ModelError `MODEL_AUTH` when there is neither a key nor a base URL.
 * @throws UsageError `BASE_URL_INVALID` for a text that is no base URL, or that has a password; `TIMEOUT_INVALID`.
 * @example
 * import { openai } from "troupe/openai";
 *
 * export const gpt = openai({ model: "gpt-5-mini", apiKey: process.env["MY_KEY"] ?? "none" });
 * export const local = openai({ model: "qwen3:8b", baseURL: "http://127.0.0.1:11434/v1", price: { input: 0, output: 0 } });
 * // A slow machine: half an hour for the first piece, no limit on the whole call.
 * export const slow = openai({ model: "qwen3:32b", baseURL: "http://127.0.0.1:11434/v1", timeouts: { firstByte: 1_800_000, call: 0 } });
 */
export function openai(options: OpenAIOptions): ChatModel {
  checkGivenOptions("openai", options, openAIOptions);
  checkTimeouts(options.timeouts);
  const server = serverOf(options);
  const dialect: WireDialect = {
    model: options.model,
    maxTokensField: options.maxTokensField ?? (server.isOpenAI ? "max_completion_tokens" : "max_tokens"),
    extra: options.extra ?? {},
  };
  const connection = new Connection(server, dialect);
  const { price, maxOutputTokens, extra, dropsRepeats, timeouts } = options;
  const model: ChatModel = {
    id: options.model,
    streams: server.streams,
    ...(price && { price }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(extra && { extra }),
    ...(dropsRepeats === undefined ? {} : { dropsRepeats }),
    ...(timeouts && { timeouts }),
    chat: (request, o) => connection.chat(request, o),
    stream: (request, o) => connection.stream(request, o),
  };
  return {
    ...model,
    chat: (request, o) => calledHere(model).chat(request, o),
    stream: (request, o) => calledHere(model).stream(request, o),
  };
}

/** Modules that are loaded with the first call. */
interface Vendor {
  readonly client: OpenAI;
  readonly Stream: (typeof import("openai/streaming"))["Stream"];
}

/** One model at one server. It owns the client, and keeps no request and no reply. */
class Connection {
  readonly #server: OpenAIServer;
  readonly #dialect: WireDialect;
  readonly #mask: Mask;
  #vendor: Promise<Vendor> | undefined;

  constructor(server: OpenAIServer, dialect: WireDialect) {
    this.#server = server;
    this.#dialect = dialect;
    this.#mask = maskOf(server);
  }

  async chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse> {
    const { signal } = o;
    const reply = new ReplyBuilder(this.#dialect.model);
    try {
      const response = await this.#send(request, o, false);
      reply.add(this.#wholeReply(request, response, await response.text()));
      signal.throwIfAborted();
    } catch (error) {
      throw await this.#failure(error, request, signal, false);
    }
    return reply.finish();
  }

  async *stream(request: ChatRequest, o: ChatOptions): AsyncGenerator<ChatChunk> {
    let began = false;
    let pieces: AsyncIterator<unknown> | undefined;
    try {
      const response = await this.#send(request, o, this.#server.streams);
      o.signal.throwIfAborted();
      // Some servers answer whole whatever they were asked, and some addresses lead to a web page.
      if (!this.#server.streams || /json|html/.test(response.headers.get("content-type") ?? "")) {
        began = true;
        const whole = this.#wholeReply(request, response, await response.text());
        o.signal.throwIfAborted();
        yield whole;
        return;
      }
      const reader = new ReplyReader(this.#dialect.model);
      pieces = await this.#events(response, o);
      for (;;) {
        const next = await pieces.next();
        // The client's loop ends normally on abort.
        o.signal.throwIfAborted();
        if (next.done === true) return;
        const chunk = reader.piece(next.value);
        began = true;
        yield chunk;
      }
    } catch (error) {
      throw await this.#failure(error, request, o.signal, began);
    } finally {
      // Not awaited: a stream that hangs never answers.
      void pieces?.return?.().then(undefined, () => {});
    }
  }

  async #send(request: ChatRequest, { signal, key }: ChatOptions, stream: boolean): Promise<Response> {
    const { client } = await this.#load();
    const body = requestBody(request, this.#dialect, stream) as unknown as ChatCompletionCreateParams;
    const headers = key === undefined ? {} : { headers: { "Idempotency-Key": key } };
    return client.chat.completions.create(body, { signal: forOneRequest(signal), ...headers }).asResponse();
  }

  /** The events of a stream. Every byte counts as a sign of life, for servers that think long send comments meanwhile. */
  async #events(response: Response, o: ChatOptions): Promise<AsyncIterator<unknown>> {
    const { client, Stream } = await this.#load();
    const tap = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, next) {
        o.alive?.();
        next.enqueue(bytes);
      },
    });
    const tapped = new Response(response.body?.pipeThrough(tap) ?? null, { headers: response.headers });
    const controller = new AbortController();
    forOneRequest(o.signal).addEventListener("abort", () => controller.abort(), { once: true });
    return Stream.fromSSEResponse<unknown>(tapped, controller, client)[Symbol.asyncIterator]();
  }

  #wholeReply(request: ChatRequest, response: Response, text: string): ChatChunk {
    const data: unknown = JSON.parse(text);
    const error = isObject(data) ? (data as { error?: unknown }).error : undefined;
    if (error !== undefined && error !== null)
      throw complaintError({ status: undefined, headers: response.headers, error, message: "" }, this.#failed(request, false));
    return new ReplyReader(this.#dialect.model).whole(data);
  }

  /** Returns the reason of the abort that stopped the work, else the error for its failure. */
  async #failure(error: unknown, request: ChatRequest, signal: AbortSignal, began: boolean): Promise<unknown> {
    return signal.aborted ? signal.reason : requestError(error, this.#failed(request, began));
  }

  #failed({ schema }: ChatRequest, began: boolean): FailedRequest {
    const hasSchema = schema !== undefined && schema.type !== "text";
    return { model: this.#dialect.model, mask: this.#mask, now: systemClock.now(), began, hasSchema };
  }

  #load(): Promise<Vendor> {
    this.#vendor ??= Promise.all([import("openai"), import("openai/streaming")]).then(([{ OpenAI: Client }, { Stream }]) => {
      return { client: clientOf(Client, this.#server, this.#dialect.model), Stream };
    });
    return this.#vendor;
  }
}
