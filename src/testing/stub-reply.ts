/** Waits before the n-th thing of a stream is sent, from 0: comments first, then pieces. */
export type Pace = (n: number) => Promise<void> | void;

/** A good answer. */
export interface StubAnswer {
  readonly text?: string;
  /** The pieces of a stream. Default: the text in pieces of 8 characters. */
  readonly chunks?: readonly string[];
  /** In a stream the arguments come in two pieces. */
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason?: string;
  readonly refusal?: string;
  /** Null: the server tells none. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly cached_tokens?: number } | null;
  /** So many keep-alive comments come before the first piece. */
  readonly comments?: number;
  readonly pace?: Pace;
}

/** The text that most faults break. Default "A reply that was going well." */
interface WithText {
  readonly text?: string;
}

/** Pieces that come before it happens. Default 1; 0: not even headers come. */
interface WithAfter extends WithText {
  readonly after?: number;
}

/** Something that goes wrong, by name. */
export type StubFault =
  /** The body ends in the middle. */
  | ({ readonly fault: "cut" } & WithAfter)
  /** Nothing more comes, and the connection stays open until the stub is closed. */
  | ({ readonly fault: "stall" } & WithAfter)
  /** The connection breaks. */
  | ({ readonly fault: "reset" } & WithAfter)
  /** The stream contains an error. */
  | ({ readonly fault: "stream-error"; readonly code?: string | number; readonly message?: string } & WithAfter)
  | { readonly fault: "rate-limit"; readonly retryAfter?: string; readonly retryAfterMs?: string; readonly date?: string }
  | { readonly fault: "quota" }
  | { readonly fault: "unauthorized" }
  | { readonly fault: "not-found" }
  | { readonly fault: "context-overflow" }
  | { readonly fault: "format-unsupported" }
  | { readonly fault: "server-error"; readonly status?: number }
  /** Any other refusal, or a page that is no answer. */
  | { readonly fault: "status"; readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** The body, or a line of the stream, is no JSON. */
  | ({ readonly fault: "bad-json" } & WithText)
  /** JSON, but not an answer. */
  | { readonly fault: "wrong-shape" }
  | { readonly fault: "empty-choices" }
  | ({ readonly fault: "no-usage" } & WithText)
  | ({ readonly fault: "length" } & WithText)
  | { readonly fault: "refusal"; readonly refusal?: string }
  | ({ readonly fault: "content-filter" } & WithText)
  | { readonly fault: "empty" }
  /** The last piece comes twice. */
  | ({ readonly fault: "duplicate-chunk" } & WithText)
  /** More text follows the end of the reply. */
  | ({ readonly fault: "text-after-end" } & WithText);

/** A response, word for word: the protocol as some server writes it, or a stream that breaks wherever it should. */
export interface StubRaw {
  /** The events of a stream. */
  readonly pieces: readonly unknown[];
  /** The body where nothing is streamed. */
  readonly whole: unknown;
  /** The end of the response. Default "done". Of a body that is not done, half is sent. */
  readonly end?: "done" | "cut" | "stall" | "reset";
}

/** Replies that the stub writes itself. */
export type WrittenReply = string | StubAnswer | StubFault;

/** The stub's reaction to one request: a text, an answer with its details, a fault, or a given body. */
export type StubReply = WrittenReply | StubRaw;

/** The answer that a fault breaks by default. */
export const BROKEN_TEXT = "A reply that was going well.";
const PIECE = 8;

/** The answer behind a fault that is told inside an otherwise good answer; undefined for the others. */
export function answerOf(reply: WrittenReply): StubAnswer | undefined {
  if (typeof reply === "string") return { text: reply };
  if (!("fault" in reply)) return reply;
  switch (reply.fault) {
    case "no-usage":
      return { text: reply.text ?? BROKEN_TEXT, usage: null };
    case "length":
      return { text: reply.text ?? BROKEN_TEXT, finishReason: "length" };
    case "content-filter":
      return { text: reply.text ?? "", finishReason: "content_filter" };
    case "refusal":
      return { text: "", refusal: reply.refusal ?? "I cannot help with that." };
    case "empty":
      return { text: "" };
    default:
      return undefined;
  }
}

/** The pieces in which an answer's text is streamed. */
export function piecesOf(answer: StubAnswer): readonly string[] {
  if (answer.chunks !== undefined) return answer.chunks;
  const text = answer.text ?? "";
  return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, n) => text.slice(n * PIECE, (n + 1) * PIECE));
}

/** The whole text of an answer. */
export function textOf(answer: StubAnswer): string {
  return answer.text ?? (answer.chunks ?? []).join("");
}

/** A refusal as it goes over the wire. */
export interface StubRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The refusal a fault stands for; undefined for faults that begin like an answer. */
export function refusalOf(reply: StubFault, request: { readonly model: string; readonly authorization: string }): StubRefusal | undefined {
  switch (reply.fault) {
    case "rate-limit":
      return refusal(429, `Rate limit reached for ${request.model}.`, "rate_limit_exceeded", { headers: waitHeaders(reply) });
    case "quota":
      return refusal(429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota");
    case "unauthorized":
      // A careless server: it repeats the key.
      return refusal(401, `Incorrect API key provided: ${request.authorization}.`, "invalid_api_key");
    case "not-found":
      return refusal(404, `The model '${request.model}' does not exist or you do not have access to it.`, "model_not_found");
    case "context-overflow":
      return refusal(400, OVERFLOW, "context_length_exceeded", { param: "messages" });
    case "format-unsupported":
      return refusal(400, FORMAT, null, { param: "response_format" });
    case "server-error":
      return refusal(reply.status ?? 500, "The server had an error while processing your request.", null, { type: "server_error" });
    case "status":
      return { status: reply.status, headers: { "content-type": "application/json", ...reply.headers }, body: reply.body ?? "" };
    default:
      return undefined;
  }
}

const OVERFLOW = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
const FORMAT = "Invalid parameter: 'response_format' of this type is not supported with this model.";

function refusal(
  status: number,
  message: string,
  code: string | null,
  more: { readonly type?: string; readonly param?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): StubRefusal {
  return {
    status,
    headers: { "content-type": "application/json", "x-request-id": "req_stub", ...more.headers },
    body: JSON.stringify({ error: { message, type: more.type ?? "invalid_request_error", param: more.param ?? null, code } }),
  };
}

function waitHeaders(reply: Extract<StubFault, { readonly fault: "rate-limit" }>): Readonly<Record<string, string>> {
  return {
    ...(reply.retryAfter === undefined ? {} : { "retry-after": reply.retryAfter }),
    ...(reply.retryAfterMs === undefined ? {} : { "retry-after-ms": reply.retryAfterMs }),
    ...(reply.date === undefined ? {} : { date: reply.date }),
  };
}
