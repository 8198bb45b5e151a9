import { MemoryError } from "../kernel/errors.ts";
import { dotProduct, embedBatches, type Embedder, embedQuery, fingerprintOf } from "./embedder.ts";
import { exactIndex, type VectorHit, type VectorIndex } from "./exact-index.ts";
import type { StoredVector } from "./message-store.ts";
import { type Search, type StorageParts, type VectorParts, embedderOf } from "./storage-options.ts";
import type { StoredMessages, StoreWatch } from "./stored-messages.ts";

type StoreParts = Pick<StorageParts, "store" | "roleId" | "clock">;

/** Finds messages by their vectors. It owns the list of messages without a vector, the dimensions, and the index. */
export class VectorSearch implements StoreWatch {
  readonly #parts: StoreParts;
  readonly #vectors: VectorParts;
  readonly #known: StoredMessages;
  readonly #fingerprint: string;
  readonly #waiting = new Set<number>();
  #dimensions: number | undefined;
  readonly #index: VectorIndex;

  constructor(parts: StoreParts, vectors: VectorParts, known: StoredMessages) {
    this.#parts = parts;
    this.#vectors = vectors;
    this.#known = known;
    this.#fingerprint = fingerprintOf(vectors.embedder);
    this.#dimensions = vectors.embedder.dimensions;
    this.#index = vectors.index ?? exactIndex();
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
    await this.#index.delete(place);
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
    if (this.pending === 0) return;
    const { store, roleId } = this.#parts;
    const after = [...this.#waiting].reduce((first, place) => Math.min(first, place), Infinity) - 1;
    for await (const page of store.readVectors(roleId, this.#fingerprint, after)) {
      for (const { place, vector } of page) {
        if (!this.#waiting.has(place)) continue;
        const taking = this.#take(place, vector);
        if (typeof taking === "boolean" ? taking : await taking) this.#waiting.delete(place);
      }
    }
  }

  /** Returns the vector of a question; undefined for a blank one. It may be slow, so it is called outside the turn of the storage. */
  async queryOf(text: string, o: Search): Promise<Float32Array | undefined> {
    const { embedder, timeout } = embedderOf(this.#vectors, o.embedder);
    return embedQuery(embedder, text, { clock: this.#parts.clock, timeout, signal: o.signal, dimensions: this.#dimensions });
  }

  async search(query: Float32Array | undefined, o: Search): Promise<readonly VectorHit[]> {
    if (o.k === 0) return [];
    await this.embed(o.signal, o.embedder);
    if (query === undefined || this.#index.size === 0) return [];
    const { threshold = this.#vectors.threshold } = o;
    const near = await this.#index.search(query, o.k, { accept: this.#known.accepting(o.filter) });
    return near.filter(({ score }) => score >= threshold);
  }

  /** Computes and stores missing vectors. */
  async embed(signal: AbortSignal | undefined, given?: Embedder): Promise<void> {
    if (this.pending === 0) return;
    const { store, roleId, clock } = this.#parts;
    const { embedder, timeout } = embedderOf(this.#vectors, given);
    const places = [...this.#waiting].sort((a, b) => a - b);
    const texts = places.map((place) => this.#known.at(place)?.message.content ?? "");
    try {
      for await (const { from, vectors } of embedBatches(embedder, texts, { clock, timeout, signal, dimensions: this.#dimensions })) {
        const made = vectors.map((vector, n): StoredVector => ({
          place: places[from + n] as number,
          vector: vector ?? new Float32Array(0),
        }));
        await store.writeVectors(roleId, this.#fingerprint, made);
        for (const { place, vector } of made) if (await this.#take(place, vector)) this.#waiting.delete(place);
      }
    } catch (error) {
      throw error instanceof MemoryError ? this.#stillWaiting(error) : error;
    }
  }

  /** Deletes every vector, so that all are computed again. */
  async restart(): Promise<void> {
    const { store, roleId } = this.#parts;
    await store.clearVectors(roleId);
    await this.#index.clear();
    this.#dimensions = this.#vectors.embedder.dimensions;
    for (const { place } of this.#known.all()) this.#waiting.add(place);
  }

  /** Returns true when the vector is usable. A promise only if the index returns one, because there may be a hundred thousand calls. */
  #take(place: number, vector: Float32Array): boolean | Promise<boolean> {
    if (vector.length === 0) return true;
    if (!isUsable(vector) || vector.length !== (this.#dimensions ??= vector.length)) return false;
    const kept = this.#index.add(place, vector);
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
