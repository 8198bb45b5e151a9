import { MemoryError, UsageError } from "../kernel/errors.ts";
import { BestHits } from "./best-hits.ts";
import { unitVector } from "./embedder.ts";
import { differingBits, SignSketch } from "./sign-sketch.ts";
import type { VectorHit, VectorIndex, VectorSearch } from "./vector-index.ts";

/** Rows of one piece of the arena: it grows without copying what is there. */
const PIECE = 1024;
/** Of how many times `k`, and of how many rows in all, the prefilter's favourites are compared exactly. */
const FAVOURITES = 200;
const PART = 1 / 20;

/** When an exact index begins to look at bits first. */
export interface ExactIndexOptions {
  /** Above so many vectors bits are compared first and only the favourites exactly. `Infinity`: never. Default 50,000. */
  readonly prefilterAbove?: number | undefined;
}

/**
 * An index that compares with every vector. Up to `prefilterAbove` vectors, and for every search with a condition, it finds exactly the
 * best; above, it compares signs first and a twentieth of all exactly, which misses about one of a hundred of them.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function exactIndex({ prefilterAbove = 50_000 }: ExactIndexOptions = {}): VectorIndex {
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
  readonly #rows = new Map<number, number>();
  readonly #keys: number[] = [];
  #pieces: Float32Array[] = [];
  #dimensions = 0;
  #sketch: SignSketch | undefined;
  #bits: Uint32Array[] = [];

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
      if (row % PIECE === 0 && this.#pieces.length <= row / PIECE) this.#pieces.push(new Float32Array(PIECE * this.#dimensions));
    }
    this.#piece(row).set(unit, (row % PIECE) * this.#dimensions);
    this.#writeBits(row);
  }

  delete(key: number): boolean {
    const row = this.#rows.get(key);
    if (row === undefined) return false;
    const last = this.size - 1;
    const moved = this.#keys[last] as number;
    const from = (last % PIECE) * this.#dimensions;
    this.#piece(row).set(this.#piece(last).subarray(from, from + this.#dimensions), (row % PIECE) * this.#dimensions);
    this.#keys[row] = moved;
    this.#rows.set(moved, row);
    this.#rows.delete(key);
    this.#keys.pop();
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
    if (among !== undefined) this.#lookAt(unit, best, this.#rowsOf(among), accept);
    else if (accept !== undefined || this.size <= this.#prefilterAbove) this.#scan(unit, best, accept);
    else this.#lookAt(unit, best, this.#favourites(unit, k), undefined);
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
    const unit = unitVector(vector, what);
    if (unit !== undefined) return unit;
    throw new MemoryError("EMBEDDING_INVALID", `Expected ${what} to point somewhere, got nothing but zeros. Leave such texts out.`);
  }

  #piece(row: number): Float32Array {
    return this.#pieces[Math.floor(row / PIECE)] as Float32Array;
  }

  #rowsOf(keys: ReadonlySet<number>): number[] {
    return [...keys].flatMap((key) => this.#rows.get(key) ?? []);
  }

  /** Compares with the whole arena. */
  #scan(query: Float32Array, best: BestHits, accept: VectorSearch["accept"]): void {
    const wide = Float64Array.from(query);
    for (let row = 0; row < this.size; row++) {
      const score = dot(wide, this.#piece(row), (row % PIECE) * this.#dimensions);
      if (score >= best.floor) offer(best, score, this.#keys[row] as number, accept);
    }
  }

  /** Compares with some rows. */
  #lookAt(query: Float32Array, best: BestHits, rows: readonly number[], accept: VectorSearch["accept"]): void {
    const wide = Float64Array.from(query);
    for (const row of rows) {
      offer(best, dot(wide, this.#piece(row), (row % PIECE) * this.#dimensions), this.#keys[row] as number, accept);
    }
  }

  /** The rows whose signs differ least from the query's, as many as shall be compared exactly, and those that differ as little. */
  #favourites(query: Float32Array, k: number): number[] {
    const sketch = this.#sketched();
    const { words } = sketch;
    const asked = new Uint32Array(words);
    sketch.write(query, 0, asked, 0);
    const distances = new Uint16Array(this.size);
    const histogram = new Uint32Array(words * 32 + 1);
    for (let row = 0; row < this.size; row++) {
      const distance = differingBits(this.#bits[Math.floor(row / PIECE)] as Uint32Array, (row % PIECE) * words, asked, words);
      distances[row] = distance;
      histogram[distance] = (histogram[distance] as number) + 1;
    }
    const wanted = Math.max(FAVOURITES * k, this.size * PART);
    let furthest = 0;
    for (let count = histogram[0] as number; count < wanted && furthest < words * 32;) count += histogram[++furthest] as number;
    const rows: number[] = [];
    for (let row = 0; row < this.size; row++) if ((distances[row] as number) <= furthest) rows.push(row);
    return rows;
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
    const bits = (this.#bits[Math.floor(row / PIECE)] ??= new Uint32Array(PIECE * words));
    this.#sketch.write(this.#piece(row), (row % PIECE) * this.#dimensions, bits, (row % PIECE) * words);
  }
}

function offer(best: BestHits, score: number, key: number, accept: VectorSearch["accept"]): void {
  if (best.wants(score, key) && (accept === undefined || accept(key))) best.keep(score, key);
}

/** Four sums at once, for the processor can add them side by side. */
function dot(query: Float64Array, rows: Float32Array, from: number): number {
  const size = query.length;
  const whole = size & ~3;
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let n = 0; n < whole; n += 4) {
    const at = from + n;
    a += (query[n] as number) * (rows[at] as number);
    b += (query[n + 1] as number) * (rows[at + 1] as number);
    c += (query[n + 2] as number) * (rows[at + 2] as number);
    d += (query[n + 3] as number) * (rows[at + 3] as number);
  }
  for (let n = whole; n < size; n++) a += (query[n] as number) * (rows[from + n] as number);
  return a + b + c + d;
}
