import { z } from "zod";
import type { Clock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { refusalText, type ServerTerms } from "../kernel/server-answer.ts";
import { retryAfterOf } from "../model/retry.ts";
import { clauseText } from "../kernel/value-text.ts";
import { seenText } from "../tool/shown-text.ts";
import { decodeEntities, readHtml } from "./html-text.ts";
import { type WebAccess, webAccess } from "./web-access.ts";
import { getWeb, textOfBytes, type WebAnswer, type WebRequest } from "./web-request.ts";

export interface SearchQuery {
  readonly text: string;
  /** Limit on the results. */
  readonly limit: number;
  readonly language?: string;
  readonly country?: string;
}

/** One result. All of it is text from outside. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** The answer of a provider: its results, best first, or why there are none. `busy`: ask later; `after` in milliseconds if the server says so. */
export type SearchOutcome =
  | { readonly kind: "found"; readonly hits: readonly SearchHit[] }
  | { readonly kind: "busy"; readonly after: number | undefined }
  | { readonly kind: "failed"; readonly reason: string };

export interface SearchCall {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** The port of search engines. A reason must never hold a key. */
export interface SearchProvider {
  readonly name: string;
  search(query: SearchQuery, call: SearchCall): Promise<SearchOutcome>;
}

/** Options of every provider over http. */
export interface HttpSearchOptions {
  /** The address of the service, for a server of your own; a private host also needs `access`. */
  readonly baseURL?: string;
  readonly access?: WebAccess;
}

const httpSearchOptions: Known<HttpSearchOptions> = { baseURL: kinds.text, access: kinds.options(webAccess) };

async function searched(request: WebRequest & SearchCall, read: (answer: WebAnswer) => SearchOutcome): Promise<SearchOutcome> {
  const answer = await getWeb(request);
  if (answer.kind !== "answer") return { kind: "failed", reason: answer.reason };
  const { status } = answer;
  if (status === 200 || status === 202) return read(answer);
  if (status === 429 || status === 503)
    return { kind: "busy", after: retryAfterOf({ get: (name) => answer.headers[name] ?? null }, request.clock.now()) };
  return { kind: "failed", reason: refusedWith(status) };
}

const TERMS: ServerTerms = { token: "a valid apiKey, where it takes one", address: "baseURL" };

/** The server's words are left out: they may hold the key. */
function refusedWith(status: number): string {
  return `it answered with ${clauseText(refusalText({ status }, TERMS))}`;
}

const DUCKDUCKGO = "https://html.duckduckgo.com/html/";
const LINK = /<a\s[^<>]{0,4000}>/gi;
const TAG = /<[a-z]{1,10}\s[^<>]{0,4000}>/gi;
const RESULT_CLASS = /\bclass=["'][^"']{0,200}\bresult__a\b/i;
const SNIPPET_CLASS = /\bclass=["'][^"']{0,200}\bresult__snippet\b/i;
const MAX_RESULT = 20_000;

/** Searches with DuckDuckGo's page for browsers without scripts. It needs no key; it may ask frequent callers to wait. */
export function duckDuckGoSearch(options: HttpSearchOptions = {}): SearchProvider {
  checkKnownOptions("duckDuckGoSearch", options, httpSearchOptions);
  const { baseURL = DUCKDUCKGO, access = {} } = options;
  return {
    name: "DuckDuckGo",
    search: async ({ text, limit, language = "en", country }, call) => {
      const url = new URL(baseURL);
      url.searchParams.set("q", text);
      if (country !== undefined) url.searchParams.set("kl", `${country}-${language}`.toLowerCase());
      return searched({ url: url.href, access, ...call }, (answer) => {
        const page = textOfBytes(answer.body, answer.headers["content-type"] ?? "");
        // DuckDuckGo asks for proof of a person with this status, or with a form.
        if (answer.status === 202 || /anomaly-modal|challenge-form/.test(page)) return { kind: "busy", after: undefined };
        return { kind: "found", hits: hitsIn(page, answer.url).slice(0, limit) };
      });
    },
  };
}

function hitsIn(page: string, base: string): SearchHit[] {
  const starts = [...page.matchAll(LINK)].filter(([tag]) => RESULT_CLASS.test(tag));
  return starts.flatMap((start, place) => {
    const from = start.index + start[0].length;
    const next = starts[place + 1]?.index ?? page.length;
    const rest = page.slice(from, Math.min(next, from + MAX_RESULT));
    const url = targetOf(start[0], base);
    const snippet = [...rest.matchAll(TAG)].find(([tag]) => SNIPPET_CLASS.test(tag));
    if (url === undefined) return [];
    return [
      { title: lineOf(rest, base), url, snippet: snippet === undefined ? "" : lineOf(rest.slice(snippet.index + snippet[0].length), base) },
    ];
  });
}

/** The text up to the end of its link or block, on one line. */
function lineOf(html: string, base: string): string {
  const end = html.search(/<\/(?:a|td|div|h2)\b/i);
  return plainLine(end === -1 ? html.slice(0, 500) : html.slice(0, end), base);
}

function plainLine(html: string, base: string): string {
  return seenText(readHtml(html, base).text).replace(/\s+/g, " ").trim();
}

/** The target of a result: the page links through an address of its own that holds the real one. */
function targetOf(tag: string, base: string): string | undefined {
  const href = decodeEntities(/\bhref=["']([^"']{1,4000})["']/i.exec(tag)?.[1] ?? "");
  if (href === "" || !URL.canParse(href, base)) return undefined;
  const link = new URL(href, base);
  const target = link.searchParams.get("uddg") ?? link.href;
  if (!URL.canParse(target) || new URL(target).pathname.endsWith("/y.js")) return undefined;
  return /^https?:$/.test(new URL(target).protocol) ? new URL(target).href : undefined;
}

export interface BraveSearchOptions extends HttpSearchOptions {
  readonly apiKey: string;
}

const braveSearchOptions: Known<BraveSearchOptions> = { ...httpSearchOptions, apiKey: kinds.secret };

const BRAVE = "https://api.search.brave.com/res/v1/web/search";
const BRAVE_RESULTS = 20;

const Reply = z.object({
  web: z.object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().optional() })) }).optional(),
});

