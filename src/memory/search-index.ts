import type { SoughtWord } from "./message-store.ts";

/** A key found by a search. */
export interface VectorHit {
  readonly key: number;
  /** Cosine similarity in [-1, 1]: larger is closer. */
  readonly score: number;
}

/** Options of a search for vectors. */
export interface VectorSearch {
  /** Only these. */
  readonly among?: ReadonlySet<number> | undefined;
  /** Accepts a key. Called only for keys that may be among the best. */
  readonly accept?: ((key: number) => boolean) | undefined;
}

/**
 * Finds the vectors closest to another. Port: an index in this process, an approximate one, one on a server. An index can be rebuilt from the
 * message store.
 */
export interface VectorIndex {
  readonly size: number;
  /** Adds or replaces the vector of a key. @throws MemoryError for a vector of zeros or of another length */
  add(key: number, vector: Float32Array): void | Promise<void>;
  /** Returns false when there is none. */
  delete(key: number): boolean | Promise<boolean>;
  /** Returns the best `k`, best first; equal scores by key. */
  search(query: Float32Array, k: number, o?: VectorSearch): readonly VectorHit[] | Promise<readonly VectorHit[]>;
  clear(): void | Promise<void>;
}

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
