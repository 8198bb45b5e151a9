import type MiniSearch from "minisearch";
import type { SoughtWord } from "./message-store.ts";
import { contentTermsOf, termsOf } from "./text-terms.ts";

/** A string that shares words with a question. */
export interface LexicalHit {
  readonly key: number;
  /** Comparable within one answer only. */
  readonly score: number;
}

/** Finds strings by their words. Port. */
export interface LexicalIndex {
  readonly size: number;
  add(key: number, text: string): void | Promise<void>;
  delete(key: number): boolean | Promise<boolean>;
  /** Returns the best `k` that share a word with the question, best first; equal scores by key. */
  search(text: string, k: number, accept?: (key: number) => boolean): readonly LexicalHit[] | Promise<readonly LexicalHit[]>;
  clear(): void | Promise<void>;
  /** Optional. With it, a memory whose store has a `lookup` reads only the likeliest messages, and adds none of them to this index. */
  readonly candidates?: CandidateRanking;
}

/** Ranks strings that are not in an index. */
export interface CandidateRanking {
  /** Returns the words of a question. A string without any of them is no hit. */
  wordsOf(question: string): readonly SoughtWord[];
  rank(question: string, texts: ReadonlyMap<number, string>, k: number): readonly LexicalHit[] | Promise<readonly LexicalHit[]>;
}

/** Shorter words must match exactly. */
const SURE = 5;
/** Longer words must match exactly: a fuzzy match takes memory by the square of their length. */
const MAX_WORD = 64;
/** The share of letters that may be wrong, and their greatest number. */
const MISSPELT = 0.2;
const MAX_WRONG = 6;

interface IndexedText {
  readonly id: number;
  readonly text: string;
}

/**
 * A {@link LexicalIndex} over `minisearch` (BM25), which is loaded by the first search: the default of a memory without an embedder. Chinese,
 * Japanese and Korean are found by characters and pairs of them; longer words also when misspelt, and by their beginning.
 */
export function minisearch(): LexicalIndex {
  return new MiniSearchIndex();
}

/** Owns the strings. WordIndex.W1 (`search`) the index has exactly the strings that are not in `#fresh`. */
class MiniSearchIndex implements LexicalIndex {
  readonly #texts = new Map<number, string>();
  readonly #fresh = new Set<number>();
  #index: MiniSearch<IndexedText> | undefined;
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
    if (this.#texts.size === 0) return [];
    const made = this.#index ?? (await newIndex());
    // Another search may have created it meanwhile.
    const index = (this.#index ??= made);
    for (const id of this.#fresh) index.add({ id, text: this.#texts.get(id) ?? "" });
    this.#fresh.clear();
    return best(index, text, k, accept);
  }

  clear(): void {
    this.#texts.clear();
    this.#fresh.clear();
    this.#index = undefined;
  }
}

async function rankedTexts(question: string, texts: ReadonlyMap<number, string>, k: number): Promise<readonly LexicalHit[]> {
  const index = await newIndex();
  index.addAll([...texts].map(([id, text]) => ({ id, text })));
  return best(index, question, k);
}

function wordsIn(question: string): readonly SoughtWord[] {
  return [...new Set(contentTermsOf(question))].map((word) => ({
    word,
    isBeginning: isBeginning(word),
    wrongLetters: allowedMistakes(word),
  }));
}

function isBeginning({ length }: string): boolean {
  return length >= SURE;
}

function best(index: MiniSearch<IndexedText>, text: string, k: number, accept?: (key: number) => boolean): readonly LexicalHit[] {
  const found = index.search(text).map(({ id, score }): LexicalHit => ({ key: id as number, score }));
  const hits: LexicalHit[] = [];
  // Accepting takes longer than ranking, so only the best candidates are checked.
  for (const hit of found.sort((a, b) => b.score - a.score || a.key - b.key)) {
    if (hits.length >= k) break;
    if (accept?.(hit.key) !== false) hits.push(hit);
  }
  return hits;
}

function allowedMistakes({ length }: string): number {
  return length < SURE || length > MAX_WORD ? 0 : Math.min(MAX_WRONG, Math.round(length * MISSPELT));
}

async function newIndex(): Promise<MiniSearch<IndexedText>> {
  const { default: Index } = await import("minisearch");
  return new Index<IndexedText>({
    fields: ["text"],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: {
      tokenize: contentTermsOf,
      fuzzy: allowedMistakes,
      prefix: isBeginning,
    },
  });
}
