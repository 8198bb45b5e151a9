import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Cache, type CacheEntry, checkedTtl, isSameEntry, refuseClosed, type ReplaceOptions } from "../memory/cache.ts";

export interface MemoryCacheOptions {
  /** Entries at most; the one written longest ago makes room. Default 10,000. */
  readonly limit?: number;
  readonly clock?: Clock;
}

const memoryCacheOptions: Known<MemoryCacheOptions> = { limit: kinds.count, clock: kinds.clock };

const DEFAULT_LIMIT = 10_000;

/** A cache that lives and ends with its process. @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more. */
export function memoryCache(options: MemoryCacheOptions = {}): Cache {
  checkKnownOptions("memoryCache", options, memoryCacheOptions);
  const { limit = DEFAULT_LIMIT, clock = systemClock } = options;
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
    return this.#get(key);
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#isClosed);
    this.#set(key, value, checkedTtl(ttl));
  }

  async replace(key: string, value: string, { expected, ttl }: ReplaceOptions): Promise<CacheEntry | undefined> {
    refuseClosed(this.#isClosed);
    checkedTtl(ttl);
    const entry = this.#get(key);
    if (!isSameEntry(entry, expected)) return entry;
    this.#set(key, value, ttl);
    return undefined;
  }

  async delete(key: string): Promise<void> {
    refuseClosed(this.#isClosed);
    this.#entries.delete(key);
  }

  async keys(prefix: string): Promise<readonly string[]> {
    refuseClosed(this.#isClosed);
    return [...this.#entries.keys()].filter((key) => key.startsWith(prefix));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#entries.clear();
  }

  #get(key: string): CacheEntry {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { kind: "miss" };
    if (entry.expires > this.#clock.now()) return { kind: "hit", value: entry.value };
    this.#entries.delete(key);
    return { kind: "miss" };
  }

  #set(key: string, value: string, ttl: number): void {
    const expires = this.#clock.now() + ttl;
    // Deleted first, so that the map's order is the order of writing.
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#limit && oldest !== undefined) this.#entries.delete(oldest);
  }
}
