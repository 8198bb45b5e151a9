import type { Known } from "../kernel/known-options.ts";
import { UsageError } from "../kernel/errors.ts";
import { modelError } from "../model/failure.ts";

const OPENAI_URL = "https://api.openai.com/v1";

/** Where requests go and what goes with them. */
export interface OpenAIServer {
  /** Without its query. */
  readonly baseURL: string;
  /** That of the base URL, which goes with each request: `?api-version=2024-06-01`, or nothing. */
  readonly query: string;
  readonly apiKey: string;
  /** OpenAI's own, not one that speaks like it. */
  readonly isOpenAI: boolean;
  readonly streams: boolean;
  readonly organization: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch | undefined;
}

/** Parts of requests to a server that no error may contain. Versions of an API are no secret, and its complaints name them. */
export function secretsOf({ apiKey, headers, query }: OpenAIServer): readonly string[] {
  const asked = [...new URLSearchParams(query)].filter(([name]) => !/version/i.test(name));
  return [apiKey, ...Object.values(headers), ...asked.map(([, value]) => value)];
}

/** What is said of a server, for chats and embeddings alike. */
export interface ServerOptions {
  readonly model: string;
  /** Default: `TROUPE_API_KEY`, else `OPENAI_API_KEY`; with a base URL and no key `none`, as local servers want. */
  readonly apiKey?: string | undefined;
  /**
   * Default: `TROUPE_BASE_URL`, else `OPENAI_BASE_URL`, else OpenAI's own. Its query goes with each request, as Azure wants it:
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

/** Their names. @internal */
export const serverOptions: Known<ServerOptions> = {
  model: true,
  apiKey: true,
  baseURL: true,
  organization: true,
  headers: true,
  stream: true,
  fetch: true,
};

/** Where requests go, from options and environment. @throws ModelError `MODEL_AUTH`, UsageError `BASE_URL_INVALID` */
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
  const { origin, pathname, search, hostname } = checkedUrl(url ?? OPENAI_URL);
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
