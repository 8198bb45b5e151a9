import { ModelError, TroupeError } from "../kernel/errors.ts";
import { redact } from "../kernel/mask.ts";

/**
 * Every way a model call can fail.
 *
 * | code | what happened | same request again? |
 * |---|---|---|
 * | `MODEL_AUTH` | no key, a wrong key, or a key without rights | no |
 * | `MODEL_QUOTA` | the account has no credit left | no |
 * | `MODEL_NOT_FOUND` | the server has no such model or path | no |
 * | `MODEL_REDIRECTED` | the server sends the request elsewhere; it did not go there | no |
 * | `MODEL_BAD_REQUEST` | the server refused the request as it is | no |
 * | `MODEL_CONTEXT_OVERFLOW` | the request is longer than the model can read | no |
 * | `MODEL_FORMAT_UNSUPPORTED` | the server cannot enforce the reply format asked for | no; the next one down may work |
 * | `MODEL_REFUSED` | the model declined to answer | no |
 * | `MODEL_CONTENT_FILTER` | a filter stopped the request or the reply | no |
 * | `MODEL_TRUNCATED` | the reply reached its length limit; `data.text` keeps what came | no |
 * | `MODEL_UNPRICED` | a budget needs a price and none is known; nothing was sent | no |
 * | `MODEL_FAILED` | a model threw something that is not of this tree | no |
 * | `MODEL_RATE_LIMIT` | too many requests or tokens | yes, later |
 * | `MODEL_SERVER` | the server failed | yes |
 * | `MODEL_UNREACHABLE` | no connection, or it broke before an answer began | yes |
 * | `MODEL_TIMEOUT` | silence, or the whole call took too long | yes |
 * | `MODEL_CUT` | the answer ended in the middle | yes |
 * | `MODEL_EMPTY` | an answer without text and without tool calls | yes |
 * | `MODEL_PROTOCOL` | the server sent what is not an answer | yes |
 */
export type ModelErrorCode = keyof typeof retryableByCode;

const retryableByCode = {
  MODEL_AUTH: false,
  MODEL_QUOTA: false,
  MODEL_NOT_FOUND: false,
  MODEL_REDIRECTED: false,
  MODEL_BAD_REQUEST: false,
  MODEL_CONTEXT_OVERFLOW: false,
  MODEL_FORMAT_UNSUPPORTED: false,
  MODEL_REFUSED: false,
  MODEL_CONTENT_FILTER: false,
  MODEL_TRUNCATED: false,
  MODEL_UNPRICED: false,
  MODEL_FAILED: false,
  MODEL_RATE_LIMIT: true,
  MODEL_SERVER: true,
  MODEL_UNREACHABLE: true,
  MODEL_TIMEOUT: true,
  MODEL_CUT: true,
  MODEL_EMPTY: true,
  MODEL_PROTOCOL: true,
} as const;

/** Facts of a failed call, as JSON: never a header, never a key. */
export interface ModelErrorData {
  /** HTTP status. */
  readonly status?: number;
  /** The server's own name of the request, for its support. */
  readonly requestId?: string;
  /** The server's own code. */
  readonly serverCode?: string;
  /** Milliseconds the server asks to wait. */
  readonly retryAfterMs?: number;
  /** False when the model surely never ran, so that the try costs nothing. */
  readonly mayHaveRun?: boolean;
  /** How often it was tried. */
  readonly tries?: number;
  /** The text that came before the answer failed. */
  readonly text?: string;
  /** The model's words of refusal. */
  readonly refusal?: string;
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedTokens?: number;
    readonly estimated?: boolean;
  };
  /** Set when a reply format was refused for this one schema, not for good. */
  readonly schemaOnly?: boolean;
}

/** A model error of a code; whether it may be sent again follows from the code unless `retryable` says otherwise. */
export function modelError(
  code: ModelErrorCode,
  message: string,
  detail: { readonly data?: ModelErrorData; readonly cause?: unknown; readonly retryable?: boolean } = {},
): ModelError {
  return new ModelError(code, message, {
    retryable: detail.retryable ?? retryableByCode[code],
    ...(detail.data === undefined ? {} : { data: detail.data }),
    ...(detail.cause === undefined ? {} : { cause: detail.cause }),
  });
}

/** The facts of a model error. */
export function errorData(error: ModelError): ModelErrorData {
  return typeof error.data === "object" && error.data !== null ? (error.data as ModelErrorData) : {};
}

/** Refusals that come before the model runs, whoever tells of them. */
const REFUSED_BEFORE: ReadonlySet<string> = new Set([
  "MODEL_RATE_LIMIT",
  "MODEL_AUTH",
  "MODEL_QUOTA",
  "MODEL_NOT_FOUND",
  "MODEL_REDIRECTED",
  "MODEL_BAD_REQUEST",
  "MODEL_CONTEXT_OVERFLOW",
  "MODEL_FORMAT_UNSUPPORTED",
  "MODEL_UNPRICED",
]);

