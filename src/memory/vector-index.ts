/** One that was found. */
export interface VectorHit {
  readonly key: number;
  /** Cosine similarity in [-1, 1]: bigger is closer. */
  readonly score: number;
}

/** What may be found. */
export interface VectorSearch {
  /** Only these. */
  readonly among?: ReadonlySet<number> | undefined;
  /** Only those it accepts. It is asked seldom: of what would be among the best. */
  readonly accept?: ((key: number) => boolean) | undefined;
}

/**
 * Finds the vectors closest to another. Port: an index in this process, an approximate one, one on a server. What is true stands in the
 * message store; an index can be made again from it.
 */
export interface VectorIndex {
  readonly size: number;
  /** Keeps a vector under a key; what was there is replaced. A zero vector, or one of another length, is refused by a MemoryError. */
  add(key: number, vector: Float32Array): void | Promise<void>;
  /** False when there is none. */
  delete(key: number): boolean | Promise<boolean>;
  /** The best `k`, best first; equal ones by key. */
  search(query: Float32Array, k: number, o?: VectorSearch): readonly VectorHit[] | Promise<readonly VectorHit[]>;
  clear(): void | Promise<void>;
}
