import type { Known } from "../kernel/known-options.ts";
import type { Clock } from "../kernel/clock.ts";
import type { WebAccess } from "./web-access.ts";

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
