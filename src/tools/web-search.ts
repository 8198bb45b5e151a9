import { having, listOf, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { defined } from "../kernel/value-kind.ts";
import { throwIfAborted, withTimeout } from "../kernel/abort.ts";
import { sleep } from "../kernel/clock.ts";
import { ControlError, TimeoutError, UsageError } from "../kernel/errors.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { type ToolResult, toolFailure, toolOutput } from "../tool/tool-result.ts";
import { quoteOutside, seenText } from "../tool/shown-text.ts";
import type { SearchHit, SearchOutcome, SearchProvider, SearchQuery } from "./search-provider.ts";

export interface WebSearchOptions {
  /** Asked in this order, each after the one before failed or found nothing. At least one. */
  readonly providers: readonly SearchProvider[];
  /** Limit on the milliseconds to wait when a provider says to come back later. Default 10,000. */
  readonly maxWait?: number;
}

const webSearchOptions: Known<WebSearchOptions> = { providers: kinds.list(kinds.searchProvider), maxWait: kinds.milliseconds };

const MAX_WAIT = 10_000;
const USUAL_WAIT = 2000;
const MAX_RESULTS = 20;
const MAX_FIELD = 500;
/** Milliseconds one provider may take. */
const TIMEOUT = 30_000;

const twoLetters = z.string().regex(/^[a-zA-Z]{2}$/);
const parameters = z.object({
  query: z.string().min(1).max(400),
  limit: z.number().int().min(1).max(MAX_RESULTS).default(5).describe("Limit on the results."),
  language: twoLetters.optional().describe("Two letters, as en."),
  country: twoLetters.optional().describe("Two letters, as us."),
});

type WebSearchArguments = z.infer<typeof parameters>;

/** Makes a tool that searches with the first provider that finds something. @throws UsageError `SEARCH_PROVIDERS` without providers */
export function webSearchTool(options: WebSearchOptions): Tool<WebSearchArguments> {
  checkGivenOptions("webSearchTool", options, webSearchOptions);
  const { providers, maxWait = MAX_WAIT } = options;
  takes("webSearchTool", "providers", providers, listOf(having("a search provider", "search")));
  if (providers.length === 0)
    throw new UsageError("SEARCH_PROVIDERS", "Expected at least one search provider, got none. Give one, for example duckDuckGoSearch().");
  return defineTool({
    name: "web_search",
    description: "Searches the web and gives titles, addresses and short texts of the best results. Fetch a page to read it.",
    parameters,
    effect: "read",
    timeout: (TIMEOUT * 2 + maxWait) * providers.length,
    execute: (args, ctx) => searchAll(providers, maxWait, args, ctx),
  });
}

async function searchAll(
  providers: readonly SearchProvider[],
  maxWait: number,
  args: WebSearchArguments,
  ctx: ToolContext,
): Promise<ToolResult> {
  const { query: text, limit, language, country } = args;
  const query = { text, limit, ...defined({ language, country }) };
  const failures: string[] = [];
  for (const provider of providers) {
    throwIfAborted(ctx.signal);
    const outcome = await askProvider(provider, query, maxWait, ctx);
    if (outcome.kind === "found" && outcome.hits.length > 0) return found(provider, outcome.hits.slice(0, limit), failures);
    failures.push(`${provider.name}: ${whyNot(outcome)}`);
  }
  const why = failures.join("; ");
  return failures.every((failure) => failure.endsWith(NOTHING))
    ? toolOutput(`Nothing was found (${why}).`)
    : toolFailure(`No search gave results: ${why}. Try other words, or later.`);
}

const NOTHING = "found nothing";

async function askProvider(provider: SearchProvider, query: SearchQuery, maxWait: number, ctx: ToolContext): Promise<SearchOutcome> {
  const first = await askOnce(provider, query, ctx);
  if (first.kind !== "busy") return first;
  const wait = first.after ?? Math.min(USUAL_WAIT, maxWait);
  if (wait > maxWait) return first;
  await sleep(ctx.clock, wait, ctx.signal);
  return askOnce(provider, query, ctx);
}

/** The words of a provider's error are not repeated: they may hold a key. */
async function askOnce(provider: SearchProvider, query: SearchQuery, { signal, clock }: ToolContext): Promise<SearchOutcome> {
  try {
    return await withTimeout(clock, TIMEOUT, provider.name, signal, (limited) => provider.search(query, { signal: limited, clock }));
  } catch (error) {
    if (error instanceof ControlError) throw error;
    throwIfAborted(signal);
    const isLate = error instanceof TimeoutError;
    return { kind: "failed", reason: isLate ? `it did not answer within ${TIMEOUT / 1000} s` : "it failed unexpectedly" };
  }
}

function found({ name }: SearchProvider, hits: readonly SearchHit[], failures: readonly string[]): ToolResult {
  const plain = hits.map(({ title, url, snippet }) => ({ title: field(title), url: field(url), snippet: field(snippet) }));
  const lines = plain.map(
    ({ title, url, snippet }, place) => `${place + 1}. ${title}\n   ${url}${snippet === "" ? "" : `\n   ${snippet}`}`,
  );
  const system = failures.length === 0 ? {} : { system: `Asked before: ${failures.join("; ")}.` };
  return toolOutput(quoteOutside(`a search with ${name}`, lines.join("\n")), { data: { provider: name, results: plain }, ...system });
}

function field(text: string): string {
  return seenText(text).replace(/\s+/g, " ").trim().slice(0, MAX_FIELD);
}

function whyNot(outcome: SearchOutcome): string {
  if (outcome.kind === "busy")
    return outcome.after === undefined ? "too many requests" : `too many requests, free again in ${Math.ceil(outcome.after / 1000)} s`;
  return outcome.kind === "failed" ? outcome.reason : NOTHING;
}
