import type { Known } from "../kernel/known-options.ts";
import type { Clock } from "../kernel/clock.ts";
import type { WebAccess } from "./web-access.ts";
import type { WebAnswer, WebOutcome } from "./web-request.ts";

/** What is looked for. */
export interface SearchQuery {
  readonly text: string;
  /** Most results wanted. */
  readonly limit: number;
  /** Two letters, as "en". */
  readonly language?: string;
  /** Two letters, as "us". */
  readonly country?: string;
}

/** One result. All of it is text of somebody outside. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** What a provider gives: its results, best first, or why there are none. `busy` says to ask later; `after` in ms where the server tells. */
export type SearchOutcome =
  | { readonly kind: "found"; readonly hits: readonly SearchHit[] }
  | { readonly kind: "busy"; readonly after: number | undefined }
  | { readonly kind: "failed"; readonly reason: string };

/** What a provider is given besides the query. */
export interface SearchCall {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Something that searches the web. The port of every search engine. A reason never holds a key. */
export interface SearchProvider {
  readonly name: string;
  search(query: SearchQuery, call: SearchCall): Promise<SearchOutcome>;
}

/** What every provider over http takes. */
export interface HttpSearchOptions {
  /** Where the service is, for a server of one's own; its host may then be a private one only when `access` allows it. */
  readonly baseURL?: string;
  readonly access?: WebAccess;
}

/** Their names. @internal */
export const httpSearchOptions: Known<HttpSearchOptions> = { baseURL: true, access: true };

/** What an answer that brings no results means for a search; undefined: it has results to read. */
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
