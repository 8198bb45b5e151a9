import { unitVector } from "./embedder.ts";
import { BestHits, type VectorHit, type VectorIndex, type VectorSearch } from "./exact-index.ts";
import { codeProduct, countDiffering, dotProduct, nearest } from "./vector-math.ts";
import { BLANK, type PlacedSketches, Sketcher, type Sketches } from "./vector-sketch.ts";

/** Places of one piece of memory, a multiple of those of a block in a store. */
const PIECE = 1024;
/** Vectors that are compared exactly for each hit asked for, and at least and at most. */
const EXACT_PER_HIT = 8;
const LEAST_EXACT = 32;
const MOST_EXACT = 512;
/** Vectors whose signs are nearest are compared number by number: at least so many for each hit asked for. */
const CANDIDATES_PER_HIT = 200;
/** At most so many are compared, or this share of all where that is more. */
const COMPARED = 150_000;
const COMPARED_SHARE = 0.2;

/** Returns the vectors at some places as they were stored. */
type ReadVectors = (places: readonly number[]) => Promise<readonly { readonly place: number; readonly vector: Float32Array }[]>;

interface Piece extends Sketches {
  readonly first: number;
}

/**
 * An index of a large store. It holds a quarter of the room of the vectors, and reads the few that may be hits from the store, so the scores of
 * hits are exact. Keys are places.
 *
 * SketchIndex.K1 (`search`) it finds what an exact comparison finds, up to 150,000 vectors, among some of them, and by a condition. Of more it
 * finds at least 99 of the best 100, also where the vectors have no structure at all.
 * SketchIndex.K2 (`#exact`) at most {@link MOST_EXACT} vectors are read for a search; hits behind them have scores within a hundredth of the exact
 * ones. SketchIndex.K3 (`#piece`) the first vector decides the dimensions; sketches of others are left out. SketchIndex.K4 (`has`) messages that
 * cannot be embedded are known, and never found.
 */
export class SketchIndex implements VectorIndex {
  readonly #read: ReadVectors;
  readonly #compared: number;
  readonly #pieces = new Map<number, Piece>();
  #dimensions = 0;
  #sketcher = new Sketcher(1);
  #size = 0;
  #blanks = 0;

  constructor(read: ReadVectors, compared: number = COMPARED) {
    this.#read = read;
    this.#compared = compared;
  }

  get size(): number {
    return this.#size;
  }

  /** The number of places that are known: those of vectors, and of messages that cannot be embedded. */
  get known(): number {
    return this.#size + this.#blanks;
  }

  /** Numbers of a vector; 0 before the first. */
  get dimensions(): number {
    return this.#dimensions;
  }

  /** True for a place whose vector is here, or whose message cannot be embedded. */
  has(place: number): boolean {
    return this.#scaleAt(place) !== 0;
  }

  /** Adds a vector; one without numbers says that its message cannot be embedded. */
  add(place: number, vector: Float32Array): void {
    if (vector.length > 0) this.#begin(vector.length);
    const piece = this.#piece(place);
    this.#count(piece, place % PIECE, -1);
    this.#sketcher.write(vector, place % PIECE, piece);
    this.#count(piece, place % PIECE, 1);
  }

