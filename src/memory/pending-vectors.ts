import { MemoryError } from "../kernel/errors.ts";
import { squareOf } from "./dot-product.ts";
import { embedBatches, type Embedder, fingerprintOf } from "./embedder.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { StoredVector } from "./message-store.ts";
import { type StorageParts, voiceOf } from "./storage-options.ts";

/**
 * Which messages still wait for their vectors, and how these get into the index and the store. It owns that list and the dimensions;
 * messages are the holder's, and are never touched.
 */
export class PendingVectors {
  readonly #parts: StorageParts;
  readonly #held: HeldMessages;
  readonly #fingerprint: string;
  readonly #waiting = new Set<number>();
  #dimensions: number | undefined;

  constructor(parts: StorageParts, held: HeldMessages) {
    this.#parts = parts;
    this.#held = held;
    this.#fingerprint = fingerprintOf(parts.embedder);
    this.#dimensions = parts.embedder.dimensions;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Numbers in a vector, once that is known. */
  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  add(place: number): void {
    this.#waiting.add(place);
  }

  async forget(place: number): Promise<void> {
    this.#waiting.delete(place);
    await this.#parts.index.delete(place);
  }

  /** Takes over the stored vectors of messages that wait for one. What is not whole, or not of this embedder, is made again. */
  async load(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const { store, roleId } = this.#parts;
    let first = Infinity;
    for (const place of this.#waiting) first = Math.min(first, place);
    for await (const page of store.readVectors(roleId, this.#fingerprint, first - 1)) {
      for (const { place, vector } of page) {
        const taken = this.#waiting.has(place) ? this.#take(place, vector) : undefined;
        if (taken !== undefined) await taken;
      }
    }
  }

  /** Embeds what waits, and keeps what came of every batch before the next one is asked for. @throws MemoryError, ControlError */
  async embed(signal: AbortSignal | undefined, given?: Embedder): Promise<void> {
    if (this.#waiting.size === 0) return;
    const { store, roleId, clock } = this.#parts;
    const { embedder, timeout } = voiceOf(this.#parts, given);
    const places = [...this.#waiting].sort((a, b) => a - b);
    const texts = places.map((place) => this.#held.at(place)?.message.content ?? "");
    try {
      for await (const { from, vectors } of embedBatches(embedder, texts, { clock, timeout, signal, dimensions: this.#dimensions })) {
        const made = vectors.map((vector, n): StoredVector => ({
          place: places[from + n] as number,
          vector: vector ?? new Float32Array(0),
        }));
        await store.writeVectors(roleId, this.#fingerprint, made);
        for (const { place, vector } of made) await this.#take(place, vector);
      }
    } catch (error) {
      throw error instanceof MemoryError ? this.#stillWaiting(error) : error;
    }
  }

  /** Drops every vector: all of them are made again. */
  async restart(): Promise<void> {
    const { store, roleId, index, embedder } = this.#parts;
    await store.clearVectors(roleId);
    await index.clear();
    this.#dimensions = embedder.dimensions;
    for (const place of this.#held.places()) this.#waiting.add(place);
  }

  /** Not a promise unless the index asks for one: at the start there may be a hundred thousand. */
  #take(place: number, vector: Float32Array): void | Promise<void> {
    if (vector.length > 0) {
      if (!isUsable(vector) || vector.length !== (this.#dimensions ??= vector.length)) return undefined;
      const kept = this.#parts.index.add(place, vector);
      if (kept !== undefined) return kept.then(() => void this.#waiting.delete(place));
    }
    this.#waiting.delete(place);
    return undefined;
  }

  #stillWaiting(error: MemoryError): MemoryError {
    const waiting = this.#waiting.size;
    const known = typeof error.data === "object" && error.data !== null ? error.data : {};
    return new MemoryError(
      error.code,
      `${error.message} ${waiting} messages are kept and wait for their vectors: persist() goes on from there.`,
      { cause: error, data: { ...known, pending: waiting } },
    );
  }
}

function isUsable(vector: Float32Array): boolean {
  const square = squareOf(vector);
  return square > 0 && square < Infinity;
}
