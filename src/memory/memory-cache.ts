import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { type Cache, type CacheEntry, checkedTtl, refuseClosed } from "./cache.ts";

/** How much a cache in memory holds. */
export interface MemoryCacheOptions {
  /** Entries at most; the one written longest ago makes room. Default 10,000. */
  readonly limit?: number;
  readonly clock?: Clock;
}

const DEFAULT_LIMIT = 10_000;

/**
 * A cache that lives and ends with its process.
 *
 * @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more.
 */
export function memoryCache({ limit = DEFAULT_LIMIT, clock = systemClock }: MemoryCacheOptions = {}): Cache {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new UsageError("LIMIT_INVALID", `Expected the limit of a cache to be a whole number of 1 or more, got ${limit}.`);
  }
  return new MapCache(limit, clock);
}

class MapCache implements Cache {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: string; readonly expires: number }>();
  #isClosed = false;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  async get(key: string): Promise<CacheEntry> {
    refuseClosed(this.#isClosed);
    const entry = this.#entries.get(key);
    if (entry === undefined) return { kind: "miss" };
    if (entry.expires > this.#clock.now()) return { kind: "hit", value: entry.value };
    this.#entries.delete(key);
    return { kind: "miss" };
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#isClosed);
    const expires = this.#clock.now() + checkedTtl(ttl);
    // Deleted first, so that the map's order is the order of writing.
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#limit && oldest !== undefined) this.#entries.delete(oldest);
  }

  async delete(key: string): Promise<void> {
    refuseClosed(this.#isClosed);
    this.#entries.delete(key);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#entries.clear();
  }
}