  /** Adds sketches that a store has made. */
  addSketches({ first, dimensions, scales, bits, codes }: PlacedSketches): void {
    this.#begin(dimensions);
    if (dimensions !== this.#dimensions) return;
    const piece = this.#piece(first);
    const slot = first % PIECE;
    for (let n = slot; n < slot + scales.length; n++) this.#count(piece, n, -1);
    piece.scales.set(scales, slot);
    piece.bits.set(bits, slot * this.#sketcher.signs.words);
    piece.codes.set(codes, slot * dimensions);
    for (let n = slot; n < slot + scales.length; n++) this.#count(piece, n, 1);
  }

  delete(place: number): boolean {
    if (!this.has(place)) return false;
    const piece = this.#piece(place);
    this.#count(piece, place % PIECE, -1);
    piece.scales[place % PIECE] = 0;
    return true;
  }

  /** Deletes all other places. */
  keepOnly(places: ReadonlySet<number>): void {
    for (const { first, scales } of this.#pieces.values()) {
      for (let slot = 0; slot < PIECE; slot++) if (scales[slot] !== 0 && !places.has(first + slot)) this.delete(first + slot);
    }
  }

  clear(): void {
    this.#pieces.clear();
    [this.#dimensions, this.#size, this.#blanks] = [0, 0, 0];
  }

  async search(query: Float32Array, k: number, { among, accept }: VectorSearch = {}): Promise<readonly VectorHit[]> {
    const unit = unitVector(query, "the vector to look for");
    if (unit === undefined || this.#size === 0 || k === 0) return [];
    const wanted = Math.min(MOST_EXACT, Math.max(LEAST_EXACT, k * EXACT_PER_HIT));
    const best = new BestHits(Math.max(k, wanted), accept);
    if (among !== undefined) for (const place of among) this.#offer(unit, place, best);
    else if (accept !== undefined || this.#size <= this.#compared) this.#offerAll(unit, best);
    else this.#offerCandidates(unit, k, best);
    return (await this.#exact(unit, best.hits(), wanted)).slice(0, k);
  }

  /** Puts exact scores in place of the first ones. */
  async #exact(unit: Float32Array, hits: readonly VectorHit[], wanted: number): Promise<readonly VectorHit[]> {
    const scores = new Map(hits.map(({ key, score }) => [key, score]));
    for (const { place, vector } of await this.#read(hits.slice(0, wanted).map(({ key }) => key))) {
      const exact = vector.length === unit.length ? unitVector(vector, "a stored vector") : undefined;
      if (exact !== undefined) scores.set(place, Math.max(-1, Math.min(1, dotProduct(unit, exact, 0))));
    }
    return [...scores].map(([key, score]) => ({ key, score })).sort((a, b) => b.score - a.score || a.key - b.key);
  }

  #offerAll(unit: Float32Array, best: BestHits): void {
    for (const piece of this.#pieces.values()) {
      for (let slot = 0; slot < PIECE; slot++) this.#offerSlot(unit, piece, slot, best);
    }
  }

  #offer(unit: Float32Array, place: number, best: BestHits): void {
    const piece = this.#pieces.get(Math.floor(place / PIECE));
    if (piece !== undefined) this.#offerSlot(unit, piece, place % PIECE, best);
  }

  /** Compares places in order of differing signs, until no other one is likely to be among the best. */
  #offerCandidates(unit: Float32Array, k: number, best: BestHits): void {
    const { signs } = this.#sketcher;
    const pieces = [...this.#pieces.values()];
    const asked = new Int32Array(signs.words);
    signs.write(unit, 0, asked, 0);
    const distances = new Uint16Array(pieces.length * PIECE);
    const histogram = new Uint32Array(signs.bits + 1);
    for (const [n, { bits, scales }] of pieces.entries()) {
      const some = distances.subarray(n * PIECE, (n + 1) * PIECE);
      countDiffering(bits, asked, some, histogram);
      for (let slot = 0; slot < PIECE; slot++) if ((scales[slot] as number) <= 0) leaveOut(some, slot, histogram);
    }
    const least = Math.max(CANDIDATES_PER_HIT * k, 2 * LEAST_EXACT);
    let [seen, distance] = [0, 0];
    for (const row of nearest(distances, histogram, Math.max(least, this.#compared, this.#size * COMPARED_SHARE))) {
      if ((distances[row] as number) > distance) {
        distance = distances[row] as number;
        if (seen >= least && distance > signs.reachOf(best.floor)) return;
      }
      seen++;
      this.#offerSlot(unit, pieces[Math.floor(row / PIECE)] as Piece, row % PIECE, best);
    }
  }

  #offerSlot(unit: Float32Array, { first, scales, codes }: Piece, slot: number, best: BestHits): void {
    const scale = scales[slot] as number;
    if (scale > 0) best.offer(first + slot, scale * codeProduct(unit, codes, slot * this.#dimensions));
  }

  #begin(dimensions: number): void {
    if (this.#dimensions > 0) return;
    // Until now only messages were known that cannot be embedded.
    const blanks = [...this.#pieces.values()].flatMap(({ first, scales }) =>
      [...scales].flatMap((scale, n) => (scale === 0 ? [] : [first + n])),
    );
    this.clear();
    this.#dimensions = dimensions;
    this.#sketcher = new Sketcher(dimensions);
    for (const place of blanks) this.add(place, new Float32Array(0));
  }

  #piece(place: number): Piece {
    const n = Math.floor(place / PIECE);
    let piece = this.#pieces.get(n);
    if (piece === undefined) this.#pieces.set(n, (piece = { first: n * PIECE, ...this.#sketcher.room(PIECE) }));
    return piece;
  }

  #scaleAt(place: number): number {
    return this.#pieces.get(Math.floor(place / PIECE))?.scales[place % PIECE] ?? 0;
  }

  #count({ scales }: Piece, slot: number, by: 1 | -1): void {
    const scale = scales[slot] as number;
    if (scale === BLANK) this.#blanks += by;
    else if (scale > 0) this.#size += by;
  }
}

/** Moves a place without a vector behind all others. */
function leaveOut(distances: Uint16Array, slot: number, histogram: Uint32Array): void {
  const farthest = histogram.length - 1;
  const distance = distances[slot] as number;
  histogram[distance] = (histogram[distance] as number) - 1;
  histogram[farthest] = (histogram[farthest] as number) + 1;
  distances[slot] = farthest;
}