/** Searches with the API of Brave. The key goes to its own host alone. @throws UsageError `SEARCH_KEY` for a key that no header can hold */
export function braveSearch(options: BraveSearchOptions): SearchProvider {
  checkGivenOptions("braveSearch", options, braveSearchOptions);
  const { apiKey, baseURL = BRAVE, access = {} } = options;
  if (!/^[\x21-\x7e]{1,500}$/.test(apiKey)) {
    throw new UsageError(
      "SEARCH_KEY",
      "Expected the key of Brave Search as plain characters without spaces. Copy it again from its dashboard.",
    );
  }
  return {
    name: "Brave",
    search: async ({ text, limit, language, country }, call) => {
      const url = new URL(baseURL);
      url.searchParams.set("q", text);
      url.searchParams.set("count", String(Math.min(limit, BRAVE_RESULTS)));
      if (language !== undefined) url.searchParams.set("search_lang", language.toLowerCase());
      if (country !== undefined) url.searchParams.set("country", country.toUpperCase());
      const headers = { accept: "application/json", "x-subscription-token": apiKey };
      return searched({ url: url.href, headers, access, ...call }, ({ status, body }) =>
        status === 200 ? readReply(textOfBytes(body, "charset=utf-8"), limit) : { kind: "failed", reason: refusedWith(status) },
      );
    },
  };
}

function readReply(text: string, limit: number): SearchOutcome {
  const json = parsedJson(text);
  if (json === undefined) return { kind: "failed", reason: "its answer was not JSON" };
  const reply = Reply.safeParse(json);
  if (!reply.success) return { kind: "failed", reason: "its answer had another form than expected" };
  const results = (reply.data.web?.results ?? []).filter(({ url }) => /^https?:\/\//i.test(url)).slice(0, limit);
  // Titles and snippets hold `<strong>` elements.
  const hits = results.map(({ title, url, description = "" }) => ({
    title: plainLine(title, BRAVE),
    url: seenText(url),
    snippet: plainLine(description, BRAVE),
  }));
  return { kind: "found", hits };
}
