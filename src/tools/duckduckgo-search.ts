import { checkKnownOptions } from "../kernel/known-options.ts";
import { decodeEntities, readHtml } from "./html-text.ts";
import { seenText } from "../tool/outside-text.ts";
import { getWeb, textOfBytes } from "./web-request.ts";
import {
  httpSearchOptions,
  type HttpSearchOptions,
  type SearchCall,
  type SearchHit,
  type SearchOutcome,
  type SearchProvider,
  type SearchQuery,
  unfitAnswer,
} from "./search-provider.ts";

const BASE = "https://html.duckduckgo.com/html/";
/** Tags end at the next bracket of either kind, so the time is linear. */
const LINK = /<a\s[^<>]{0,4000}>/gi;
const TAG = /<[a-z]{1,10}\s[^<>]{0,4000}>/gi;
const RESULT_CLASS = /\bclass=["'][^"']{0,200}\bresult__a\b/i;
const SNIPPET_CLASS = /\bclass=["'][^"']{0,200}\bresult__snippet\b/i;
const LONGEST_RESULT = 20_000;

/** Searches with DuckDuckGo's page for browsers without scripts. It needs no key; it may tell frequent callers to wait. */
export function duckDuckGoSearch(options: HttpSearchOptions = {}): SearchProvider {
  checkKnownOptions("duckDuckGoSearch", options, httpSearchOptions);
  const { baseURL = BASE, access = {} } = options;
  return {
    name: "DuckDuckGo",
    search: async (query: SearchQuery, { signal, clock }: SearchCall): Promise<SearchOutcome> => {
      const url = new URL(baseURL);
      url.searchParams.set("q", query.text);
      const region = regionOf(query);
      if (region !== undefined) url.searchParams.set("kl", region);
      const answer = await getWeb({ url: url.href, access, signal, clock });
      // DuckDuckGo asks for proof of a person with this status.
      if (answer.kind === "answer" && answer.status === 202) return { kind: "busy", after: undefined };
      const unfit = unfitAnswer(answer, clock.now());
      if (unfit !== undefined || answer.kind !== "answer") return unfit ?? { kind: "failed", reason: "no answer" };
      const page = textOfBytes(answer.body, answer.headers["content-type"] ?? "");
      if (/anomaly-modal|challenge-form/.test(page)) return { kind: "busy", after: undefined };
      return { kind: "found", hits: hitsIn(page, answer.url).slice(0, query.limit) };
    },
  };
}

function regionOf({ language, country }: SearchQuery): string | undefined {
  return country === undefined ? undefined : `${country.toLowerCase()}-${(language ?? "en").toLowerCase()}`;
}

function hitsIn(page: string, base: string): SearchHit[] {
  const starts = [...page.matchAll(LINK)].filter(([tag]) => RESULT_CLASS.test(tag));
  return starts.flatMap((start, place) => {
    const from = start.index + start[0].length;
    const next = starts[place + 1]?.index ?? page.length;
    const rest = page.slice(from, Math.min(next, from + LONGEST_RESULT));
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
  return seenText(readHtml(end === -1 ? html.slice(0, 500) : html.slice(0, end), base).text)
    .replace(/\s+/g, " ")
    .trim();
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
