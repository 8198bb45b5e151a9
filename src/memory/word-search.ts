import type { MessageLookup } from "./message-store.ts";
import type { Search } from "./storage-options.ts";
import type { StoredMessages, StoreWatch } from "./stored-messages.ts";
import type { LexicalHit, LexicalIndex } from "./word-index.ts";

/** Candidates of one question, and the factor by which they grow when too few of them are hits. */
const CANDIDATES = 500;
const MORE = 4;

/** Finds the messages of a storage by their words. Owns the list of messages that the index does not have yet: the next search adds them. */
export class WordSearch implements StoreWatch {
  readonly #index: LexicalIndex;
  readonly #roleId: string;
  readonly #known: StoredMessages;
  readonly #unread = new Set<number>();

  constructor(index: LexicalIndex, roleId: string, known: StoredMessages) {
    this.#index = index;
    this.#roleId = roleId;
    this.#known = known;
  }

  added(place: number): void {
    this.#unread.add(place);
  }

  async removed(place: number): Promise<void> {
    if (!this.#unread.delete(place)) await this.#index.delete(place);
  }

  /** Searches all messages, or with a lookup those that the store finds likeliest, and reads only these. */
  async search(text: string, o: Search, lookup: MessageLookup | undefined): Promise<readonly LexicalHit[]> {
    if (o.k === 0) return [];
    if (lookup !== undefined) return this.#amongCandidates(text, o, lookup);
    for (const place of this.#unread) {
      // Awaited only if the index returns a promise, because there may be a hundred thousand calls.
      const added = this.#index.add(place, this.#contentAt(place));
      if (added !== undefined) await added;
      this.#unread.delete(place);
    }
    return this.#index.search(text, o.k, this.#known.accepting(o.filter));
  }

  async #amongCandidates(text: string, { k, filter }: Search, lookup: MessageLookup): Promise<readonly LexicalHit[]> {
    const ranking = this.#index.candidates;
    const words = ranking?.wordsOf(text) ?? [];
    if (ranking === undefined || words.length === 0) return [];
    const accept = this.#known.accepting(filter) ?? (() => true);
    for (let limit = Math.max(CANDIDATES, MORE * k); ; limit *= MORE) {
      const places = await lookup.likeliest(this.#roleId, words, limit);
      await this.#known.readAt(lookup, places);
      const accepted = places.filter((place) => this.#known.at(place) !== undefined && accept(place));
      const hits = await ranking.rank(text, new Map(accepted.map((place) => [place, this.#contentAt(place)])), k);
      if (hits.length >= k || places.length < limit) return hits;
    }
  }

  #contentAt(place: number): string {
    return this.#known.at(place)?.message.content ?? "";
  }
}
