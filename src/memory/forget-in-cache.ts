import { brainJson, NO_BRAIN } from "./brain-state.ts";
import { type Cache, keysOf } from "./cache.ts";
import type { Scope } from "../kernel/scope.ts";
import { isWithin, type MemoryScope, scopeKey, scopeOfKey } from "./memory-scope.ts";

/** Begins the keys of brain memories that have a scope. */
const MARK = "brain ";

/** Milliseconds for which a cache refuses what a process stores that has loaded a memory before it was forgotten. */
const REFUSED = 24 * 60 * 60 * 1_000;

export function scopedCacheKey(scope: MemoryScope): string {
  return `${MARK}${scopeKey(scope)}`;
}

/**
 * Forgets the brain memories of a scope in a cache. Returns the number of memories.
 *
 * @param now milliseconds since 1970
 * @throws CacheError; UsageError `OPTION_INVALID` for a cache that cannot list its keys
 */
export async function forgetInCache(cache: Cache, whole: Scope, now: number): Promise<number> {
  let forgotten = 0;
  for (const key of await keysOf(cache, MARK)) {
    if (!isWithin(scopeOfKey(key.slice(MARK.length)), whole)) continue;
    await cache.set(key, JSON.stringify(brainJson({ ...NO_BRAIN, forgotten: now })), REFUSED);
    forgotten += 1;
  }
  return forgotten;
}
