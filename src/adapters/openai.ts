import { stopSignal } from "../kernel/abort.ts";
import type { OpenAI } from "openai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import { systemClock } from "../kernel/clock.ts";
import type { ModelError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Mask } from "../kernel/mask.ts";
import { ReplyBuilder } from "../model/attempt.ts";
import { calledHere } from "../model/ask.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import {
  checkDialect,
  type Dialect,
  type DialectPlace,
  dialectPlace,
  inDialect,
  knownDialect,
  learn,
  learntDialect,
  merged,
} from "../model/dialect.ts";
import { isOfOneSchema, lessonOf } from "../model/dialect-lessons.ts";
import { errorData, modelError } from "../model/failure.ts";
import { requestBody, type WireForm } from "../model/openai-request.ts";
import type { ModelPrice } from "../model/price.ts";
import { serverError } from "../model/server-error.ts";
import { checkTimeouts } from "../model/timeouts.ts";
import type { CallTimeouts } from "../model/timeouts.ts";
import { complaintIn, saidBy } from "./openai-complaint.ts";
import { ReplyReader } from "./openai-reply.ts";
import {
  clientOf,
  type FailedRequest,
  maskOf,
  type OpenAIServer,
  requestError,
  saidIn,
  SaidError,
  serverOf,
  type ServerOptions,
  serverOptions,
} from "./openai-server.ts";
import { bodyParts, eventsIn, valuesIn } from "./openai-stream.ts";

export { openaiEmbedder, type OpenAIEmbedderOptions } from "./openai-embedder.ts";

/** A model behind an OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and many more. */
export interface OpenAIOptions extends ServerOptions {
  /** Provider-specific fields of every request, for example `{ reasoning_effort: "low" }`. */
  readonly extra?: Readonly<Record<string, Json>> | undefined;
  readonly price?: ModelPrice | undefined;
  /** The most tokens one reply of this model may have. */
  readonly maxOutputTokens?: number | undefined;
  /** The media types of files that this model reads. Default: `["image/*"]`; at OpenAI's own address also PDF, and for a model of sound WAV and MP3. */
  readonly takes?: readonly string[] | undefined;
  /** How its server's form differs from OpenAI's: `{ maxTokensField: "max_completion_tokens", omit: ["temperature"] }`. Default: learnt from refusals. */
  readonly dialect?: Dialect | undefined;
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
  takes: kinds.list(kinds.text),
  dialect: kinds.checked,
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
  const wire: WireForm = {
    model: options.model,
    maxTokensField: server.isOpenAI ? "max_completion_tokens" : "max_tokens",
    extra: options.extra ?? {},
  };
  const dialect = merged(knownDialect(server.baseURL, options.model), checkDialect(options.dialect));
  const connection = new Connection(server, wire, dialect);
  const { price, maxOutputTokens, extra, dropsRepeats, timeouts } = options;
  const takes = options.takes ?? (server.isOpenAI ? ["image/*", "application/pdf", ...soundsOf(options.model)] : undefined);
  const model: ChatModel = {
    id: options.model,
    streams: server.streams,
    ...(price && { price }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(extra && { extra }),
    ...(dropsRepeats === undefined ? {} : { dropsRepeats }),
    ...(timeouts && { timeouts }),
    ...(takes && { takes }),
    chat: (request, o) => connection.chat(request, o),
    stream: (request, o) => connection.stream(request, o),
  };
  return {
    ...model,
    chat: (request, o) => calledHere(model).chat(request, o),
    stream: (request, o) => calledHere(model).stream(request, o),
  };
}

/** Other models of OpenAI refuse sound. */
function soundsOf(model: string): readonly string[] {
  return model.includes("audio") ? ["audio/wav", "audio/mpeg"] : [];
}

/** Lessons that one request may take: each costs a refused request. */
const MAX_LESSONS = 6;

/** One model at one server. It owns the client, and keeps no request and no reply. */
class Connection {
  readonly #server: OpenAIServer;
  readonly #wire: WireForm;
  readonly #own: Dialect;
  readonly #place: DialectPlace;
  readonly #mask: Mask;
  #client: Promise<OpenAI> | undefined;

  constructor(server: OpenAIServer, wire: WireForm, own: Dialect) {
    this.#server = server;
    this.#wire = wire;
    this.#own = own;
    this.#place = dialectPlace(server.apiKey, server.baseURL, server.query, wire.model);
    this.#mask = maskOf(server);
  }

