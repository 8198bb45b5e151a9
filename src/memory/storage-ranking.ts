import { UsageError } from "../kernel/errors.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { LexicalHit } from "./word-index.ts";
import type { VectorIndex } from "./exact-index.ts";
import type { SoughtWord, StoredMessage } from "./message-store.ts";
import type { SearchOptions, SimilarMessage, StorageParts } from "./storage-options.ts";

/** Each of two merged rankings is read so many times deeper than the requested number. */
const DEPTH = 5;
/** Candidates of one question, and the factor by which they grow when too few of them are hits. */
const CANDIDATES = 500;
const MORE = 4;

/** Reads the likeliest messages and returns their places; undefined when all messages have to be read. */
type FindCandidates = (words: readonly SoughtWord[], most: number) => Promise<readonly number[] | undefined>;

/**
 * Ranks the messages of a storage for a question. Owns the messages that the lexical index does not have yet: the first search by words adds
 * them.
 */
export class StorageRanking {
  readonly #parts: StorageParts;
  readonly #held: HeldMessages;
  readonly #unread = new Set<number>();

  constructor(parts: StorageParts, held: HeldMessages) {
    this.#parts = parts;
    this.#held = held;
  }

  /** Called when a message was read. */
  learn(place: number): void {
    if (this.#parts.lexical !== undefined) this.#unread.add(place);
  }

  /** Called when a message was removed. */
  async forget(place: number): Promise<void> {
    if (!this.#unread.delete(place)) await this.#parts.lexical?.delete(place);
  }

  /** Returns the messages that share words with a text, best first. */
  async byWords(text: string, { k, filter }: { readonly k: number; readonly filter?: SearchOptions["filter"] }): Promise<SimilarMessage[]> {
    const hits = k === 0 ? [] : await this.#worded(text, k, this.#accepting(filter));
    return this.#answers(
      hits.map(({ key }) => key),
      new Map(hits.map(({ key, score }) => [key, score])),
    );
  }

  /** Ranks the messages that the store finds likeliest; undefined when all messages have to be ranked. */
  async byCandidates(
    text: string,
    { k, filter }: { readonly k: number; readonly filter?: SearchOptions["filter"] },
    find: FindCandidates,
  ): Promise<SimilarMessage[] | undefined> {
    const ranking = this.#parts.lexical?.candidates;
    if (ranking === undefined) return undefined;
    const words = ranking.wordsOf(text);
    if (k === 0 || words.length === 0) return [];
    const accept = this.#accepting(filter) ?? (() => true);
    for (let most = Math.max(CANDIDATES, MORE * k); ; most *= MORE) {
      const places = await find(words, most);
      if (places === undefined) return undefined;
      const accepted = places.filter((place) => this.#held.at(place) !== undefined && accept(place));
      const hits = await ranking.rank(text, new Map(accepted.map((place) => [place, this.#textAt(place)])), k);
      if (hits.length < k && places.length >= most) continue;
      return this.#answers(
        hits.map(({ key }) => key),
        new Map(hits.map(({ key, score }) => [key, score])),
      );
    }
  }

  /** Returns the messages that are most similar to a text, best first: by vectors, and with `hybrid` by words too. */
  async of(
    text: string,
    query: Float32Array | undefined,
    index: VectorIndex,
    o: SearchOptions & { readonly k: number; readonly threshold: number },
  ): Promise<SimilarMessage[]> {
    const accept = this.#accepting(o.filter);
    const depth = o.hybrid === true ? o.k * DEPTH : o.k;
    const near = query === undefined || index.size === 0 ? [] : await index.search(query, depth, { accept });
    const scores = new Map(near.map(({ key, score }) => [key, score]));
    const similar = near.filter(({ score }) => score >= o.threshold).map(({ key }) => key);
    if (o.hybrid !== true) return this.#answers(similar, scores);
    const worded = await this.#worded(text, depth, accept);
    const best = fuseRankings([similar, worded.map(({ key }) => key)]).slice(0, o.k);
    const unscored = new Set(best.filter((place) => !scores.has(place)));
    if (query !== undefined && unscored.size > 0 && index.size > 0) {
      for (const { key, score } of await index.search(query, unscored.size, { among: unscored })) scores.set(key, score);
    }
    return this.#answers(best, scores);
  }

  #accepting(filter: SearchOptions["filter"]): ((place: number) => boolean) | undefined {
    return filter === undefined ? undefined : (place) => this.#isAccepted(place, filter);
  }

  #isAccepted(place: number, filter: NonNullable<SearchOptions["filter"]>): boolean {
    const { message, runId } = this.#held.at(place) as StoredMessage;
    return filter(message, runId);
  }

  /** Searches the lexical index, best first. */
  async #worded(text: string, k: number, accept: ((place: number) => boolean) | undefined): Promise<readonly LexicalHit[]> {
    const { lexical } = this.#parts;
    if (lexical === undefined) throw noLexical();
    for (const place of this.#unread) {
      // Awaited only if the index returns a promise, because there may be a hundred thousand calls.
      const added = lexical.add(place, this.#textAt(place));
      if (added !== undefined) await added;
      this.#unread.delete(place);
    }
    return lexical.search(text, k, accept);
  }

  #textAt(place: number): string {
    return this.#held.at(place)?.message.content ?? "";
  }

  #answers(places: readonly number[], scores: ReadonlyMap<number, number>): SimilarMessage[] {
    return places.flatMap((place) => {
      const entry = this.#held.at(place);
      return entry === undefined ? [] : [{ message: entry.message, score: scores.get(place) ?? 0, runId: entry.runId }];
    });
  }
}

/** The error of a hybrid search without a lexical index. */
export function noLexical(): UsageError {
  return new UsageError(
    "OPTION_INVALID",
    "Expected a storage with a lexical index for a hybrid search, got one without. Give it the option lexical.",
  );
}

/** The error of a search with an embedder in a storage without one. */
export function noEmbedder(): UsageError {
  return new UsageError(
    "OPTION_INVALID",
    "Expected a storage with an embedder for a search that brings one, got one that looks for words. Give the storage the same embedder.",
  );
}

/** Reduces the weight of the first places: the constant of Cormack, Clarke and Büttcher (2009). */
const DAMPING = 60;

/**
 * Merges rankings by reciprocal rank, which needs no comparable scores. Returns keys best first; equal ones by key.
 */
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
