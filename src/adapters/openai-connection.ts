import { isObject } from "../kernel/value-kind.ts";
import type { OpenAI } from "openai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import { systemClock } from "../kernel/clock.ts";
import { type Mask, redactor } from "../kernel/mask.ts";
import type { ChatChunk, ChatOptions, ChatRequest, ChatResponse, ReplyFormat, ToolSpec } from "../model/chat-model.ts";
import { failureOf, serverError } from "../model/failure.ts";
import { ReplyBuilder } from "../model/attempt.ts";
import { retryAfterOf } from "../model/call.ts";
import { clientOf, Unanswered, type OpenAIServer, secretsOf } from "./openai-server.ts";
import { ReplyReader } from "./openai-reply.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { openaiMessages } from "../model/chat-message.ts";

/** Modules that are loaded with the first call. */
interface Vendor {
  readonly client: OpenAI;
  readonly Stream: (typeof import("openai/streaming"))["Stream"];
  readonly APIError: (typeof import("openai"))["APIError"];
}

/** One model at one server. It owns the client; what was sent and what came back pass through and are not kept. */
export class Connection {
  readonly #server: OpenAIServer;
  readonly #dialect: WireDialect;
  readonly #mask: Mask;
  #vendor: Promise<Vendor> | undefined;

  constructor(server: OpenAIServer, dialect: WireDialect) {
    this.#server = server;
    this.#dialect = dialect;
    this.#mask = redactor(secretsOf(server));
  }

  async chat(request: ChatRequest, { signal }: ChatOptions): Promise<ChatResponse> {
    const reply = new ReplyBuilder(this.#dialect.model);
    try {
      const response = await this.#send(request, signal, false);
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
      const response = await this.#send(request, o.signal, this.#server.streams);
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

  async #send(request: ChatRequest, signal: AbortSignal, stream: boolean): Promise<Response> {
    const { client } = await this.#load();
    const body = requestBody(request, this.#dialect, stream) as unknown as ChatCompletionCreateParams;
    return client.chat.completions.create(body, { signal }).asResponse();
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
    o.signal.addEventListener("abort", () => controller.abort(), { once: true });
    return Stream.fromSSEResponse<unknown>(tapped, controller, client)[Symbol.asyncIterator]();
  }

  #wholeReply(request: ChatRequest, response: Response, text: string): ChatChunk {
    const data: unknown = JSON.parse(text);
    const error = isObject(data) ? (data as { error?: unknown }).error : undefined;
    if (error !== undefined && error !== null)
      throw this.#said(request, { status: undefined, headers: response.headers, error, message: "" }, false);
    return new ReplyReader(this.#dialect.model).whole(data);
  }

  /** The abort that stopped the work, else what its failure means. */
  async #failure(error: unknown, request: ChatRequest, signal: AbortSignal, began: boolean): Promise<unknown> {
    if (signal.aborted) return signal.reason;
    const { APIError } = await this.#load();
    const isAnswer = error instanceof APIError && (error.status !== undefined || error.error !== undefined);
    if (isAnswer) return this.#said(request, error, began);
    const unanswered = error instanceof Error && error.cause instanceof Unanswered ? error.cause.reason : error;
    return failureOf(this.#dialect.model, unanswered, { began, mask: this.#mask });
  }

  /** The error that a server's own words mean. OpenRouter puts the status into the body's code. */
  #said(
    request: ChatRequest,
    answer: {
      readonly status: number | undefined;
      readonly headers: Headers | undefined;
      readonly error: unknown;
      readonly message: string;
    },
    began: boolean,
  ): Error {
    const words = (typeof answer.error === "object" && answer.error !== null ? answer.error : { message: answer.error }) as {
      readonly [key: string]: unknown;
    };
    const text = (key: string): string | undefined =>
      typeof words[key] === "string" && words[key] !== "" ? this.#mask(words[key]) : undefined;
    const numeric = Number(words["code"]);
    const status = answer.status ?? (numeric >= 400 && numeric < 600 ? numeric : undefined);
    const requestId = answer.headers?.get("x-request-id") ?? undefined;
    const retryAfterMs = answer.headers === undefined ? undefined : retryAfterOf(answer.headers, systemClock.now());
    const [code, type, param] = [text("code"), text("type"), text("param")];
    const said = {
      message: text("message") ?? this.#mask(answer.message.replace(/^\d{3} /, "")),
      began,
      ...(status === undefined ? {} : { status }),
      ...(code === undefined ? {} : { code }),
      ...(type === undefined ? {} : { type }),
      ...(param === undefined ? {} : { param }),
      ...(requestId === undefined ? {} : { requestId: this.#mask(requestId) }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
    return serverError(this.#dialect.model, said, request.schema !== undefined && request.schema.type !== "text");
  }

  #load(): Promise<Vendor> {
    this.#vendor ??= Promise.all([import("openai"), import("openai/streaming")]).then(([{ OpenAI: Client, APIError }, { Stream }]) => ({
      client: clientOf(Client, this.#server, this.#dialect.model),
      Stream,
      APIError,
    }));
    return this.#vendor;
  }
}

/** The differences between servers of the same protocol. */
export interface WireDialect {
  readonly model: string;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly extra: Readonly<Record<string, Json>>;
}

/**
 * The body of a `chat/completions` request: what OpenAI's servers accept, without empty fields. Fields that this package is
 * responsible for win over `extra`.
 *
 * @throws UsageError `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's message.
 */
export function requestBody(request: ChatRequest, dialect: WireDialect, stream: boolean): JsonObject {
  return {
    ...dialect.extra,
    ...request.extra,
    model: dialect.model,
    messages: openaiMessages(request.messages),
    ...(request.tools === undefined || request.tools.length === 0 ? {} : { tools: request.tools.map(wireTool) }),
    ...(request.toolChoice === undefined ? {} : { tool_choice: wireToolChoice(request.toolChoice) }),
    ...wireFormat(request.schema),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { [dialect.maxTokensField]: request.maxTokens }),
    ...(request.seed === undefined ? {} : { seed: request.seed }),
    ...(request.stop === undefined || request.stop.length === 0 ? {} : { stop: [...request.stop] }),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

function wireTool(tool: ToolSpec): JsonObject {
  return { type: "function", function: { name: tool.name, description: tool.description, parameters: tool.parameters } };
}

function wireToolChoice(choice: NonNullable<ChatRequest["toolChoice"]>): Json {
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
}

function wireFormat(format: ReplyFormat | undefined): JsonObject {
  switch (format?.type) {
    case "schema":
      return { response_format: { type: "json_schema", json_schema: { name: format.name, schema: format.schema, strict: true } } };
    case "json":
      return { response_format: { type: "json_object" } };
    case "text":
    case undefined:
      return {};
  }
}