  async chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse> {
    const reply = new ReplyBuilder(this.#wire.model);
    for await (const chunk of this.#answer(request, o, false)) reply.add(chunk);
    return reply.finish();
  }

  stream(request: ChatRequest, o: ChatOptions): AsyncGenerator<ChatChunk> {
    return this.#answer(request, o, this.#server.streams);
  }

  /** A refusal that teaches how the server wants its requests is no failure: the request is sent again at once, in that form. */
  async *#answer(request: ChatRequest, o: ChatOptions, streams: boolean): AsyncGenerator<ChatChunk> {
    let began = false;
    let once: Once = { dialect: {} };
    for (let lessons = 0; ; lessons++) {
      const body = this.#body(request, once, streams);
      try {
        for await (const chunk of this.#pieces(body, o, lessons)) {
          began = true;
          yield chunk;
        }
        return;
      } catch (error) {
        if (o.signal.aborted) throw o.signal.reason;
        const failed = { ...this.#failed(request, began) };
        const next = began || lessons === MAX_LESSONS ? undefined : this.#learn(error, body, failed, once);
        if (next === undefined) throw requestError(error, failed);
        once = next;
      }
    }
  }

  #body(request: ChatRequest, once: Once, streams: boolean): JsonObject {
    const dialect = merged(this.#dialect(), once.dialect);
    if (dialect.tools === false && (request.tools?.length ?? 0) > 0) throw toolsUnsupported(this.#wire.model);
    return inDialect(requestBody(request, this.#wire, streams && dialect.stream !== false), dialect, once.maxTokens);
  }

  #dialect(): Dialect {
    return merged(learntDialect(this.#place, systemClock.now()), this.#own);
  }

  #learn(error: unknown, body: JsonObject, failed: FailedRequest, once: Once): Once | undefined {
    const said = saidIn(error, failed);
    if (said === undefined) return undefined;
    const lesson = lessonOf(said, body, merged(this.#dialect(), once.dialect));
    if (lesson === undefined) {
      const { unsupported } = errorData(serverError(this.#wire.model, said, false));
      if (unsupported === "tools" && said.status !== 404 && "tools" in body) learn(this.#place, { tools: false }, systemClock.now());
      return undefined;
    }
    const isOnce = lesson.dialect.format !== undefined && isOfOneSchema(said);
    if (!isOnce) learn(this.#place, lesson.dialect, systemClock.now());
    return { dialect: merged(once.dialect, lesson.dialect), maxTokens: lesson.maxTokens ?? once.maxTokens };
  }

  async *#pieces(body: JsonObject, o: ChatOptions, lessons: number): AsyncGenerator<ChatChunk> {
    const { signal, key } = o;
    const client = await this.#load();
    // An answered refusal is answered again under its key.
    const headers = key === undefined ? {} : { headers: { "Idempotency-Key": lessons === 0 ? key : `${key}-${lessons}` } };
    const sent = body as unknown as ChatCompletionCreateParams;
    // The package leaves a listener on the signal that it gets, and that of the caller may live as long as the process.
    const request = stopSignal(signal);
    try {
      const response = await client.chat.completions.create(sent, { signal: request.signal, ...headers }).asResponse();
      signal.throwIfAborted();
      const reader = new ReplyReader(this.#wire.model, Number(body["n"] ?? 1) > 1);
      let began = false;
      for await (const { kind, text } of bodyParts(response.body, () => o.alive?.())) {
        signal.throwIfAborted();
        const values = kind === "whole" ? valuesIn(text) : eventsIn(text, kind === "error");
        for (const value of values) {
          const complaint = complaintIn(value, kind === "error");
          if (complaint !== undefined) throw this.#said(complaint, response.headers, began);
          const chunk = kind === "whole" && values.length === 1 ? reader.whole(value) : reader.piece(value);
          began = true;
          yield chunk;
        }
      }
    } finally {
      request.end();
    }
  }

  #said(complaint: Readonly<Record<string, unknown>>, headers: Headers, began: boolean): SaidError {
    return new SaidError(saidBy(complaint, { status: undefined, headers, began, mask: this.#mask, now: systemClock.now() }));
  }

  #failed({ schema }: ChatRequest, began: boolean): FailedRequest {
    const hasSchema = schema !== undefined && schema.type !== "text";
    return { model: this.#wire.model, mask: this.#mask, now: systemClock.now(), began, hasSchema };
  }

  #load(): Promise<OpenAI> {
    this.#client ??= import("openai").then(({ OpenAI: Client }) => clientOf(Client, this.#server, this.#wire.model));
    return this.#client;
  }
}

interface Once {
  readonly dialect: Dialect;
  readonly maxTokens?: number | undefined;
}

function toolsUnsupported(model: string): ModelError {
  return modelError("MODEL_BAD_REQUEST", `Expected a model that takes tools, but ${model} does not support tools on its server.`, {
    data: { unsupported: "tools", mayHaveRun: false },
  });
}
