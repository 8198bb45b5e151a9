import { redactor } from "./mask.ts";
import { isObject } from "./value-kind.ts";
import { shownText } from "./value-text.ts";

export interface ServerTerms {
  readonly token: string;
  readonly address: string;
}

export interface Refusal {
  readonly status: number;
  /** With the secrets masked; hostile. */
  readonly said?: string | undefined;
  readonly retryAfter?: string | undefined;
}

const MAX_SAID = 300;

const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** `status 404: "nope". Nothing is at this path: look at the url.` */
export function refusalText({ status, said = "", retryAfter }: Refusal, terms: ServerTerms): string {
  const quoted = shownText(redactor([])(said).replace(/\s+/g, " "), MAX_SAID);
  const wait = BUSY.has(status) ? waitText(retryAfter) : "";
  return `status ${status}${quoted === "" ? "" : `: ${JSON.stringify(quoted)}`}. ${adviceOn(status, terms)}${wait}`;
}

function adviceOn(status: number, { token, address }: ServerTerms): string {
  switch (status) {
    case 401:
      return `It does not know the caller: give ${token}.`;
    case 403:
      return `It forbids this to the caller: ask for the right, or give other credentials: ${token}.`;
    case 404:
    case 410:
      return `Nothing is at this path: look at ${address}.`;
    case 405:
      return `The path takes no such request: look at ${address}.`;
    case 429:
      return "It gets too many requests: ask later.";
    default:
  }
  if (status >= 500) return "The fault is the server's: look at its log, or ask later.";
  if (status >= 400) return `It did not take the request: look at ${address} and its version.`;
  return status >= 300
    ? `It leads elsewhere, and redirects are not followed: look at ${address}.`
    : `It is no such server: look at ${address}.`;
}

function waitText(retryAfter = ""): string {
  if (/^\d{1,9}$/.test(retryAfter.trim())) return ` It asks to wait for ${Number(retryAfter)} s.`;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? "" : ` It asks to wait until ${new Date(date).toISOString()}.`;
}

const CODES: readonly (readonly [codes: RegExp, what: string])[] = [
  [/^(?:ENOTFOUND|EAI_\w+)$/, "the name of the host is not known"],
  [/^ECONNREFUSED$/, "the host refuses the connection: nothing listens on this port"],
  [/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, "no answer came in time"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/, "no network leads to the host"],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|WEB_CLOSED)$/, "the connection was cut"],
  [/^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/, "the certificate of the server is out of date"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "the certificate is for another host"],
  [/SELF_SIGNED|^UNABLE_TO_|^CERT_|^ERR_TLS_CERT/, "the certificate of the server is not trusted"],
  [/^(?:EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/, "the TLS handshake failed: http and https may be mixed up"],
  [/^HPE_\w+$/, "the answer is no HTTP"],
];

const DEEPEST = 6;

/** `fetch` says nothing: its cause does. */
const UNTOLD = "fetch failed";

/** Returns why no answer came: DNS, a refused connection, TLS, a timeout or a redirect, with the system's code. */
export function unreachedText(error: unknown): string | undefined {
  const causes = causesOf(error);
  for (const { code, message } of causes) {
    const what = typeof code === "string" ? CODES.find(([codes]) => codes.test(code))?.[1] : undefined;
    if (what !== undefined) return `${what} (${String(code)})`;
    if (message === "unexpected redirect") return "the server leads elsewhere, and redirects are not followed";
  }
  const isUntold = causes.some(({ message }) => message === UNTOLD);
  const last = causes.at(-1)?.message;
  return isUntold && last !== UNTOLD && typeof last === "string" && last !== "" ? shownText(last, MAX_SAID) : undefined;
}

interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** The last failure stands for all if several addresses were tried. */
function causesOf(error: unknown): readonly Thrown[] {
  const causes: Thrown[] = [];
  for (let cause = error; isObject(cause) && causes.length < DEEPEST; cause = causes.at(-1)?.cause) {
    const last: unknown = cause instanceof AggregateError ? cause.errors.at(-1) : undefined;
    causes.push(isObject(last) ? last : cause);
  }
  return causes;
}
