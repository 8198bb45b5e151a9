import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { readHtml } from "./html-text.ts";
import { seenText } from "../tool/outside-text.ts";
import { getWeb, textOfBytes } from "./web-request.ts";
import {
  httpSearchOptions,
  type HttpSearchOptions,
  type SearchCall,
  type SearchOutcome,
  type SearchProvider,
  type SearchQuery,
  unfitAnswer,
} from "./search-provider.ts";

/** Options of Brave Search. */
export interface BraveSearchOptions extends HttpSearchOptions {
  readonly apiKey: string;
}

const braveSearchOptions: Known<BraveSearchOptions> = { ...httpSearchOptions, apiKey: true };

const BASE = "https://api.search.brave.com/res/v1/web/search";
const MOST_RESULTS = 20;

const Reply = z.object({
  web: z.object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().optional() })) }).optional(),
});

/**
 * Searches with the API of Brave. The key goes into a header to its own host and nowhere else.
 *
 * @throws UsageError `SEARCH_KEY` without a key that a header can hold
 */
export function braveSearch(options: BraveSearchOptions): SearchProvider {
  checkGivenOptions("braveSearch", options, braveSearchOptions);
  const { apiKey, baseURL = BASE, access = {} } = options;
  if (!/^[\x21-\x7e]{1,500}$/.test(apiKey)) {
    throw new UsageError(
      "SEARCH_KEY",
      "Expected the key of Brave Search as plain characters without spaces. Copy it again from its dashboard.",
    );
  }
  return {
    name: "Brave",
    search: async (query: SearchQuery, { signal, clock }: SearchCall): Promise<SearchOutcome> => {
      const headers = { accept: "application/json", "x-subscription-token": apiKey };
      const answer = await getWeb({ url: addressOf(baseURL, query), headers, access, signal, clock });
      const unfit = unfitAnswer(answer, clock.now());
      if (unfit !== undefined || answer.kind !== "answer") return unfit ?? { kind: "failed", reason: "no answer" };
      return readReply(textOfBytes(answer.body, "charset=utf-8"), query.limit);
    },
  };
}

function addressOf(baseURL: string, { text, limit, language, country }: SearchQuery): string {
  const url = new URL(baseURL);
  url.searchParams.set("q", text);
  url.searchParams.set("count", String(Math.min(limit, MOST_RESULTS)));
  if (language !== undefined) url.searchParams.set("search_lang", language.toLowerCase());
  if (country !== undefined) url.searchParams.set("country", country.toUpperCase());
  return url.href;
}

function readReply(text: string, limit: number): SearchOutcome {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: "failed", reason: "its answer was not JSON" };
  }
  const reply = Reply.safeParse(json);
  if (!reply.success) return { kind: "failed", reason: "its answer had another form than expected" };
  const results = reply.data.web?.results ?? [];
  const hits = results
    .filter(({ url }) => /^https?:\/\//i.test(url))
    .map(({ title, url, description }) => {
      return { title: plainLine(title), url: seenText(url), snippet: plainLine(description ?? "") };
    });
  return { kind: "found", hits: hits.slice(0, limit) };
}

/** Titles and snippets hold `<strong>` elements. */
function plainLine(html: string): string {
  return seenText(readHtml(html, BASE).text).replace(/\s+/g, " ").trim();
}
