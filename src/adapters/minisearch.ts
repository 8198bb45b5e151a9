import type MiniSearch from "minisearch";
import type { LexicalHit, LexicalIndex } from "../memory/lexical-index.ts";
import { termsOf } from "../memory/text-terms.ts";

/** Words shorter than this are not looked for misspelt. */
const SURE = 5;

interface Entry {
  readonly id: number;
  readonly text: string;
}

/**
 * A {@link LexicalIndex} over `minisearch` (BM25), which is loaded with the first call. Chinese, Japanese and Korean are found by
 * characters and pairs of them; longer words also misspelt by a letter or two, and by their beginning.
 */
export function minisearch(): LexicalIndex {
  return new MiniSearchIndex();
}

/** Owns the index of words; whose the keys are is its owner's business. */
class MiniSearchIndex implements LexicalIndex {
  #index: Promise<MiniSearch<Entry>> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  async add(key: number, text: string): Promise<void> {
    const index = await this.#load();
    if (index.has(key)) index.discard(key);
    index.add({ id: key, text });
    this.#size = index.documentCount;
  }

  async delete(key: number): Promise<boolean> {
    const index = await this.#load();
    const isThere = index.has(key);
    if (isThere) index.discard(key);
    this.#size = index.documentCount;
    return isThere;
  }

  async search(text: string, k: number, accept?: (key: number) => boolean): Promise<readonly LexicalHit[]> {
    const index = await this.#load();
    const found = index.search(text, accept === undefined ? {} : { filter: ({ id }) => accept(id as number) });
    return found
      .map(({ id, score }): LexicalHit => ({ key: id as number, score }))
      .sort((a, b) => b.score - a.score || a.key - b.key)
      .slice(0, k);
  }

  async clear(): Promise<void> {
    (await this.#load()).removeAll();
    this.#size = 0;
  }

  #load(): Promise<MiniSearch<Entry>> {
    this.#index ??= open();
    return this.#index;
  }
}

async function open(): Promise<MiniSearch<Entry>> {
  const { default: Index } = await import("minisearch");
  return new Index<Entry>({
    fields: ["text"],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: { fuzzy: (term) => (term.length < SURE ? false : 0.2), prefix: (term) => term.length >= SURE },
  });
}