/** True when a failed try may have cost something. An unknown outcome counts as true. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof ModelError) return errorData(error).mayHaveRun ?? !REFUSED_BEFORE.has(error.code);
  return !TroupeError.isInstance(error);
}

/** Codes of Node and undici for a connection that was never made: nothing was sent. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);
/** Codes and words for a connection that broke. undici says `TypeError: terminated` when it happens inside a body. */
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "UND_ERR_SOCKET"]);
const BROKEN_WORDS = /^(terminated|fetch failed|premature close|socket hang up)/i;
/** Codes for a network stack that lost its patience before this package did. */
const TIMED_OUT = new Set(["ETIMEDOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/**
 * What an error thrown by a model or by `fetch` means. Errors of this tree pass as they are.
 *
 * @param o.began whether a part of the answer had come
 * @param o.mask hides secrets in texts of others
 */
export function failureOf(
  model: string,
  error: unknown,
  o: { readonly began: boolean; readonly mask?: (text: string) => string },
): TroupeError {
  if (TroupeError.isInstance(error)) return error;
  const mask = o.mask ?? redact;
  const chain = causes(error);
  const words = chain.map((link) => link.message).filter((text) => text !== "");
  const said = mask(words.join(": ") || String(error));
  const cause = withoutSecrets(error, mask);
  switch (kindOf(chain)) {
    case "not connected":
      return modelError(
        "MODEL_UNREACHABLE",
        `Expected to reach the server of ${model}, got: ${said}. Check the base URL, the network and that the server runs.`,
        { cause, data: { mayHaveRun: false } },
      );
    case "timed out":
      return modelError(
        "MODEL_TIMEOUT",
        `Expected an answer from ${model}, but the connection timed out: ${said}. Check the network and how busy the server is.`,
        { cause },
      );
    case "broken":
      return o.began
        ? modelError(
            "MODEL_CUT",
            `Expected a whole answer from ${model}, but the connection broke in the middle of it: ${said}. Check the network and the server's log.`,
            { cause },
          )
        : modelError(
            "MODEL_UNREACHABLE",
            `Expected an answer from ${model}, but the connection broke before one began: ${said}. Check that the base URL is that of an API and that the server still runs.`,
            { cause },
          );
    case "not JSON":
      return modelError(
        "MODEL_PROTOCOL",
        `Expected JSON from the server of ${model}, got something else: ${said}. Check that the base URL is that of an API.`,
        { cause },
      );
    case "unknown":
      return modelError(
        "MODEL_FAILED",
        `Expected an answer from ${model}, but it threw: ${said}. Look at the cause; a model shall throw ModelError for what may be tried again.`,
        { cause },
      );
  }
}

function kindOf(chain: readonly Error[]): "not connected" | "timed out" | "broken" | "not JSON" | "unknown" {
  const codes = chain.map((link) => (link as { code?: unknown }).code).filter((code) => typeof code === "string");
  if (codes.some((code) => NOT_CONNECTED.has(code))) return "not connected";
  if (codes.some((code) => TIMED_OUT.has(code))) return "timed out";
  if (codes.some((code) => BROKEN.has(code)) || chain.some((link) => BROKEN_WORDS.test(link.message))) return "broken";
  return chain.some((link) => link instanceof SyntaxError) ? "not JSON" : "unknown";
}

/** A copy of an error and its causes that keeps names, codes and masked words, and nothing a vendor hung on it: headers, requests, bodies. */
function withoutSecrets(error: unknown, mask: (text: string) => string): Error {
  return (
    causes(error).reduceRight<Error | undefined>((inner, link) => {
      const copy = new Error(mask(link.message), inner === undefined ? undefined : { cause: inner });
      copy.name = link.name;
      const code = (link as { code?: unknown }).code;
      if (typeof code === "string") Object.defineProperty(copy, "code", { value: code, enumerable: true });
      return copy;
    }, undefined) ?? new Error(mask(String(error)))
  );
}

/** An error and its causes, at most five deep: a chain may be a ring. */
function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  let link = error;
  while (link instanceof Error && chain.length < 5) {
    chain.push(link);
    link = link.cause;
  }
  return chain;
}

/** A server's refusal. Its texts are masked. */
export interface ServerSaid {
  /** HTTP status; undefined for an error inside a stream that carries none. */
  readonly status?: number;
  readonly message: string;
  readonly code?: string;
  readonly type?: string;
  /** The field of the request it complains about. */
  readonly param?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** True when an answer had begun, so that the model ran. */
  readonly began?: boolean;
}

/** OpenAI and vLLM; llama.cpp; Ollama; Anthropic; Gemini; Mistral; LM Studio. */
const OVERFLOW =
  /context_length_exceeded|exceed_context_size|maximum context length|maximum model length|exceeds? the (?:available )?context|exceeds? the (?:model'?s )?context|context (?:size|length|window) (?:was )?exceeded|prompt (?:is )?too long|input is too (?:long|large)|input token count .*exceeds|too large for model|context the overflows/i;
const QUOTA =
  /insufficient_quota|insufficient[ _](?:balance|credits?|funds)|billing_hard_limit|exceeded your current quota|payment required/i;
const FILTERED = /content_filter|content_policy|content management policy|responsible ?ai|safety system/i;
const FORMAT = /response_?format|json_schema|json_object|json mode|structured[ _]outputs?|guided_json|grammar/i;
/** Complaints about this one schema: the same server may enforce another. */
const ONE_SCHEMA =
  /invalid schema|invalid_json_schema|schema (?:conversion|is too)|failed to parse grammar|unsupported (?:schema|keyword)|grammar/i;
const GENERATION_FAILED = /json_validate_failed|failed to generate json/i;

/**
 * What a server's refusal means.
 *
 * Money: 4xx, 429, 503 and 529 are refusals before the model ran. 500, 502, 504 and other 5xx come from servers and gateways whose
 * model may have run, and so does any error inside a begun stream: those tries keep their hold.
 *
 * @param formatAsked whether the request asked for a reply format, so that a complaint about formats is about it
 */
export function serverError(model: string, said: ServerSaid, formatAsked: boolean): ModelError {
  const data = facts(said);
  const words = `${said.code ?? ""} ${said.type ?? ""} ${said.message}`;
  const fail = (
    code: ModelErrorCode,
    expected: string,
    todo: string,
    extra: { data?: ModelErrorData; retryable?: boolean } = {},
  ): ModelError =>
    modelError(
      code,
      `Expected ${expected}, got${said.status === undefined ? "" : ` ${said.status}`}: ${said.message || "no explanation"}. ${todo}`,
      {
        ...(extra.retryable === undefined ? {} : { retryable: extra.retryable }),
        data: { ...data, ...extra.data },
      },
    );

  if (FILTERED.test(words)) return fail("MODEL_CONTENT_FILTER", `${model} to answer`, "Change the words of the request.");
  if (GENERATION_FAILED.test(words)) {
    return fail("MODEL_PROTOCOL", `${model} to write JSON`, "It is asked again.", { data: { mayHaveRun: true } });
  }
  if (OVERFLOW.test(words))
    return fail(
      "MODEL_CONTEXT_OVERFLOW",
      `a request that ${model} can read in one piece`,
      "Send less or use a model with a longer context.",
    );
  const status = said.status ?? statusOf(words);
  if (QUOTA.test(words) || status === 402)
    return fail("MODEL_QUOTA", "credit for this call", "Add credit with the provider or use another key.");
  if (status === 429) {
    const hopeless = /request too large/i.test(said.message);
    const todo = hopeless
      ? "One request is more than a minute's allowance: send less."
      : "Slow down (see modelLimits) or raise the limit with the provider.";
    return fail("MODEL_RATE_LIMIT", `${model} within its rate limits`, todo, { retryable: !hopeless });
  }
  if (status === 401 || status === 403)
    return fail("MODEL_AUTH", `a key that may use ${model}`, "Check the API key and what it is allowed to do.");
  if (formatAsked && isFormatComplaint(status, said)) {
    return fail("MODEL_FORMAT_UNSUPPORTED", `${model} to take the reply format`, "Ask for a plainer format.", {
      data: { schemaOnly: ONE_SCHEMA.test(words) },
    });
  }
  if (status === 404) return fail("MODEL_NOT_FOUND", `model ${model} on this server`, "Check the name of the model and the base URL.");
  if (status === 413) return fail("MODEL_CONTEXT_OVERFLOW", "a request the server takes in one piece", "Send less.");
  if (status === 408 || status === 409) return fail("MODEL_SERVER", `an answer from ${model}`, "The server asks to be tried again.");
  if (status < 500) return fail("MODEL_BAD_REQUEST", `a request that the server of ${model} takes`, "Change what it complains about.");
  return fail("MODEL_SERVER", `an answer from ${model}`, "The server failed; look at its status page or logs if this persists.");
}

function facts(said: ServerSaid): ModelErrorData {
  const refusedBefore = said.status !== undefined && (said.status < 500 || said.status === 503 || said.status === 529);
  return {
    ...(said.status === undefined ? {} : { status: said.status }),
    ...(said.requestId === undefined ? {} : { requestId: said.requestId }),
    ...(said.code === undefined ? {} : { serverCode: said.code }),
    ...(said.retryAfterMs === undefined ? {} : { retryAfterMs: said.retryAfterMs }),
    mayHaveRun: said.began === true || !refusedBefore,
  };
}

/** An error inside a stream often names its status only in words. */
function statusOf(words: string): number {
  if (/rate_?limit|too many requests/i.test(words)) return 429;
  if (/invalid_request/i.test(words)) return 400;
  return 500;
}

/** llama.cpp answers 500 where others say 400; 501 is "not implemented". */
function isFormatComplaint(status: number, said: ServerSaid): boolean {
  if (![400, 404, 415, 422, 500, 501].includes(status)) return false;
  return said.param?.startsWith("response_format") === true || FORMAT.test(`${said.code ?? ""} ${said.message}`);
}
