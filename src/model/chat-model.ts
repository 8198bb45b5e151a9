import type { Json, JsonObject } from "../kernel/json.ts";
import type { ChatMessage, Reasoning, ToolCall } from "./chat-message.ts";
import type { ModelPrice } from "./price.ts";
import type { CallTimeouts } from "./timeouts.ts";

/** A model that answers a conversation: the port of every provider. */
export interface ChatModel {
  /** The model's name at its provider, such as "gpt-5-mini". Part of every request's address. */
  readonly id: string;
  /** Default: the price table decides by `id`. */
  readonly price?: ModelPrice;
  /** Tokens of one reply, if the provider has a limit. */
  readonly maxOutputTokens?: number;
  /** The media types of files that it reads, such as `application/pdf` or `audio/*`; it gets words for others. Default: `["image/*"]`. */
  readonly takes?: readonly string[];
  /** Default: those of the caller, else {@link DEFAULT_TIMEOUTS}. */
  readonly timeouts?: CallTimeouts;
  /** False if the server cannot answer in pieces: only the limit on the whole call applies then. Default true. */
  readonly streams?: boolean;
  /** True if the server neither repeats nor bills a request whose {@link ChatOptions.key} it has seen: a repeated call costs once. Default false. */
  readonly dropsRepeats?: boolean;
  /** Provider-specific fields of every request. Part of each request's address. */
  readonly extra?: Readonly<Record<string, Json>>;
  /** One attempt: retries, limits and billing are the caller's. */
  chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse>;
  /** The last chunk has `finishReason`, and `usage` if the provider reports it. */
  stream(request: ChatRequest, o: ChatOptions): AsyncIterable<ChatChunk>;
}

/** Options of one attempt. */
export interface ChatOptions {
  readonly signal: AbortSignal;
  /** The idempotency key: the same in a resumed run, and for a retry unless the failed try was answered. Undefined outside a run. */
  readonly key?: string;
  /** The activation and the step, without the run: equal in equal runs. Undefined outside a run. Not part of a request. */
  readonly occurrence?: string;
  /** An adapter calls it whenever bytes arrive, also without a complete chunk. */
  readonly alive?: () => void;
}

/** The required form of a reply on the wire. `schema`: the provider enforces it; `json`: any JSON object; `text`: nothing is enforced. */
export type ReplyFormat =
  | { readonly type: "schema"; readonly name: string; readonly schema: JsonObject }
  | { readonly type: "json" }
  | { readonly type: "text" };

/** The description of a tool for a model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: JsonObject;
}

/** Everything that determines an answer, and nothing else. Plain JSON. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolSpec[];
  readonly toolChoice?: "none" | "auto" | "required" | { readonly name: string };
  readonly schema?: ReplyFormat;
  readonly temperature?: number;
  /** Most tokens of the reply. */
  readonly maxTokens?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  /** Provider-specific fields, sent as they are. */
  readonly extra?: Readonly<Record<string, Json>>;
}

/** The reason for the end of a reply. `length`: it was cut, which is an error but where it calls tools; the last call may be cut then. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Tokens of one call. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens the provider served from its cache; part of `inputTokens`. */
  readonly cachedTokens?: number;
  /** Set when the provider reported nothing and the numbers are estimated from characters. */
  readonly estimated?: boolean;
}

/** A whole answer. */
export interface ChatResponse {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  /** Undefined if the provider reported no usage. */
  readonly usage?: Usage;
  /** The model's own words of refusal, if the provider marks them. */
  readonly refusal?: string;
  /** The model that answered, if several could. */
  readonly model?: string;
  readonly reasoning?: Reasoning;
  /** The version of the model, and the fingerprint of its configuration, which the provider says answered. */
  readonly served?: { readonly model: string; readonly fingerprint?: string };
}

/** A piece of a streamed answer. */
export interface ChatChunk {
  readonly content?: string;
  readonly toolCalls?: readonly ToolCallDelta[];
  readonly finishReason?: FinishReason;
  readonly usage?: Usage;
  readonly refusal?: string;
  /** A piece of it: strings and parts are joined. */
  readonly reasoning?: Reasoning;
  /** The first one counts. */
  readonly served?: ChatResponse["served"];
}

/** Pieces of one `index` belong together. */
export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly extra?: JsonObject;
}

/** An answer as the only piece of a stream. */
export function inOnePiece(answer: ChatResponse): ChatChunk {
  const { toolCalls, model: _model, ...reply } = answer;
  const deltas = toolCalls.map(({ id, function: { name, arguments: given }, extra }, index): ToolCallDelta => {
    return { index, id, name, arguments: given, ...(extra === undefined ? {} : { extra }) };
  });
  return { ...reply, ...(deltas.length === 0 ? {} : { toolCalls: deltas }) };
}

export function addUsage(sum: Usage, usage: Usage | undefined): Usage {
  if (usage === undefined) return sum;
  const cached = (sum.cachedTokens ?? 0) + (usage.cachedTokens ?? 0);
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    ...(cached === 0 ? {} : { cachedTokens: cached }),
    ...(sum.estimated === true || usage.estimated === true ? { estimated: true } : {}),
  };
}
