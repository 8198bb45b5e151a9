import type { VectorHit, VectorIndex } from "./exact-index.ts";
import type { MessageLookup, StoredMessage } from "./message-store.ts";
import type { SearchOptions, StorageParts } from "./storage-options.ts";
import type { StoredMessages } from "./stored-messages.ts";
import type { LexicalHit } from "./word-index.ts";

/** The factor by which each of two merged rankings is read deeper than the requested number. */
const DEPTH = 5;
/** Candidates of one question, and the factor by which they grow when too few of them are hits. */
const CANDIDATES = 500;
const MORE = 4;

/** The requested number of messages, and the condition for them. */
export type Search = SearchOptions & { readonly k: number };

/** A found message. */
export interface RankedMessage extends StoredMessage {
  /** Larger is closer; see {@link SimilarMessage}. */
  readonly score: number;
}

/**
 * Ranks the messages of a storage for a question. Owns the messages that the lexical index does not have yet: the first search by words adds
 * them.
 */
export class StorageRanking {
  readonly #parts: StorageParts;
  readonly #known: StoredMessages;
  readonly #unread = new Set<number>();

  constructor(parts: StorageParts, known: StoredMessages) {
    this.#parts = parts;
    this.#known = known;
  }

  add(place: number): void {
    if (this.#parts.lexical !== undefined) this.#unread.add(place);
  }

  async forget(place: number): Promise<void> {
    if (!this.#unread.delete(place)) await this.#parts.lexical?.delete(place);
  }

  async byWords(text: string, { k, filter }: Search): Promise<RankedMessage[]> {
    return k === 0 ? [] : this.#answers(await this.#worded(text, k, this.#accepting(filter)));
  }

  /** Ranks the messages that the store finds likeliest, and reads only those. */
  async byCandidates(text: string, { k, filter }: Search, lookup: MessageLookup): Promise<RankedMessage[]> {
    const ranking = this.#parts.lexical?.candidates;
    const words = ranking?.wordsOf(text) ?? [];
    if (ranking === undefined || k === 0 || words.length === 0) return [];
    const accept = this.#accepting(filter) ?? (() => true);
    for (let most = Math.max(CANDIDATES, MORE * k); ; most *= MORE) {
      const places = await lookup.likeliest(this.#parts.roleId, words, most);
      await this.#known.readAt(lookup, places);
      const accepted = places.filter((place) => this.#known.at(place) !== undefined && accept(place));
      const hits = await ranking.rank(text, new Map(accepted.map((place) => [place, this.#textAt(place)])), k);
      if (hits.length >= k || places.length < most) return this.#answers(hits);
    }
  }

  /** Returns the messages that are most similar to a text, best first: by vectors, and with `hybrid` by words too. */
  async bySimilarity(
    text: string,
    query: Float32Array | undefined,
    index: VectorIndex,
    o: Search & { readonly threshold: number },
  ): Promise<RankedMessage[]> {
    const accept = this.#accepting(o.filter);
    const depth = o.hybrid === true ? o.k * DEPTH : o.k;
    const near = query === undefined || index.size === 0 ? [] : await index.search(query, depth, { accept });
    const similar = near.filter(({ score }) => score >= o.threshold);
    if (o.hybrid !== true) return this.#answers(similar);
    const worded = await this.#worded(text, depth, accept);
    const scores = new Map(near.map(({ key, score }) => [key, score]));
    const best = fuseRankings([similar, worded].map((hits) => hits.map(({ key }) => key))).slice(0, o.k);
    const unscored = new Set(best.filter((place) => !scores.has(place)));
    if (query !== undefined && unscored.size > 0 && index.size > 0) {
      for (const { key, score } of await index.search(query, unscored.size, { among: unscored })) scores.set(key, score);
    }
    return this.#answers(best.map((key) => ({ key, score: scores.get(key) ?? 0 })));
  }

  #accepting(filter: SearchOptions["filter"]): ((place: number) => boolean) | undefined {
    if (filter === undefined) return undefined;
    return (place) => {
      const { message, runId } = this.#known.at(place) as StoredMessage;
      return filter(message, runId);
    };
  }

  async #worded(text: string, k: number, accept: ((place: number) => boolean) | undefined): Promise<readonly LexicalHit[]> {
    const { lexical } = this.#parts;
    if (lexical === undefined) return [];
    for (const place of this.#unread) {
      // Awaited only if the index returns a promise, because there may be a hundred thousand calls.
      const added = lexical.add(place, this.#textAt(place));
      if (added !== undefined) await added;
      this.#unread.delete(place);
    }
    return lexical.search(text, k, accept);
  }

  #textAt(place: number): string {
    return this.#known.at(place)?.message.content ?? "";
  }

  #answers(hits: readonly (LexicalHit | VectorHit)[]): RankedMessage[] {
    return hits.flatMap(({ key, score }) => {
      const entry = this.#known.at(key);
      return entry === undefined ? [] : [{ ...entry, score }];
    });
  }
}

/** Reduces the weight of the first ranks: the constant of Cormack, Clarke and Büttcher (2009). */
const DAMPING = 60;

/** Merges rankings by reciprocal rank, which needs no comparable scores. Returns keys best first; equal ones by key. */
export function fuseRankings(rankings: readonly (readonly number[])[]): number[] {
  const points = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [rank, key] of ranking.entries()) points.set(key, (points.get(key) ?? 0) + 1 / (DAMPING + rank + 1));
  }
  return [...points].sort(([a, first], [b, second]) => second - first || a - b).map(([key]) => key);
}
