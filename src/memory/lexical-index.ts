import type { SoughtWord } from "./message-store.ts";

/** One that shares terms with a question. */
export interface LexicalHit {
  readonly key: number;
  /** Comparable within one answer only. */
  readonly score: number;
}

/** Finds texts by their words. Port. */
export interface LexicalIndex {
  readonly size: number;
  /** Keeps a text under a key; what was there is replaced. */
  add(key: number, text: string): void | Promise<void>;
  delete(key: number): boolean | Promise<boolean>;
  /** The best `k` that share a term with the text, best first; equal ones by key. */
  search(text: string, k: number, accept?: (key: number) => boolean): readonly LexicalHit[] | Promise<readonly LexicalHit[]>;
  clear(): void | Promise<void>;
  /** Optional: with it a memory over a store that has a `lookup` reads the likeliest messages, and keeps none of them here. */
  readonly candidates?: CandidateRanking;
}

/** Ranks texts that an index does not keep. */
export interface CandidateRanking {
  /** The words of a question. A text with none of them is no hit. */
  wordsOf(question: string): readonly SoughtWord[];
  /** As a search of an index that has these texts alone. */
  rank(question: string, texts: ReadonlyMap<number, string>, k: number): readonly LexicalHit[] | Promise<readonly LexicalHit[]>;
}
