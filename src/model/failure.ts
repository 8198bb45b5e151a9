import { defined } from "../kernel/value-kind.ts";
import { ModelError, TroupeError } from "../kernel/errors.ts";
import { redact } from "../kernel/mask.ts";
import type { Usage } from "./chat-model.ts";

/** The consequences of each failure: whether the same request may succeed later, and whether the model may have run, so that it may have cost something. */
const FAILURES = {
  /** No key, a wrong key, or a key without rights. */
  MODEL_AUTH: "final, not run",
  /** The account has no credit left. */
  MODEL_QUOTA: "final, not run",
  /** The server has no such model or path. */
  MODEL_NOT_FOUND: "final, not run",
  /** The server redirects the request; the redirect was not followed. */
  MODEL_REDIRECTED: "final, not run",
  /** The server refused the request as it is. */
  MODEL_BAD_REQUEST: "final, not run",
  /** The request is longer than the model can read. */
  MODEL_CONTEXT_OVERFLOW: "final, not run",
  /** The server cannot enforce the reply format; the next one down may work. */
  MODEL_FORMAT_UNSUPPORTED: "final, not run",
  /** A budget needs a price, and the price is unknown; no request was sent. */
  MODEL_UNPRICED: "final, not run",
  /** The model declined to answer. */
  MODEL_REFUSED: "final",
  /** A filter stopped the request or the reply. */
  MODEL_CONTENT_FILTER: "final",
  /** The reply reached its length limit; `data.text` keeps what came. */
  MODEL_TRUNCATED: "final",
  /** A model threw an error from outside this package. */
  MODEL_FAILED: "final",
  /** Too many requests or tokens. */
  MODEL_RATE_LIMIT: "retryable, not run",
  /** The server failed. */
  MODEL_SERVER: "retryable",
  /** No connection, or it broke before an answer began. */
  MODEL_UNREACHABLE: "retryable",
  /** Silence, or the whole call took too long. */
  MODEL_TIMEOUT: "retryable",
  /** The answer ended in the middle. */
  MODEL_CUT: "retryable",
  /** An answer without text and without tool calls. */
  MODEL_EMPTY: "retryable",
  /** The server sent something that is not an answer. */
  MODEL_PROTOCOL: "retryable",
} as const;

/** Every way a model call can fail. */
export type ModelErrorCode = keyof typeof FAILURES;

/** As JSON: never a header, never a key. */
export interface ModelErrorData {
  readonly status?: number;
  readonly requestId?: string;
  readonly serverCode?: string;
  readonly retryAfterMs?: number;
  /** False when the model surely never ran. */
  readonly mayHaveRun?: boolean;
  readonly tries?: number;
  readonly text?: string;
  readonly refusal?: string;
  readonly usage?: Usage;
  readonly limit?: "firstByte" | "silence" | "call";
  readonly limitMs?: number;
  /** The feature that the model does not take. */
  readonly unsupported?: "tools" | "images";
  /** The refusal names no known field or reason. */
  readonly isUnexplained?: boolean;
}

export function modelError(
  code: ModelErrorCode,
  message: string,
  detail: { readonly data?: ModelErrorData; readonly cause?: unknown; readonly retryable?: boolean } = {},
): ModelError {
  return new ModelError(code, message, { retryable: FAILURES[code].startsWith("retryable"), ...defined(detail) });
}

export function errorData(error: ModelError): ModelErrorData {
  return typeof error.data === "object" && error.data !== null ? (error.data as ModelErrorData) : {};
}

/** Failures of tries that the server did not answer to their end. */
const UNANSWERED: ReadonlySet<string> = new Set(["MODEL_UNREACHABLE", "MODEL_TIMEOUT", "MODEL_CUT"]);

/** True for a try that its receiver has answered: the same idempotency key would bring the same answer again. @param code of the error */
export function isAnswered(code: string): boolean {
  return !UNANSWERED.has(code);
}

/** An unknown outcome counts as true. */
export function mayHaveRun(error: unknown): boolean {
  if (!(error instanceof ModelError)) return !TroupeError.isInstance(error);
  const failure: string | undefined = FAILURES[error.code as ModelErrorCode];
  return errorData(error).mayHaveRun ?? failure?.endsWith("not run") !== true;
}

/** The connection was never made: nothing was sent. */
const NOT_CONNECTED = new Set(
  "ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT ERR_TLS_CERT_ALTNAME_INVALID".split(
    " ",
  ),
);
/** undici says `TypeError: terminated` when the connection breaks inside a body. */
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "UND_ERR_SOCKET"]);
const BROKEN_WORDS = /^(terminated|fetch failed|premature close|socket hang up)/i;
const TIMED_OUT = new Set(["ETIMEDOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/**
 * Converts an error of a model or of `fetch`. Errors of this package are returned unchanged.
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
  const [code, expected, todo] = FAULTS[kindOf(chain, o.began)];
  return modelError(code, `Expected ${expected.replace("MODEL", () => model)}: ${said}. ${todo}`, {
    cause: withoutSecrets(error, mask),
    ...(todo === NOT_SENT ? { data: { mayHaveRun: false } } : {}),
  });
}

const NOT_SENT = "Check the base URL, the network and that the server runs.";
const FAULTS = {
  unconnected: ["MODEL_UNREACHABLE", "to reach the server of MODEL, got", NOT_SENT],
  late: ["MODEL_TIMEOUT", "an answer from MODEL, but the connection timed out", "Check the network and how busy the server is."],
  cut: ["MODEL_CUT", "a whole answer from MODEL, but the connection broke in the middle of it", "Check the network and the server's log."],
  broken: [
    "MODEL_UNREACHABLE",
    "an answer from MODEL, but the connection broke before one began",
    "Check that the base URL is that of an API and that the server still runs.",
  ],
  "no JSON": ["MODEL_PROTOCOL", "JSON from the server of MODEL, got something else", "Check that the base URL is that of an API."],
  unknown: [
    "MODEL_FAILED",
    "an answer from MODEL, but it threw",
    "Look at the cause; a model shall throw ModelError for what may be tried again.",
  ],
} as const;

function kindOf(chain: readonly Error[], began: boolean): keyof typeof FAULTS {
  const codes = chain.map((link) => (link as { code?: unknown }).code).filter((code) => typeof code === "string");
  if (codes.some((code) => NOT_CONNECTED.has(code))) return "unconnected";
  if (codes.some((code) => TIMED_OUT.has(code))) return "late";
  if (codes.some((code) => BROKEN.has(code)) || chain.some((link) => BROKEN_WORDS.test(link.message))) return began ? "cut" : "broken";
  return chain.some((link) => link instanceof SyntaxError) ? "no JSON" : "unknown";
}

/** Copies an error and its causes with names, codes and masked texts, without headers, requests and bodies. */
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

/** A chain may be a ring. */
function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  let link = error;
  while (link instanceof Error && chain.length < 5) {
    chain.push(link);
    link = link.cause;
  }
  return chain;
}
