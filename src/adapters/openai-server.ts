import type { OpenAI } from "openai";
import { UsageError } from "../kernel/errors.ts";
import type { Known } from "../kernel/known-options.ts";
import { type Mask, redactor } from "../kernel/mask.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { parsedJson } from "../kernel/json.ts";
import { failureOf, modelError } from "../model/failure.ts";
import { serverError, type ServerSaid } from "../model/server-error.ts";
import { complaintIn, saidBy } from "./openai-complaint.ts";
import { startOf } from "./openai-stream.ts";

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

/** Returns a client of one server. Only OpenAI's own get the admin keys, organizations and projects of the environment. */
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

/** The global `fetch` without Node's limit of 5 minutes, through the dispatcher of the process, so that proxies keep working. */
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

/** The failure of a request. It hides the reason from the client, which drops the codes of some and most of what servers say. */
class Unanswered extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("the request was not answered");
    this.reason = reason;
  }
}

/** An answer with an error status. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;

  constructor(status: number, headers: Headers, text: string) {
    super(`${status} ${text}`);
    this.status = status;
    this.headers = headers;
    this.text = text;
  }
}

/** @throws Unanswered for a failed request, and for one that the server refused */
async function carryOut(send: typeof fetch, url: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await send(url, init);
  } catch (error) {
    throw init?.signal?.aborted === true ? error : new Unanswered(error);
  }
  if (response.ok) return response;
  throw new Unanswered(new RefusedRequest(response.status, response.headers, await startOf(response.body)));
}

const MOST = 5;
/** Redirects that keep the method and the body of a request. All others would drop the prompt. */
const KEEPING: ReadonlySet<number> = new Set([307, 308]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends a request. The caller chose this origin, so the prompt and the key follow no redirect to another. @throws ModelError `MODEL_REDIRECTED` */
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
  if (to?.origin === from.origin && KEEPING.has(status) && hops < MOST) return to;
  // More of an address may be a secret.
  const where = to === undefined ? "an address that cannot be read" : to.origin === "null" ? to.protocol : to.origin;
  const got = `${from.origin} redirects to ${where} by ${status}, after ${hops} redirects`;
  throw modelError(
    "MODEL_REDIRECTED",
    `Expected an answer from the server of ${model} itself, but ${got}. Nothing was sent there. Check the base URL, and set it to where the API is.`,
    { data: { ...(status === 0 ? {} : { status }), mayHaveRun: false } },
  );
}

export interface FailedRequest {
  readonly model: string;
  readonly mask: Mask;
  readonly now: number;
  readonly began: boolean;
  readonly hasSchema: boolean;
}

export function requestError(error: unknown, o: FailedRequest): Error {
  const reason = reasonOf(error);
  if (reason instanceof RefusedRequest) return serverError(o.model, refusalIn(reason, o), o.hasSchema);
  if (reason instanceof SaidError) return serverError(o.model, { ...reason.said, began: o.began }, o.hasSchema);
  return failureOf(o.model, reason, { began: o.began, mask: o.mask });
}

/** Returns the complaint of a server, in a refusal or instead of an answer; undefined for other failures. */
export function saidIn(error: unknown, o: FailedRequest): ServerSaid | undefined {
  const reason = reasonOf(error);
  if (reason instanceof RefusedRequest) return refusalIn(reason, o);
  return reason instanceof SaidError ? reason.said : undefined;
}

function reasonOf(error: unknown): unknown {
  const unanswered = error instanceof Unanswered ? error : error instanceof Error ? error.cause : undefined;
  return unanswered instanceof Unanswered ? unanswered.reason : error;
}

function refusalIn({ status, headers, text }: RefusedRequest, { mask, now, began }: FailedRequest): ServerSaid {
  const complaint = complaintIn(parsedJson(text), true);
  const words = text.trim().slice(0, MAX_WORDS);
  if (complaint === undefined) return saidBy({ message: words === "" ? "no explanation" : words }, { status, headers, began, mask, now });
  return saidBy(complaint, { status, headers, began, mask, now });
}

const MAX_WORDS = 2_000;

export class SaidError extends Error {
  readonly said: ServerSaid;

  constructor(said: ServerSaid) {
    super(said.message);
    this.said = said;
  }
}
