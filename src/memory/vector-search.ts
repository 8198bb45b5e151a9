import { MemoryError } from "../kernel/errors.ts";
import { dotProduct, embedBatches, type Embedder, embedQuery, fingerprintOf } from "./embedder.ts";
import { exactIndex, type VectorHit, type VectorIndex, type VectorSearch as VectorQuery } from "./exact-index.ts";
import type { StoredVector, VectorLookup, VectorPlace } from "./message-store.ts";
import { type Search, type StorageParts, type VectorParts, embedderOf } from "./storage-options.ts";
import type { StoredMessages, StoreWatch } from "./stored-messages.ts";

type StoreParts = Pick<StorageParts, "store" | "roleId" | "clock">;

/**
 * Finds the messages of a storage by their vectors. Computes and stores missing vectors and adds them to the index. Owns the list of messages
 * without a vector, the dimensions, and the index.
 *
 * VectorSearch.P1 (`#chosenIndex`) the index is the user's, else the store's `nearest` where it is available, else an exact one. It is chosen once.
 */
export class VectorSearch implements StoreWatch {
  readonly #parts: StoreParts;
  readonly #vectors: VectorParts;
  readonly #known: StoredMessages;
  readonly #fingerprint: string;
  readonly #waiting = new Set<number>();
  #dimensions: number | undefined;
  #index: VectorIndex | undefined;

  constructor(parts: StoreParts, vectors: VectorParts, known: StoredMessages) {
    this.#parts = parts;
    this.#vectors = vectors;
    this.#known = known;
    this.#fingerprint = fingerprintOf(vectors.embedder);
    this.#dimensions = vectors.embedder.dimensions;
    this.#index = vectors.index;
  }

  get pending(): number {
    return this.#waiting.size;
  }

  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  added(place: number): void {
    this.#waiting.add(place);
  }

  async removed(place: number): Promise<void> {
    this.#waiting.delete(place);
    await this.#index?.delete(place);
  }

