import type MiniSearch from "minisearch";
import type { CandidateRanking, LexicalHit, LexicalIndex } from "./lexical-index.ts";
import type { SoughtWord } from "./message-store.ts";
import { tellingTerms, termsOf } from "./text-terms.ts";
import { likeliestTexts } from "./word-candidates.ts";

/** Words shorter than this are not looked for misspelt. */
const SURE = 5;
/** Longer words are data, such as a digest: they are not looked for misspelt, which takes memory by the square of their length. */
const LONGEST_WORD = 64;
/** Letters of a word that may be wrong, of all its letters, and at most. */
const MISSPELT = 0.2;
const MOST_WRONG = 6;
/** So many texts are indexed whole. Of more, those that are likeliest to answer are looked for first: an index of all takes seconds. */
const MOST_INDEXED = 5_000;
const MOST_CANDIDATES = 2_000;

interface Entry {
  readonly id: number;
  readonly text: string;
}

/**
 * A {@link LexicalIndex} over `minisearch` (BM25), which is loaded with the first search: what a memory without an embedder searches by.
 * Chinese, Japanese and Korean are found by characters and pairs of them; longer words also misspelt by a letter or two, and by their
 * beginning. English function words of a question count only where it has no others. Of more than 5,000 texts the 2,000 that hold the rarest
 * words of the question are ranked.
 */
export function minisearch(): LexicalIndex {
  return new MiniSearchIndex();
}

/**
 * Owns the texts, and the index of them that was made for the last search; whose the keys are is its owner's business.
 *
 * WordIndex.W1 an index, where there is one, has exactly the texts that are not `#fresh`. WordIndex.W2 what a search gives depends on the texts and
 * the question, not on what was asked before.
 */
class MiniSearchIndex implements LexicalIndex {
  readonly #texts = new Map<number, string>();
  /** Keys of texts that the index does not have yet. */
  readonly #fresh = new Set<number>();
  #index: MiniSearch<Entry> | undefined;
  readonly candidates: CandidateRanking = { wordsOf: wordsIn, rank: rankedTexts };

  get size(): number {
    return this.#texts.size;
  }

  add(key: number, text: string): void {
    this.delete(key);
    this.#texts.set(key, text);
    this.#fresh.add(key);
  }

  delete(key: number): boolean {
    if (!this.#texts.delete(key)) return false;
    if (!this.#fresh.delete(key)) this.#index?.discard(key);
    return true;
  }

  async search(text: string, k: number, accept?: (key: number) => boolean): Promise<readonly LexicalHit[]> {
    if (this.#texts.size <= MOST_INDEXED) {
      return best(await this.#whole(), text, k, accept);
    }
    this.#forgetIndex();
    const likeliest = likeliestTexts(this.#texts, wordsIn(text), MOST_CANDIDATES, accept);
    return rankedTexts(text, new Map(likeliest.map((id) => [id, this.#texts.get(id) ?? ""])), k);
  }

  clear(): void {
    this.#texts.clear();
    this.#fresh.clear();
    this.#index = undefined;
  }

  async #whole(): Promise<MiniSearch<Entry>> {
    const made = this.#index ?? (await newIndex());
    const index = (this.#index ??= made);
    for (const id of this.#fresh) index.add({ id, text: this.#texts.get(id) ?? "" });
    this.#fresh.clear();
    return index;
  }

  #forgetIndex(): void {
    if (this.#index === undefined) return;
    this.#index = undefined;
    for (const key of this.#texts.keys()) this.#fresh.add(key);
  }
}

async function rankedTexts(question: string, texts: ReadonlyMap<number, string>, k: number): Promise<readonly LexicalHit[]> {
  const index = await newIndex();
  index.addAll([...texts].map(([id, text]) => ({ id, text })));
  return best(index, question, k);
}

function wordsIn(question: string): readonly SoughtWord[] {
  const words = new Set(tellingTerms(termsOf(question)));
  return [...words].map((word) => ({ word, isBeginning: isBeginning(word), wrongLetters: wrongLetters(word) }));
}

function isBeginning({ length }: string): boolean {
  return length >= SURE;
}

function best(index: MiniSearch<Entry>, text: string, k: number, accept?: (key: number) => boolean): readonly LexicalHit[] {
  const found = index.search(text, accept === undefined ? {} : { filter: ({ id }) => accept(id as number) });
  return found
    .map(({ id, score }): LexicalHit => ({ key: id as number, score }))
    .sort((a, b) => b.score - a.score || a.key - b.key)
    .slice(0, k);
}

/** How many letters of a word may be wrong. */
function wrongLetters({ length }: string): number {
  return length < SURE || length > LONGEST_WORD ? 0 : Math.min(MOST_WRONG, Math.round(length * MISSPELT));
}

async function newIndex(): Promise<MiniSearch<Entry>> {
  const { default: Index } = await import("minisearch");
  return new Index<Entry>({
    fields: ["text"],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: {
      tokenize: (question) => tellingTerms(termsOf(question)),
      fuzzy: wrongLetters,
      prefix: isBeginning,
    },
  });
}
