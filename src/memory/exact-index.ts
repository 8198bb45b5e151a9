import { takes, aCount } from "../kernel/argument.ts";
import { MemoryError, UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { unitVector } from "./embedder.ts";
import { countDiffering, dotProduct, nearest, SignSketch } from "./vector-math.ts";

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

/** Rows of one piece of memory. New pieces are added without copying the others. */
const PIECE = 1024;
/** Most numbers of a vector. */
const LONGEST_VECTOR = 65_536;
/** The prefilter chooses at least so many rows for each hit asked for, and at most this share of all rows. */
const CANDIDATES_PER_HIT = 200;
const CANDIDATE_SHARE = 1 / 20;
/** Candidates that are collected before the best are chosen. */
const FEW_HITS = 16;

/** Options of {@link exactIndex}. */
export interface ExactIndexOptions {
  /** Above so many vectors, signs are compared first and only the best candidates exactly. `Infinity`: never. Default 50,000. */
  readonly prefilterAbove?: number | undefined;
}

const exactIndexOptions: Known<ExactIndexOptions> = { prefilterAbove: kinds.amount };

/**
 * An index that compares the query with every vector. Up to `prefilterAbove` vectors, and in every search with a condition, the result is
 * exact. Above, it compares the signs of all vectors first, and then at most a twentieth of them exactly. That misses hardly any of the vectors of
 * a model, and one of two hundred of hashed texts.
 *
 * @throws UsageError `OPTION_INVALID`
 * @example
 * import { exactIndex, hashingEmbedder, MemoryStorage } from "troupe";
 *
 * const index = exactIndex({ prefilterAbove: 10_000 });
 * export const storage = new MemoryStorage({ roleId: "Ada", embedder: hashingEmbedder(), index });
 */
export function exactIndex(options: ExactIndexOptions = {}): VectorIndex {
  checkKnownOptions("exactIndex", options, exactIndexOptions);
  const { prefilterAbove = 50_000 } = options;
  if (typeof prefilterAbove !== "number" || Number.isNaN(prefilterAbove) || prefilterAbove < 0) {
    throw new UsageError("OPTION_INVALID", `Expected prefilterAbove to be a number of vectors, got ${prefilterAbove}.`);
  }
  return new ExactIndex(prefilterAbove);
}

/**
 * Owns the vectors, each of length 1, in pieces of flat memory, and the row of each key.
 *
 * ExactIndex.X1 (`delete`) rows 0 to size - 1 are in use: the last row moves to the place of a deleted one, so `add` and `delete` are O(1).
 * ExactIndex.X2 (`#checked`) the first vector decides the dimensions until `clear`. ExactIndex.X3 (`#writeBits`) signs are computed at the first
 * prefiltered search and kept up to date from then on.
 */
class ExactIndex implements VectorIndex {
  readonly #prefilterAbove: number;
  readonly #rows = new Map<number, number>();
  /** The key of each row. */
  readonly #keys: number[] = [];
  #pieces: Float32Array[] = [];
  #dimensions = 0;
  #sketch: SignSketch | undefined;
  #bits: Int32Array[] = [];

  constructor(prefilterAbove: number) {
    this.#prefilterAbove = prefilterAbove;
  }

  get size(): number {
    return this.#keys.length;
  }

  add(key: number, vector: Float32Array): void {
    const unit = this.#checked(vector, "the vector to keep");
    if (this.size === 0) this.#begin(unit.length);
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = this.#keys.push(key) - 1;
      this.#rows.set(key, row);
    }
    if (row === this.#pieces.length * PIECE) this.#pieces.push(new Float32Array(PIECE * this.#dimensions));
    this.#piece(row).set(unit, this.#start(row));
    this.#writeBits(row);
  }

  delete(key: number): boolean {
    const row = this.#rows.get(key);
    if (row === undefined) return false;
    const last = this.size - 1;
    const lastKey = this.#keys[last] as number;
    this.#piece(row).set(this.#piece(last).subarray(this.#start(last), this.#start(last) + this.#dimensions), this.#start(row));
    this.#keys[row] = lastKey;
    this.#rows.set(lastKey, row);
    this.#keys.pop();
    this.#rows.delete(key);
    if (row < last) this.#writeBits(row);
    if (last % PIECE === 0) {
      this.#pieces.pop();
      this.#bits.length = Math.min(this.#bits.length, this.#pieces.length);
    }
    return true;
  }

  search(query: Float32Array, k: number, o: VectorSearch = {}): readonly VectorHit[] {
    takes("the search of an index", "k", k, aCount);
    if (this.size === 0 || k === 0) return [];
    const unit = this.#checked(query, "the vector to look for");
    const { among, accept } = o;
    const best = new BestHits(k, accept);
    if (among !== undefined) this.#compareKeys(unit, best, among);
    else if (accept !== undefined || this.size <= this.#prefilterAbove) this.#compareAll(unit, best);
    else this.#compareCandidates(unit, k, best);
    return best.hits();
  }

  clear(): void {
    this.#rows.clear();
    this.#keys.length = 0;
    this.#begin(0);
  }

  #begin(dimensions: number): void {
    this.#dimensions = dimensions;
    this.#pieces = [];
    this.#bits = [];
    this.#sketch = undefined;
  }

  #checked(vector: Float32Array, what: string): Float32Array {
    if (this.size > 0 && vector.length !== this.#dimensions) {
      throw new MemoryError(
        "EMBEDDING_DIMENSION",
        `Expected ${what} to have ${this.#dimensions} numbers, as those in the index, got ${vector.length}. Clear the index, and add vectors of one kind.`,
        { data: { expected: this.#dimensions, came: vector.length } },
      );
    }
    if (vector.length > LONGEST_VECTOR) {
      throw new MemoryError(
        "EMBEDDING_DIMENSION",
        `Expected ${what} to have ${LONGEST_VECTOR} numbers at most, got ${vector.length}. Ask its embedder for fewer.`,
        { data: { expected: LONGEST_VECTOR, came: vector.length } },
      );
    }
    const unit = unitVector(vector, what);
    if (unit !== undefined) return unit;
    throw new MemoryError("EMBEDDING_INVALID", `Expected ${what} to point somewhere, got nothing but zeros. Leave such texts out.`);
  }

  #piece(row: number): Float32Array {
    return this.#pieces[Math.floor(row / PIECE)] as Float32Array;
  }

  /** Where a row starts in its piece. */
  #start(row: number): number {
    return (row % PIECE) * this.#dimensions;
  }

  #compareRow(query: Float32Array, row: number, best: BestHits): void {
    best.offer(this.#keys[row] as number, dotProduct(query, this.#piece(row), this.#start(row)));
  }

  #compareAll(query: Float32Array, best: BestHits): void {
    for (let row = 0; row < this.size; row++) this.#compareRow(query, row, best);
  }

  #compareKeys(query: Float32Array, best: BestHits, keys: ReadonlySet<number>): void {
    for (const key of keys) {
      const row = this.#rows.get(key);
      if (row !== undefined) this.#compareRow(query, row, best);
    }
  }

  /** Compares the rows in order of differing signs, until no other row is likely to be among the best. */
  #compareCandidates(query: Float32Array, k: number, best: BestHits): void {
    const sketch = this.#sketched();
    const asked = new Int32Array(sketch.words);
    sketch.write(query, 0, asked, 0);
    const distances = new Uint16Array(this.size);
    const histogram = new Uint32Array(sketch.bits + 1);
    for (const [n, bits] of this.#bits.entries()) {
      countDiffering(bits, asked, distances.subarray(n * PIECE, (n + 1) * PIECE), histogram);
    }
    let seen = 0;
    let distance = 0;
    for (const row of nearest(distances, histogram, Math.max(CANDIDATES_PER_HIT * k, this.size * CANDIDATE_SHARE))) {
      if ((distances[row] as number) > distance) {
        distance = distances[row] as number;
        if (seen >= CANDIDATES_PER_HIT * k && distance > sketch.reachOf(best.floor)) return;
      }
      seen++;
      this.#compareRow(query, row, best);
    }
  }

  #sketched(): SignSketch {
    if (this.#sketch === undefined) {
      this.#sketch = new SignSketch(this.#dimensions);
      for (let row = 0; row < this.size; row++) this.#writeBits(row);
    }
    return this.#sketch;
  }

  #writeBits(row: number): void {
    if (this.#sketch === undefined) return;
    const { words } = this.#sketch;
    const bits = (this.#bits[Math.floor(row / PIECE)] ??= new Int32Array(PIECE * words));
    this.#sketch.write(this.#piece(row), this.#start(row), bits, (row % PIECE) * words);
  }
}

/** The best `limit` of many hits. Equal scores are ordered by key. */
class BestHits {
  readonly #limit: number;
  readonly #accept: VectorSearch["accept"];
  #hits: VectorHit[] = [];
  /** A lower score is not among the best. */
  floor: number = -Infinity;

  constructor(limit: number, accept: VectorSearch["accept"]) {
    this.#limit = limit;
    this.#accept = accept;
  }

  offer(key: number, score: number): void {
    if (score < this.floor || this.#accept?.(key) === false) return;
    this.#hits.push({ key, score });
    if (this.#hits.length >= 2 * this.#limit + FEW_HITS) this.#choose();
  }

  /** Returns the best hits, best first. */
  hits(): VectorHit[] {
    this.#choose();
    return this.#hits.map(({ key, score }) => ({ key, score: Math.max(-1, Math.min(1, score)) }));
  }

  #choose(): void {
    this.#hits = this.#hits.sort((a, b) => b.score - a.score || a.key - b.key).slice(0, this.#limit);
    if (this.#hits.length === this.#limit) this.floor = this.#hits.at(-1)?.score ?? -Infinity;
  }
}
