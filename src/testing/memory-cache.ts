import { type Clock, systemClock } from "../kernel/clock.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Cache, type CacheEntry, checkedTtl, isSameEntry, refuseClosed, type ReplaceOptions } from "../memory/cache.ts";

export interface MemoryCacheOptions {
  readonly clock?: Clock;
}

const memoryCacheOptions: Known<MemoryCacheOptions> = { clock: kinds.clock };

/** A cache that lives and ends with its process. */
export function memoryCache(options: MemoryCacheOptions = {}): Cache {
  checkKnownOptions("memoryCache", options, memoryCacheOptions);
  return new MapCache(options.clock ?? systemClock);
}

class MapCache implements Cache {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: string; readonly expires: number }>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async get(key: string): Promise<CacheEntry> {
    refuseClosed(this.#isClosed);
    return this.#entry(key);
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#isClosed);
    this.#set(key, value, ttl);
  }

  async replace(key: string, value: string, { expected, ttl }: ReplaceOptions): Promise<CacheEntry | undefined> {
    refuseClosed(this.#isClosed);
    const entry = this.#entry(key);
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

  #entry(key: string): CacheEntry {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.expires > this.#clock.now() ? { kind: "hit", value: entry.value } : { kind: "miss" };
  }

  #set(key: string, value: string, ttl: number): void {
    this.#entries.set(key, { value, expires: this.#clock.now() + checkedTtl(ttl) });
  }
}
