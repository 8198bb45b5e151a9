import type { VectorHit, VectorIndex, VectorSearch } from "./exact-index.ts";
import type { VectorLookup, VectorPlace } from "./message-store.ts";

/** The factor by which more vectors are asked for while too few of them are hits. */
const MORE = 4;

/**
 * The index of a role whose store finds the nearest vectors itself. Owns the places of the vectors that this process knows.
 *
 * StoreIndex.I1 (`search`) only known places are found. StoreIndex.I2 (`search`) with a condition more is asked for until enough is accepted.
 * StoreIndex.I3 (`lost`) a vector that the store has lost is noticed.
 */
export class StoreIndex implements VectorIndex {
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

  async search(query: Float32Array, k: number, { among, accept }: VectorSearch = {}): Promise<readonly VectorHit[]> {
    if (k === 0 || this.size === 0) return [];
    for (let most = k; ; most *= MORE) {
      const found = await this.#nearest.search(this.#roleId, this.#fingerprint, query, most, { among });
      const hits = found.filter(({ place }) => this.#places.has(place) && accept?.(place) !== false);
      if (hits.length >= k || found.length < most) return hits.slice(0, k).map(({ place, score }) => ({ key: place, score }));
    }
  }

  clear(): void {
    this.#places.clear();
  }
}
