import type { OpenAI } from "openai";
import { type ModelError, UsageError } from "../kernel/errors.ts";
import type { Known } from "../kernel/known-options.ts";
import { type Mask, redactor } from "../kernel/mask.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isObject } from "../kernel/value-kind.ts";
import { failureOf, modelError } from "../model/failure.ts";
import { retryAfterOf } from "../model/retry.ts";
import { serverError } from "../model/server-error.ts";

/** The target of requests, and the parts that every request has. */
export interface OpenAIServer {
  readonly baseURL: string;
  /** The query of the base URL, which every request gets: `?api-version=2024-06-01`, or nothing. */
  readonly query: string;
  readonly apiKey: string;
  readonly isOpenAI: boolean;
  readonly streams: boolean;
  readonly organization: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch | undefined;
}

/** Masks what no error may contain. Versions of an API are no secret, and its complaints name them. */
export function maskOf({ apiKey, headers, query }: OpenAIServer): Mask {
  const asked = [...new URLSearchParams(query)].filter(([name]) => !/version/i.test(name));
  return redactor([apiKey, ...Object.values(headers), ...asked.map(([, value]) => value)]);
}

/** Options of a server, for chats and embeddings alike. */
export interface ServerOptions {
  readonly model: string;
  /** Default: `TROUPE_API_KEY`, else `OPENAI_API_KEY`; with a base URL and no key `none`, as local servers want. */
  readonly apiKey?: string | undefined;
  /**
   * Default: `TROUPE_BASE_URL`, else `OPENAI_BASE_URL`, else OpenAI's own. Every request gets its query, as Azure requires:
   * `https://x.openai.azure.com/openai/deployments/gpt?api-version=2024-06-01`.
   */
  readonly baseURL?: string | undefined;
  readonly organization?: string | undefined;
  /** Sent with every request; their values are secrets and stay out of errors. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** False for servers that cannot stream. Default true. */
  readonly stream?: boolean | undefined;
  /** Carries out the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export const serverOptions: Known<ServerOptions> = {
  model: kinds.text,
  apiKey: kinds.secret,
  baseURL: kinds.text,
  organization: kinds.text,
  headers: { ...kinds.record(kinds.text), isSecret: true },
  stream: kinds.boolean,
  fetch: kinds.function,
};

/** Returns the target of requests by options and environment variables. @throws ModelError `MODEL_AUTH`, UsageError `BASE_URL_INVALID` */
export function serverOf(options: ServerOptions): OpenAIServer {
  const url = firstSet(options.baseURL, process.env["TROUPE_BASE_URL"], process.env["OPENAI_BASE_URL"]);
  const key = firstSet(options.apiKey, process.env["TROUPE_API_KEY"], process.env["OPENAI_API_KEY"]);
  if (url === undefined && key === undefined) {
    throw modelError(
      "MODEL_AUTH",
      `Expected a way to reach ${options.model}, got neither a key nor a base URL. Set OPENAI_API_KEY, or TROUPE_BASE_URL to an OpenAI-compatible server such as http://127.0.0.1:11434/v1.`,
    );
  }
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    throw modelError(
      "MODEL_AUTH",
      `Expected the key for ${options.model} to be printable characters without spaces, got others. Copy it again.`,
    );
  }
  const { origin, pathname, search, hostname } = checkedUrl(url ?? "https://api.openai.com/v1");
  return {
    baseURL: `${origin}${pathname}`.replace(/\/+$/, ""),
    query: search,
    apiKey: key ?? "none",
    isOpenAI: hostname === "api.openai.com",
    streams: options.stream ?? true,
    organization: options.organization,
    headers: options.headers ?? {},
    fetch: options.fetch,
  };
}

function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    // Not the text itself: people paste keys and passwords into the wrong place.
    const came = /^https?:\/\//i.test(text) ? "one that cannot be read" : "one without http:// or https:// in front";
    throw new UsageError(
      "BASE_URL_INVALID",
      `Expected the base URL to be an http or https address such as http://127.0.0.1:11434/v1, got ${came}. Mend what sets it (baseURL or --base-url, else TROUPE_BASE_URL, else OPENAI_BASE_URL), or leave it out to ask OpenAI's own servers.`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(
      "BASE_URL_INVALID",
      `Expected a base URL without a user and password, got one with them for ${url.host}. Take them out, and give secrets as apiKey or headers.`,
    );
  }
  return url;
}

