import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { MemoryError, UsageError } from "../kernel/errors.ts";
import { BestHits } from "./best-hits.ts";
import { ask, LONGEST, product, products } from "./dot-product.ts";
import { unitVector } from "./embedder.ts";
import { KeyRows } from "./key-rows.ts";
import { countDiffering, nearest, SignSketch } from "./sign-sketch.ts";
import type { VectorHit, VectorIndex, VectorSearch } from "./vector-index.ts";

/** Rows of one piece of the arena: it grows without copying what is there. */
const PIECE = 1024;
/** Of how many times `k`, at least, and of how many rows in all, at most, the prefilter's favourites are compared exactly. */
const FAVOURITES = 200;
const PART = 1 / 20;

/** When an exact index begins to look at bits first. */
export interface ExactIndexOptions {
  /** Above so many vectors bits are compared first and only the favourites exactly. `Infinity`: never. Default 50,000. */
  readonly prefilterAbove?: number | undefined;
}

const exactIndexOptions: Known<ExactIndexOptions> = { prefilterAbove: true };

/**
 * An index that compares with every vector. Up to `prefilterAbove` vectors, and for every search with a condition, it finds exactly the
 * best; above, it compares signs first, and exactly only what may be among the best by them, a twentieth of all at most. Of vectors of
 * models that misses hardly any, of hashed texts one of two hundred.
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
 * Owns the vectors, each of length 1, in pieces of flat memory, and which row is whose.
 *
 * X1 rows 0 to size - 1 are in use, without holes: a deleted row is filled by the last one, so `add` and `delete` are O(1). X2 the first
 * vector decides the dimensions until `clear`. X3 bits are made when they are first needed and kept true from then on.
 */
class ExactIndex implements VectorIndex {
  readonly #prefilterAbove: number;
  readonly #rows = new KeyRows();
  #pieces: Float32Array[] = [];
  #dimensions = 0;
  #sketch: SignSketch | undefined;
  #bits: Int32Array[] = [];

  constructor(prefilterAbove: number) {
    this.#prefilterAbove = prefilterAbove;
  }

  get size(): number {
    return this.#rows.size;
  }

  add(key: number, vector: Float32Array): void {
    const unit = this.#checked(vector, "the vector to keep");
    if (this.size === 0) this.#begin(unit.length);
    const row = this.#rows.rowOf(key) ?? this.#rows.push(key);
    if (row === this.#pieces.length * PIECE) this.#pieces.push(new Float32Array(PIECE * this.#dimensions));
    this.#piece(row).set(unit, (row % PIECE) * this.#dimensions);
    this.#writeBits(row);
  }

  delete(key: number): boolean {
    const row = this.#rows.rowOf(key);
    if (row === undefined) return false;
    const last = this.size - 1;
    const from = (last % PIECE) * this.#dimensions;
    this.#piece(row).set(this.#piece(last).subarray(from, from + this.#dimensions), (row % PIECE) * this.#dimensions);
    this.#rows.remove(key);
    if (row < last) this.#writeBits(row);
    if (last % PIECE === 0) {
      this.#pieces.pop();
      this.#bits.length = Math.min(this.#bits.length, this.#pieces.length);
    }
    return true;
  }

  search(query: Float32Array, k: number, o: VectorSearch = {}): readonly VectorHit[] {
    if (!Number.isInteger(k) || k < 0) throw new RangeError(`Expected how many to find to be a whole number of 0 or more, got ${k}.`);
    if (this.size === 0 || k === 0) return [];
    const unit = this.#checked(query, "the vector to look for");
    const best = new BestHits(Math.min(k, this.size));
    const { among, accept } = o;
    if (among !== undefined) this.#lookAt(unit, best, among, accept);
    else if (accept !== undefined || this.size <= this.#prefilterAbove) this.#scan(unit, best, accept);
    else this.#lookAtFavourites(unit, k, best);
    return best.hits();
  }

  clear(): void {
    this.#rows.clear();
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
    if (vector.length > LONGEST) {
      throw new MemoryError(
        "EMBEDDING_DIMENSION",
        `Expected ${what} to have ${LONGEST} numbers at most, got ${vector.length}. Ask its embedder for fewer.`,
        {
          data: { expected: LONGEST, came: vector.length },
        },
      );
    }
    const unit = unitVector(vector, what);
    if (unit !== undefined) return unit;
    throw new MemoryError("EMBEDDING_INVALID", `Expected ${what} to point somewhere, got nothing but zeros. Leave such texts out.`);
  }

  #piece(row: number): Float32Array {
    return this.#pieces[Math.floor(row / PIECE)] as Float32Array;
  }

  /** Compares with the whole arena, piece by piece. */
  #scan(query: Float32Array, best: BestHits, accept: VectorSearch["accept"]): void {
    const scores = new Float64Array(Math.min(PIECE, this.size));
    ask(query);
    for (const [n, piece] of this.#pieces.entries()) {
      const first = n * PIECE;
      const count = Math.min(PIECE, this.size - first);
      products(piece, count, this.#dimensions, scores);
      for (let row = 0; row < count; row++) {
        const score = scores[row] as number;
        if (score >= best.floor) offer(best, score, this.#rows.keyOf(first + row), accept);
      }
    }
  }

  /** Compares with some keys. */
  #lookAt(query: Float32Array, best: BestHits, keys: ReadonlySet<number>, accept: VectorSearch["accept"]): void {
    ask(query);
    for (const key of keys) {
      const row = this.#rows.rowOf(key);
      if (row !== undefined) offer(best, product(this.#piece(row), (row % PIECE) * this.#dimensions, this.#dimensions), key, accept);
    }
  }

  /** Compares with the rows whose signs differ least from the query's, these first, until no other is likely to be among the best. */
  #lookAtFavourites(query: Float32Array, k: number, best: BestHits): void {
    const sketch = this.#sketched();
    const asked = new Int32Array(sketch.words);
    sketch.write(query, 0, asked, 0);
    const distances = new Uint16Array(this.size);
    const histogram = new Uint32Array(sketch.bits + 1);
    for (const [n, bits] of this.#bits.entries()) {
      countDiffering(bits, asked, distances.subarray(n * PIECE, (n + 1) * PIECE), histogram);
    }
    ask(query);
    let seen = 0;
    let distance = 0;
    for (const row of nearest(distances, histogram, Math.max(FAVOURITES * k, this.size * PART))) {
      if ((distances[row] as number) > distance) {
        distance = distances[row] as number;
        if (seen >= FAVOURITES * k && distance > sketch.reachOf(best.floor)) return;
      }
      seen++;
      const score = product(this.#piece(row), (row % PIECE) * this.#dimensions, this.#dimensions);
      if (score >= best.floor) offer(best, score, this.#rows.keyOf(row), undefined);
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
    this.#sketch.write(this.#piece(row), (row % PIECE) * this.#dimensions, bits, (row % PIECE) * words);
  }
}

function offer(best: BestHits, score: number, key: number, accept: VectorSearch["accept"]): void {
  if (best.wants(score, key) && (accept === undefined || accept(key))) best.keep(score, key);
}
