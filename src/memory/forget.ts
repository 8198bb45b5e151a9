import { having, listOf, takes } from "../kernel/argument.ts";
import type { Scope } from "../kernel/scope.ts";
import { brainJson, NO_BRAIN } from "./brain-state.ts";
import { type Cache, keysOf } from "./cache.ts";
import { isWithin, type MemoryScope, scopeKey, scopeOfKey } from "./memory-scope.ts";
import type { MessageStore, StoredMessage } from "./message-store.ts";

/** @throws UsageError `ARGUMENT_INVALID` for a store or a cache that cannot list what it has */
export function checkForgetful(what: string, { stores, caches }: { readonly stores: unknown; readonly caches: unknown }): void {
  takes(what, "stores", stores, listOf(having("a message store that can list its scopes", "add", "remove", "scopes")));
  takes(what, "caches", caches, listOf(having("a cache that can list its keys", "get", "set", "keys")));
}

/** Decides which strings are erased. */
export interface Erasure {
  /** True if all words of the run are erased. */
  readonly isWhole: boolean;
  isMeant(text: string): boolean;
}

/** A run whose words are erased. */
export interface ForgottenRun<E extends Erasure = Erasure> {
  readonly runId: string;
  readonly scope: Scope;
  readonly erasure: E;
}

/**
 * Removes from a store the memories of a scope, and the messages of some runs from the other memories. Returns the number of messages: after
 * some, `purge` is due.
 *
 * @throws MemoryError
 */
export async function forgetInStore(store: MessageStore, whole: Scope, runs: readonly ForgottenRun[]): Promise<number> {
  const erasures = new Map(runs.map(({ runId, erasure }) => [runId, erasure]));
  const isErased = ({ runId, message }: StoredMessage): boolean => erasures.get(runId)?.isMeant(message.content) === true;
  let forgotten = 0;
  for (const key of (await store.scopes?.()) ?? []) {
    const scope = scopeOfKey(key);
    const places: number[] = [];
    if (isWithin(scope, whole)) places.push(...(await store.places(key)));
    // Only a memory that one of the runs has, or a wider one, may have messages of them.
    else if (runs.some((run) => isWithin(run.scope, scope))) {
      for await (const page of store.read(key, 0)) for (const entry of page) if (isErased(entry)) places.push(entry.place);
    }
    if (places.length > 0) forgotten += await store.remove(key, places);
  }
  return forgotten;
}

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
