import { aCount, takes } from "../kernel/argument.ts";
import { MemoryError } from "../kernel/errors.ts";
import { dotProduct, unitVector } from "./embedder.ts";

/** A found vector: its key, and its similarity of -1 to 1. */
export interface VectorHit {
  readonly key: number;
  /** Cosine similarity in [-1, 1]: larger is closer. */
  readonly score: number;
}

/** Options of a search. */
export interface VectorSearch {
  /** Accepts a key. Called only for keys that may be among the best. */
  readonly accept?: ((key: number) => boolean) | undefined;
}

/** Finds the vectors closest to another. Port. An index can be rebuilt from the message store. */
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

/** Hits that are collected before the best are chosen. */
const FEW_HITS = 16;

/**
 * An index that compares the query with every vector: the default of a memory with an embedder, for up to some hundred thousand vectors.
 *
 * @example
 * import { exactIndex, hashingEmbedder, MemoryStorage } from "troupe";
 *
 * export const storage = new MemoryStorage({ roleId: "Ada", embedder: hashingEmbedder(), index: exactIndex() });
 */
export function exactIndex(): VectorIndex {
  return new ExactIndex();
}

/** Owns the vectors, each of length 1. ExactIndex.X2 (`#checked`) the first vector decides the dimensions until `clear`. */
class ExactIndex implements VectorIndex {
  readonly #vectors = new Map<number, Float32Array>();
  #dimensions = 0;

  get size(): number {
    return this.#vectors.size;
  }

  add(key: number, vector: Float32Array): void {
    const unit = this.#checked(vector, "the vector");
    this.#dimensions = unit.length;
    this.#vectors.set(key, unit.slice());
  }

  delete(key: number): boolean {
    return this.#vectors.delete(key);
  }

  search(query: Float32Array, k: number, { accept }: VectorSearch = {}): readonly VectorHit[] {
    takes("the search of an index", "k", k, aCount);
    if (this.size === 0 || k === 0) return [];
    const unit = this.#checked(query, "the vector of the search");
    let hits: VectorHit[] = [];
    let floor = -Infinity;
    const chooseBest = (): void => {
      hits = hits.sort((a, b) => b.score - a.score || a.key - b.key).slice(0, k);
      if (hits.length === k) floor = hits.at(-1)?.score ?? -Infinity;
    };
    for (const [key, vector] of this.#vectors) {
      const score = dotProduct(unit, vector);
      if (!(score >= floor) || accept?.(key) === false) continue;
      hits.push({ key, score });
      if (hits.length >= 2 * k + FEW_HITS) chooseBest();
    }
    chooseBest();
    return hits.map(({ key, score }) => ({ key, score: Math.max(-1, Math.min(1, score)) }));
  }

  clear(): void {
    this.#vectors.clear();
  }

  #checked(vector: Float32Array, what: string): Float32Array {
    const { length } = vector;
    if (this.size > 0 && length !== this.#dimensions) {
      throw new MemoryError(
        "EMBEDDING_DIMENSION",
        `Expected ${what} to have ${this.#dimensions} numbers, as those in the index, got ${length}. Clear the index, and add vectors of one kind.`,
        { data: { expected: this.#dimensions, came: length } },
      );
    }
    const unit = unitVector(vector, what);
    if (unit !== undefined) return unit;
    throw new MemoryError("EMBEDDING_INVALID", `Expected ${what} to point somewhere, got only zeros. Leave such strings out.`);
  }
}
