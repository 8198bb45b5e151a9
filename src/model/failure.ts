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
 * | `MODEL_PROTOCOL` | the server sent something that is not an answer | yes |
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
  /** The server's id of the request, for its support. */
  readonly requestId?: string;
  /** The server's own code. */
  readonly serverCode?: string;
  /** Milliseconds the server asks to wait. */
  readonly retryAfterMs?: number;
  /** False when the model surely never ran, so that the try costs nothing. */
  readonly mayHaveRun?: boolean;
  /** The number of tries. */
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
  /** The time limit that ended the try, and its value in milliseconds. */
  readonly limit?: "firstByte" | "silence" | "call";
  readonly limitMs?: number;
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

/** Failures of tries that the server did not answer, or not to their end. */
const UNANSWERED: ReadonlySet<string> = new Set(["MODEL_UNREACHABLE", "MODEL_TIMEOUT", "MODEL_CUT"]);

/**
 * True for the failure of a try that its receiver has answered: the same idempotency key would bring the same answer again.
 *
 * @param code of the error
 */
export function isAnswered(code: string): boolean {
  return !UNANSWERED.has(code);
}

/** Refusals that come before the model runs. */
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
/** Codes of a network stack whose own time limits came first. */
const TIMED_OUT = new Set(["ETIMEDOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/**
 * Returns the error of this package for an error thrown by a model or by `fetch`. Errors of this package are returned unchanged.
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

/** Returns a copy of an error and its causes with their names, codes and masked texts, and without other members: headers, requests, bodies. */
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
