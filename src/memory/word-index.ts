import type MiniSearch from "minisearch";
import type { SoughtWord } from "./message-store.ts";
import { contentTermsOf, foldedText, termsOf } from "./text-terms.ts";

/** A text that shares words with a question. */
export interface LexicalHit {
  readonly key: number;
  /** Comparable within one answer only. */
  readonly score: number;
}

/** Finds texts by their words. Port. */
export interface LexicalIndex {
  readonly size: number;
  /** Adds or replaces the text of a key. */
  add(key: number, text: string): void | Promise<void>;
  delete(key: number): boolean | Promise<boolean>;
  /** Returns the best `k` that share a word with the text, best first; equal scores by key. */
  search(text: string, k: number, accept?: (key: number) => boolean): readonly LexicalHit[] | Promise<readonly LexicalHit[]>;
  clear(): void | Promise<void>;
  /** Optional. With it, a memory whose store has a `lookup` reads only the likeliest messages, and adds none of them to this index. */
  readonly candidates?: CandidateRanking;
}

/** Ranks texts that are not in an index. */
export interface CandidateRanking {
  /** Returns the words of a question. A text without any of them is no hit. */
  wordsOf(question: string): readonly SoughtWord[];
  /** Searches these texts, as an index of them would. */
  rank(question: string, texts: ReadonlyMap<number, string>, k: number): readonly LexicalHit[] | Promise<readonly LexicalHit[]>;
}

/** Shorter words must match exactly. */
const SURE = 5;
/** Longer words are data, such as digests, and must match exactly: a fuzzy match takes memory by the square of their length. */
const LONGEST_WORD = 64;
/** The share of letters that may be wrong, and their greatest number. */
const MISSPELT = 0.2;
const MOST_WRONG = 6;
/** So many texts are all indexed. Of more texts, only the likeliest are indexed for each search: an index of all takes seconds. */
const MOST_INDEXED = 5_000;
const MOST_CANDIDATES = 2_000;

interface IndexedText {
  readonly id: number;
  readonly text: string;
}

/**
 * A {@link LexicalIndex} over `minisearch` (BM25), which is loaded by the first search: the default of a memory without an embedder. Chinese,
 * Japanese and Korean texts are found by characters and pairs of them; longer words also when misspelt by a letter or two, and by their
 * beginning. English function words of a question count only when it has no other words. Of more than 5,000 texts, the 2,000 that contain the
 * rarest words of the question are ranked.
 */
export function minisearch(): LexicalIndex {
  return new MiniSearchIndex();
}

/**
 * Owns the texts, and the index of the last search.
 *
 * WordIndex.W1 (`#whole`) the index has exactly the texts that are not in `#fresh`. WordIndex.W2 (`#forgetIndex`) the result of a search depends on
 * the texts and the question, not on earlier searches.
 */
class MiniSearchIndex implements LexicalIndex {
  readonly #texts = new Map<number, string>();
  /** Keys of texts that are not in the index yet. */
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
    if (this.#texts.size <= MOST_INDEXED) return best(await this.#whole(), text, k, accept);
    this.#forgetIndex();
    const likeliest = likeliestTexts(this.#texts, wordsIn(text), MOST_CANDIDATES, accept);
    return rankedTexts(text, new Map(likeliest.map((id) => [id, this.#texts.get(id) ?? ""])), k);
  }

  clear(): void {
    this.#texts.clear();
    this.#fresh.clear();
    this.#index = undefined;
  }

  async #whole(): Promise<MiniSearch<IndexedText>> {
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
  // Accepting takes longer than ranking, so only the best are looked at.
  for (const hit of found.sort((a, b) => b.score - a.score || a.key - b.key)) {
    if (hits.length >= k) break;
    if (accept?.(hit.key) !== false) hits.push(hit);
  }
  return hits;
}

/** Returns how many letters of a word may be wrong. */
function allowedMistakes({ length }: string): number {
  return length < SURE || length > LONGEST_WORD ? 0 : Math.min(MOST_WRONG, Math.round(length * MISSPELT));
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

/** The weight of a piece of a word against the whole word. */
const PIECE = 0.1;

/**
 * Returns the keys of at most `most` accepted texts that contain the most and the rarest words. Equal ones are ordered by key. Reads all texts
 * once, without an index.
 */
function likeliestTexts(
  texts: ReadonlyMap<number, string>,
  words: readonly SoughtWord[],
  most: number,
  accept: (key: number) => boolean = () => true,
): readonly number[] {
  const sought = words.map((word) => ({ word: word.word, pieces: piecesOf(word) }));
  const counts = sought.map(() => 0);
  const found: { readonly key: number; readonly held: Float32Array }[] = [];
  for (const [key, text] of texts) {
    const folded = foldedText(text);
    const held = Float32Array.from(sought, ({ word, pieces }) => {
      if (folded.includes(word)) return 1;
      return pieces.some((piece) => folded.includes(piece)) ? PIECE : 0;
    });
    if (held.every((share) => share === 0)) continue;
    for (const [n, share] of held.entries()) if (share === 1) counts[n] = (counts[n] ?? 0) + 1;
    found.push({ key, held });
  }
  const weights = counts.map((count) => Math.log(1 + texts.size / (1 + count)));
  const scored = found.map(({ key, held }) => ({ key, score: held.reduce((sum, share, n) => sum + share * (weights[n] ?? 0), 0) }));
  const likeliest: number[] = [];
  for (const { key } of scored.sort((a, b) => b.score - a.score || a.key - b.key)) {
    if (likeliest.length === most) break;
    if (accept(key)) likeliest.push(key);
  }
  return likeliest;
}

/** Returns pieces of a word. Every allowed misspelling contains one of them. */
function piecesOf({ word, wrongLetters }: SoughtWord): readonly string[] {
  const pieces = wrongLetters + 1;
  const size = Math.floor(word.length / pieces);
  return pieces === 1 ? [] : Array.from({ length: pieces }, (_, n) => word.slice(n * size, n === pieces - 1 ? undefined : (n + 1) * size));
}
