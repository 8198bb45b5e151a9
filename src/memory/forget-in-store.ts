import { having, listOf, takes } from "../kernel/argument.ts";
import type { Scope } from "../kernel/scope.ts";
import { isWithin, scopeOfKey } from "./memory-scope.ts";
import type { MessageStore } from "./message-store.ts";

/** @throws UsageError `ARGUMENT_INVALID` for a store or a cache that cannot list what it has */
export function checkForgetful(what: string, { stores, caches }: { readonly stores: unknown; readonly caches: unknown }): void {
  takes(what, "stores", stores, listOf(having("a message store that can list its scopes", "add", "remove", "scopes")));
  takes(what, "caches", caches, listOf(having("a cache that can list its keys", "get", "set", "keys")));
}

/** Decides which strings are erased. */
export interface Erasure {
  /** True where all words of the run go. */
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
 * Removes from a store the memories of a scope, and the messages of some runs wherever else they are remembered. Returns the number of messages: after some, `purge` is due.
 *
 * @throws MemoryError
 */
export async function forgetInStore(store: MessageStore, whole: Scope, runs: readonly ForgottenRun[]): Promise<number> {
  const erasures = new Map(runs.map(({ runId, erasure }) => [runId, erasure]));
  let forgotten = 0;
  for (const key of (await store.scopes?.()) ?? []) {
    const scope = scopeOfKey(key);
    const isOfScope = isWithin(scope, whole);
    // Only a memory that one of the runs has, or a wider one, may have messages of them.
    if (!isOfScope && !runs.some((run) => isWithin(run.scope, scope))) continue;
    const places: number[] = [];
    if (isOfScope) places.push(...(await store.places(key)));
    else {
      for await (const page of store.read(key, 0))
        for (const { place, runId, message } of page) if (erasures.get(runId)?.isMeant(message.content) === true) places.push(place);
    }
    if (places.length > 0) forgotten += await store.remove(key, places);
  }
  return forgotten;
}
