import { UsageError } from "../kernel/errors.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { LexicalHit } from "./lexical-index.ts";
import type { SoughtWord, StoredMessage } from "./message-store.ts";
import { fuseRankings } from "./rank-merge.ts";
import type { SearchOptions, SimilarMessage, StorageParts } from "./storage-options.ts";
import type { VectorIndex } from "./vector-index.ts";

/** How much deeper each ranking is read than what is asked for, when two are merged. */
const DEPTH = 5;
/** Candidates of one question, and how many times as many where too few of them are answers. */
const CANDIDATES = 500;
const MORE = 4;

/** Finds and holds the likeliest messages; undefined where all of them have to be held. */
type FindCandidates = (words: readonly SoughtWord[], most: number) => Promise<readonly number[] | undefined>;

/**
 * The order in which a storage's messages answer a question. It owns which messages the lexical index has not read yet: it reads them with
 * the first question that is about words. Which messages there are is the storage's.
 */
export class StorageRanking {
  readonly #parts: StorageParts;
  readonly #held: HeldMessages;
  readonly #unread = new Set<number>();

  constructor(parts: StorageParts, held: HeldMessages) {
    this.#parts = parts;
    this.#held = held;
  }

  /** A message came. */
  learn(place: number): void {
    if (this.#parts.lexical !== undefined) this.#unread.add(place);
  }

  /** A message is gone. */
  async forget(place: number): Promise<void> {
    if (!this.#unread.delete(place)) await this.#parts.lexical?.delete(place);
  }

  /** The messages that share words with a text, best first. */
  async byWords(text: string, { k, filter }: { readonly k: number; readonly filter?: SearchOptions["filter"] }): Promise<SimilarMessage[]> {
    const hits = k === 0 ? [] : await this.#worded(text, k, this.#accepting(filter));
    return this.#answers(
      hits.map(({ key }) => key),
      new Map(hits.map(({ key, score }) => [key, score])),
    );
  }

  /** The same of the messages that a store finds likeliest; undefined where all messages have to be ranked. */
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

  /** The messages most like a text, best first: by its vector, and by its words too where that is asked. */
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

  /** What shares words with a text, best first. */
  async #worded(text: string, k: number, accept: ((place: number) => boolean) | undefined): Promise<readonly LexicalHit[]> {
    const { lexical } = this.#parts;
    if (lexical === undefined) throw noLexical();
    for (const place of this.#unread) {
      // Not awaited unless the index asks for it: at the start there may be a hundred thousand.
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

/** What a hybrid search without an index of words is told. */
export function noLexical(): UsageError {
  return new UsageError(
    "OPTION_INVALID",
    "Expected a storage with a lexical index for a hybrid search, got one without. Give it the option lexical.",
  );
}

/** What a search that brings an embedder to a storage without one is told. */
export function noEmbedder(): UsageError {
  return new UsageError(
    "OPTION_INVALID",
    "Expected a storage with an embedder for a search that brings one, got one that looks for words. Give the storage the same embedder.",
  );
}
