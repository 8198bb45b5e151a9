import type { Known } from "../kernel/known-options.ts";
import type { Clock } from "../kernel/clock.ts";
import type { WebAccess } from "./web-access.ts";
import type { WebAnswer, WebOutcome } from "./web-request.ts";

/** A query. */
export interface SearchQuery {
  readonly text: string;
  /** Most results. */
  readonly limit: number;
  /** Two letters, as "en". */
  readonly language?: string;
  /** Two letters, as "us". */
  readonly country?: string;
}

/** One result. All of it is text from outside. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** The answer of a provider: its results, best first, or why there are none. `busy`: ask later; `after` in milliseconds if the server tells. */
export type SearchOutcome =
  | { readonly kind: "found"; readonly hits: readonly SearchHit[] }
  | { readonly kind: "busy"; readonly after: number | undefined }
  | { readonly kind: "failed"; readonly reason: string };

/** The context of one search. */
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

/** The names of the options. @internal */
export const httpSearchOptions: Known<HttpSearchOptions> = { baseURL: true, access: true };

/** The outcome of an answer without results; undefined when it has results. */
export function unfitAnswer(outcome: WebOutcome, now: number): Exclude<SearchOutcome, { kind: "found" }> | undefined {
  if (outcome.kind !== "answer") return { kind: "failed", reason: outcome.reason };
  if (outcome.status === 429 || outcome.status === 503) return { kind: "busy", after: retryAfter(outcome, now) };
  if (outcome.status === 401 || outcome.status === 403)
    return { kind: "failed", reason: `it refused the key or the caller (status ${outcome.status})` };
  return outcome.status === 200 ? undefined : { kind: "failed", reason: `it answered with status ${outcome.status}` };
}

function retryAfter({ headers }: WebAnswer, now: number): number | undefined {
  const said = headers["retry-after"];
  if (said === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(said.trim()) ? Number(said) * 1000 : Date.parse(said) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