function firstSet(...values: readonly (string | undefined)[]): string | undefined {
  return values.map((value) => value?.trim()).find((value) => value !== undefined && value !== "");
}

/** The longest timer: the caller watches silence and total time, so the client's own timer must not fire. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * Returns a client of one server. Only OpenAI's own servers get admin keys, organizations and projects that the client would read from the
 * environment.
 */
export function clientOf(Client: typeof OpenAI, server: OpenAIServer, model: string): OpenAI {
  const { apiKey, baseURL, query, isOpenAI, organization, headers, fetch: send = patientFetch } = server;
  const within: typeof fetch = (given, init) => {
    const url = new URL(given instanceof Request ? given.url : given);
    // The query stays as it was written: a list of names and values would lose names that stand twice.
    if (query !== "") url.search = url.search === "" ? query : `${query}&${url.search.slice(1)}`;
    return sendWithin(send, model, url, init);
  };
  return new Client({
    apiKey,
    adminAPIKey: null,
    baseURL,
    ...(isOpenAI ? {} : { organization: null, project: null }),
    ...(organization === undefined ? {} : { organization }),
    maxRetries: 0,
    timeout: NO_TIMEOUT,
    logLevel: "off",
    defaultHeaders: { ...headers },
    fetch: (url, init) => carryOut(within, url, init),
  });
}

const SHARED_DISPATCHER: symbol = Symbol.for("undici.globalDispatcher.1");

interface Dispatcher {
  dispatch(options: object, handler: object): boolean;
}

/**
 * The global `fetch` without its own limits: Node's gives up a request after 5 minutes without headers or without a byte of the body, however
 * long the caller wants to wait. It goes through the dispatcher of the process, so that proxies keep working.
 */
export const patientFetch: typeof fetch = (url, init) => {
  const { fetch: send, Response: loaded } = globalThis;
  // Node makes its dispatcher with the first use of a class of fetch.
  const isReady = loaded !== undefined && sharedDispatcher() !== undefined;
  return isReady ? send(url, { ...init, dispatcher: patient } as RequestInit) : send(url, init);
};

const patient: Dispatcher = {
  dispatch(options, handler) {
    const shared = sharedDispatcher();
    if (shared === undefined) throw new TypeError("the dispatcher of this process is gone");
    return shared.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

function sharedDispatcher(): Dispatcher | undefined {
  return (globalThis as { readonly [key: symbol]: unknown })[SHARED_DISPATCHER] as Dispatcher | undefined;
}

/** A request that `fetch` could not carry out. It hides its reason from the client, which would drop the codes of some reasons. */
export class Unanswered extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("the request was not answered");
    this.reason = reason;
  }
}

/** Servers put their complaint at the top of the body, or under `detail`; the client looks for it under `error` alone and drops the rest. */
export async function carryOut(send: typeof fetch, url: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await send(url, init);
  } catch (error) {
    throw init?.signal?.aborted === true ? error : new Unanswered(error);
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => "");
  const body = complaintOf(text);
  return new Response(body === undefined ? text : JSON.stringify({ error: body }), {
    status: response.status,
    headers: plainHeaders(response.headers),
  });
}

function complaintOf(text: string): { readonly [key: string]: unknown } | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== "object" || body === null || "error" in body) return undefined;
  const { detail, message } = body as { readonly detail?: unknown; readonly message?: unknown };
  const said = message ?? detail ?? body;
  return { ...body, message: typeof said === "string" ? said : JSON.stringify(said) };
}

/** The body was decoded and may have been rewritten, so headers that describe its bytes are wrong. */
function plainHeaders(headers: Headers): Headers {
  const plain = new Headers(headers);
  plain.delete("content-encoding");
  plain.delete("content-length");
  return plain;
}

