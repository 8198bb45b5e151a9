import type { LexicalHit } from "./word-index.ts";
import type { VectorHit, VectorIndex } from "./exact-index.ts";
import type { SoughtWord, StoredMessage } from "./message-store.ts";
import type { SearchOptions, StorageParts } from "./storage-options.ts";
import type { StoredMessages } from "./stored-messages.ts";

/** Each of two merged rankings is read so many times deeper than the requested number. */
const DEPTH = 5;
/** Candidates of one question, and the factor by which they grow when too few of them are hits. */
const CANDIDATES = 500;
const MORE = 4;

/** Most vectors whose messages are read for a search with a condition. */
const MOST_FEW = 4_000;

/** Reads messages as a search needs them. */
export interface FewMessages {
  readonly read: (places: readonly number[]) => Promise<void>;
  readonly likeliest: FindCandidates;
}

/** What was found by vectors, and how. */
interface FusedSearch {
  readonly near: readonly VectorHit[];
  readonly query: Float32Array | undefined;
  readonly index: VectorIndex;
  readonly k: number;
}

/** The requested number of messages, and the condition for them. */
export type Search = SearchOptions & { readonly k: number };

/** A found message. */
export interface RankedMessage extends StoredMessage {
  /** Larger is closer; see {@link SimilarMessage}. */
  readonly score: number;
}

/** Reads the likeliest messages and returns their places; undefined when all messages have to be read. */
type FindCandidates = (words: readonly SoughtWord[], most: number) => Promise<readonly number[] | undefined>;

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

  /** Called when a message becomes known. */
  add(place: number): void {
    if (this.#parts.lexical !== undefined) this.#unread.add(place);
  }

  /** Called when a message was removed. */
  async forget(place: number): Promise<void> {
    if (!this.#unread.delete(place)) await this.#parts.lexical?.delete(place);
  }

  /** Returns the messages that share words with a text, best first. */
  async byWords(text: string, { k, filter }: Search): Promise<RankedMessage[]> {
    return k === 0 ? [] : this.#answers(await this.#worded(text, k, this.#accepting(filter)));
  }

  /** Ranks the messages that the store finds likeliest; undefined when all messages have to be ranked. */
  async byCandidates(text: string, { k, filter }: Search, find: FindCandidates): Promise<RankedMessage[] | undefined> {
    const ranking = this.#parts.lexical?.candidates;
    if (ranking === undefined) return undefined;
    const words = ranking.wordsOf(text);
    if (k === 0 || words.length === 0) return [];
    const accept = this.#accepting(filter) ?? (() => true);
    for (let most = Math.max(CANDIDATES, MORE * k); ; most *= MORE) {
      const places = await find(words, most);
      if (places === undefined) return undefined;
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
    return this.#fused(similar, await this.#worded(text, depth, accept), { near, query, index, k: o.k });
  }

  /** Merges the hits by vectors and by words. */
  async #fused(
    similar: readonly VectorHit[],
    worded: readonly LexicalHit[],
    { near, query, index, k }: FusedSearch,
  ): Promise<RankedMessage[]> {
    const scores = new Map(near.map(({ key, score }) => [key, score]));
    const best = fuseRankings([similar, worded].map((hits) => hits.map(({ key }) => key))).slice(0, k);
    const unscored = new Set(best.filter((place) => !scores.has(place)));
    if (query !== undefined && unscored.size > 0 && index.size > 0) {
      for (const { key, score } of await index.search(query, unscored.size, { among: unscored })) scores.set(key, score);
    }
    return this.#answers(best.map((key) => ({ key, score: scores.get(key) ?? 0 })));
  }

  /**
   * The same as `bySimilarity`, where only the messages that are found are read. Undefined when all messages have to be read, because the
   * condition accepts too few, or the words are not indexed.
   */
  async byFew(
    text: string,
    query: Float32Array | undefined,
    index: VectorIndex,
    o: Search & { readonly threshold: number },
    few: FewMessages,
  ): Promise<RankedMessage[] | undefined> {
    const depth = o.hybrid === true ? o.k * DEPTH : o.k;
    const near = query === undefined ? [] : await this.#nearFew(query, index, { k: depth, filter: o.filter }, few);
    if (near === undefined) return undefined;
    const similar = near.filter(({ score }) => score >= o.threshold);
    if (o.hybrid !== true || this.#parts.lexical === undefined) return this.#answers(similar.slice(0, o.k));
    const worded = await this.byCandidates(text, { k: depth, filter: o.filter }, few.likeliest);
    if (worded === undefined) return undefined;
    return this.#fused(
      similar,
      worded.map(({ place, score }) => ({ key: place, score })),
      { near, query, index, k: o.k },
    );
  }

  /** The nearest accepted vectors, with their messages. */
  async #nearFew(
    query: Float32Array,
    index: VectorIndex,
    { k, filter }: Search,
    few: FewMessages,
  ): Promise<readonly VectorHit[] | undefined> {
    const accept = this.#accepting(filter);
    for (let most = k; most <= MOST_FEW; most *= MORE) {
      const hits = await index.search(query, most);
      await few.read(hits.map(({ key }) => key));
      const there = hits.filter(({ key }) => this.#known.at(key) !== undefined && accept?.(key) !== false);
      if (there.length >= k || hits.length < most) return there.slice(0, k);
    }
    return undefined;
  }

  #accepting(filter: SearchOptions["filter"]): ((place: number) => boolean) | undefined {
    if (filter === undefined) return undefined;
    return (place) => {
      const { message, runId } = this.#known.at(place) as StoredMessage;
      return filter(message, runId);
    };
  }

  /** Searches the lexical index, best first. */
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

  #answers(hits: readonly LexicalHit[]): RankedMessage[] {
    const found: RankedMessage[] = [];
    for (const { key, score } of hits) {
      const entry = this.#known.at(key);
      if (entry !== undefined) found.push({ ...entry, score });
    }
    return found;
  }
}

/** Reduces the weight of the first places: the constant of Cormack, Clarke and Büttcher (2009). */
const DAMPING = 60;

/** Merges rankings by reciprocal rank, which needs no comparable scores. Returns keys best first; equal ones by key. */
export function fuseRankings(rankings: readonly (readonly number[])[]): number[] {
  const points = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [place, key] of ranking.entries()) points.set(key, (points.get(key) ?? 0) + 1 / (DAMPING + place + 1));
  }
  return [...points].sort(([a, first], [b, second]) => second - first || a - b).map(([key]) => key);
}

/** Merges sorted lists and returns the first `k` items. Equal items come in the order of their lists. */
export function mergeSorted<T>(lists: readonly (readonly T[])[], k: number, order: (a: T, b: T) => number): T[] {
  const places = lists.map(() => 0);
  const merged: T[] = [];
  while (merged.length < k) {
    let best = -1;
    for (const [which, list] of lists.entries()) {
      const place = places[which] as number;
      if (place >= list.length) continue;
      const isBetter = best === -1 || order(list[place] as T, (lists[best] as readonly T[])[places[best] as number] as T) < 0;
      if (isBetter) best = which;
    }
    if (best === -1) break;
    merged.push((lists[best] as readonly T[])[places[best] as number] as T);
    places[best] = (places[best] as number) + 1;
  }
  return merged;
}