  /** Reads the dimensions from a stored vector. */
  async measure(): Promise<void> {
    const { store, roleId } = this.#parts;
    if (this.#dimensions !== undefined) return;
    for await (const page of store.readVectors(roleId, this.#fingerprint, 0)) {
      this.#dimensions = page.find(({ vector }) => isUsable(vector))?.vector.length;
      if (this.#dimensions !== undefined) return;
    }
  }

  /** Reads the stored vectors of new messages. */
  async load(): Promise<void> {
    if (this.#index instanceof StoreIndex) for (const place of await this.#index.lost()) this.#waiting.add(place);
    if (this.pending === 0) return;
    const { store, roleId } = this.#parts;
    const after = [...this.#waiting].reduce((first, place) => Math.min(first, place), Infinity) - 1;
    const index = await this.#chosenIndex();
    if (index instanceof StoreIndex) return this.#loadPlaces(index, after);
    for await (const page of store.readVectors(roleId, this.#fingerprint, after)) {
      for (const { place, vector } of page) {
        if (!this.#waiting.has(place)) continue;
        const taking = this.#take(index, place, vector);
        if (typeof taking === "boolean" ? taking : await taking) this.#waiting.delete(place);
      }
    }
  }

  async #loadPlaces(index: StoreIndex, after: number): Promise<void> {
    for await (const page of index.stored(after)) {
      for (const { place, dimensions } of page) {
        if (!this.#waiting.has(place)) continue;
        if (dimensions > 0) {
          if (dimensions !== (this.#dimensions ??= dimensions)) continue;
          index.add(place);
        }
        this.#waiting.delete(place);
      }
    }
  }

  async search(text: string, o: Search): Promise<readonly VectorHit[]> {
    if (o.k === 0) return [];
    const { embedder, timeout } = embedderOf(this.#vectors, o.embedder);
    const limits = { clock: this.#parts.clock, timeout, signal: o.signal, dimensions: this.#dimensions };
    const query = await embedQuery(embedder, text, limits);
    await this.embed(o.signal, o.embedder);
    const index = await this.#chosenIndex();
    if (query === undefined || index.size === 0) return [];
    const { threshold = this.#vectors.threshold } = o;
    const near = await index.search(query, o.k, { accept: this.#known.accepting(o.filter) });
    return near.filter(({ score }) => score >= threshold);
  }

  /** Computes and stores missing vectors. */
  async embed(signal: AbortSignal | undefined, given?: Embedder): Promise<void> {
    if (this.pending === 0) return;
    const { store, roleId, clock } = this.#parts;
    const { embedder, timeout } = embedderOf(this.#vectors, given);
    const index = await this.#chosenIndex();
    const places = [...this.#waiting].sort((a, b) => a - b);
    const texts = places.map((place) => this.#known.at(place)?.message.content ?? "");
    try {
      for await (const { from, vectors } of embedBatches(embedder, texts, { clock, timeout, signal, dimensions: this.#dimensions })) {
        const made = vectors.map((vector, n): StoredVector => ({
          place: places[from + n] as number,
          vector: vector ?? new Float32Array(0),
        }));
        await store.writeVectors(roleId, this.#fingerprint, made);
        for (const { place, vector } of made) if (await this.#take(index, place, vector)) this.#waiting.delete(place);
      }
    } catch (error) {
      throw error instanceof MemoryError ? this.#stillWaiting(error) : error;
    }
  }

  /** Deletes every vector, so that all are computed again. */
  async restart(): Promise<void> {
    const { store, roleId } = this.#parts;
    await store.clearVectors(roleId);
    await (await this.#chosenIndex()).clear();
    this.#dimensions = this.#vectors.embedder.dimensions;
    for (const { place } of this.#known.all()) this.#waiting.add(place);
  }

  async #chosenIndex(): Promise<VectorIndex> {
    const { store, roleId } = this.#parts;
    if (this.#index !== undefined) return this.#index;
    const { nearest } = store;
    const isAvailable = nearest !== undefined && (await nearest.isAvailable());
    return (this.#index = isAvailable ? new StoreIndex(nearest, roleId, this.#fingerprint) : exactIndex());
  }

  /** Returns true when the vector is usable. A promise only if the index returns one, because there may be a hundred thousand calls. */
  #take(index: VectorIndex, place: number, vector: Float32Array): boolean | Promise<boolean> {
    if (vector.length === 0) return true;
    if (!isUsable(vector) || vector.length !== (this.#dimensions ??= vector.length)) return false;
    const kept = index.add(place, vector);
    return kept === undefined ? true : kept.then(() => true);
  }

  #stillWaiting(error: MemoryError): MemoryError {
    const { pending } = this;
    const known = typeof error.data === "object" && error.data !== null ? error.data : {};
    return new MemoryError(
      error.code,
      `${error.message} ${pending} messages are kept and wait for their vectors: persist() continues from there.`,
      { cause: error, data: { ...known, pending } },
    );
  }
}

function isUsable(vector: Float32Array): boolean {
  const square = dotProduct(vector, vector);
  return square > 0 && square < Infinity;
}

/** The factor by which more vectors are requested while too few of them are hits. */
const MORE = 4;

/**
 * The index of a role whose store finds the nearest vectors itself. Owns the places of the vectors that this process knows.
 *
 * StoreIndex.I1 (`search`) only known places are found. StoreIndex.I2 (`search`) with a condition more is requested until enough is accepted.
 * StoreIndex.I3 (`lost`) a vector that the store has lost is noticed.
 */
class StoreIndex implements VectorIndex {
  readonly #nearest: VectorLookup;
  readonly #roleId: string;
  readonly #fingerprint: string;
  readonly #places = new Set<number>();

  constructor(nearest: VectorLookup, roleId: string, fingerprint: string) {
    this.#nearest = nearest;
    this.#roleId = roleId;
    this.#fingerprint = fingerprint;
  }

  get size(): number {
    return this.#places.size;
  }

  stored(after: number): AsyncIterable<readonly VectorPlace[]> {
    return this.#nearest.places(this.#roleId, this.#fingerprint, after);
  }

  /** Forgets the places whose vectors the store has lost, as when another process computes all of them again. Returns these places. */
  async lost(): Promise<readonly number[]> {
    if (this.size === 0 || (await this.#nearest.count(this.#roleId, this.#fingerprint)) >= this.size) return [];
    const held = new Set<number>();
    for await (const page of this.stored(0)) for (const { place } of page) held.add(place);
    return [...this.#places].filter((place) => !held.has(place) && this.#places.delete(place));
  }

  add(key: number): void {
    this.#places.add(key);
  }

  delete(key: number): boolean {
    return this.#places.delete(key);
  }

  async search(query: Float32Array, k: number, { among, accept }: VectorQuery = {}): Promise<readonly VectorHit[]> {
    if (k === 0 || this.size === 0) return [];
    for (let limit = k; ; limit *= MORE) {
      const found = await this.#nearest.search(this.#roleId, this.#fingerprint, query, limit, { among });
      const hits = found.filter(({ place }) => this.#places.has(place) && accept?.(place) !== false);
      if (hits.length >= k || found.length < limit) return hits.slice(0, k).map(({ place, score }) => ({ key: place, score }));
    }
  }

  clear(): void {
    this.#places.clear();
  }
}