/** Most redirects of one request. */
const MOST = 5;
/** Redirects that keep the method and the body of a request. All others would drop the prompt. */
const KEEPING: ReadonlySet<number> = new Set([307, 308]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a request, and follows redirects within its origin that keep its method and body. The caller did not choose another origin, so the
 * prompt and the key do not go there.
 *
 * @throws ModelError `MODEL_REDIRECTED`
 */
async function sendWithin(send: typeof fetch, model: string, url: URL, init: RequestInit = {}): Promise<Response> {
  let at = url;
  for (let hops = 0; ; hops++) {
    const response = await send(at.href, { ...init, redirect: "manual" });
    // In browsers a redirect is opaque.
    if (response.type !== "opaqueredirect" && !REDIRECTS.has(response.status)) return response;
    // An unread body keeps its connection.
    await response.body?.cancel().catch(() => {});
    at = nextPlace(response, at, model, hops);
  }
}

function nextPlace({ status, headers }: Response, from: URL, model: string, hops: number): URL {
  const location = headers.get("location") ?? "";
  const to = location !== "" && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to === undefined) throw refused(model, status, `${from.origin} redirects to a place that it does not tell`);
  if (to.origin !== from.origin) throw refused(model, status, `${from.origin} redirects to ${originOf(to)}`);
  if (!KEEPING.has(status)) throw refused(model, status, `${from.origin} redirects by ${status}, which leaves the question behind`);
  if (hops === MOST) throw refused(model, status, `${from.origin} redirects more than ${MOST} times`);
  return to;
}

/** Returns the origin of an address, or its kind where it has none, such as that of a file: the rest may be a secret. */
function originOf(url: URL): string {
  return url.origin === "null" ? `an address of the kind ${url.protocol}` : url.origin;
}

function refused(model: string, status: number, came: string): ModelError {
  return modelError(
    "MODEL_REDIRECTED",
    `Expected an answer from the server of ${model} itself, but ${came}. Nothing was sent there. Check the base URL, and set it to where the API is.`,
    { data: { ...(status === 0 ? {} : { status }), mayHaveRun: false } },
  );
}

/** Returns a signal for one request. The package leaves a listener on the signal that it gets, and a caller's may live as long as the process. */
export function forOneRequest(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal]);
}

/** What a caller knows of a request that failed. */
export interface FailedRequest {
  readonly model: string;
  readonly mask: Mask;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** True when a part of the answer had come. */
  readonly began: boolean;
  readonly hasSchema: boolean;
}

/** Returns the error for a failed request. */
export async function requestError(error: unknown, o: FailedRequest): Promise<Error> {
  const { APIError } = await import("openai");
  if (error instanceof APIError && (error.status !== undefined || error.error !== undefined)) return complaintError(error, o);
  const reason = error instanceof Error && error.cause instanceof Unanswered ? error.cause.reason : error;
  return failureOf(o.model, reason, { began: o.began, mask: o.mask });
}

/** A complaint of a server. */
export interface Complaint {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
  readonly message: string;
}

/** Returns the error for a complaint. OpenRouter puts the status into the body's code. */
export function complaintError(
  { status: sent, headers, error, message }: Complaint,
  { model, mask, now, began, hasSchema }: FailedRequest,
): Error {
  const words = (isObject(error) ? error : { message: error }) as { readonly [key: string]: unknown };
  const text = (key: string): string | undefined => (typeof words[key] === "string" && words[key] !== "" ? mask(words[key]) : undefined);
  const numeric = Number(words["code"]);
  const requestId = headers?.get("x-request-id");
  const fields = {
    status: sent ?? (numeric >= 400 && numeric < 600 ? numeric : undefined),
    code: text("code"),
    type: text("type"),
    param: text("param"),
    requestId: typeof requestId === "string" ? mask(requestId) : undefined,
    retryAfterMs: headers === undefined ? undefined : retryAfterOf(headers, now),
  };
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return serverError(model, { message: text("message") ?? mask(message.replace(/^\d{3} /, "")), began, ...known }, hasSchema);
}
