import { isWithin, type Scope, scopeOfKey } from "./memory-scope.ts";
import type { MessageStore } from "./message-store.ts";

/** A run whose words are to be forgotten. */
export interface ForgottenRun {
  readonly runId: string;
  readonly scope: Scope;
}

/**
 * Removes from a store the memories of a scope, and the messages of some runs wherever else they are remembered. Returns the number of messages.
 *
 * @throws MemoryError
 */
export async function forgetInStore(store: MessageStore, whole: Scope, runs: readonly ForgottenRun[]): Promise<number> {
  const ids = new Set(runs.map(({ runId }) => runId));
  let forgotten = 0;
  for (const key of (await store.scopes?.()) ?? []) {
    const scope = scopeOfKey(key);
    const isOfScope = isWithin(scope, whole);
    // Only a wider memory may have messages of these runs.
    if (!isOfScope && !runs.some((run) => isWithin(run.scope, scope))) continue;
    const places: number[] = [];
    if (isOfScope) places.push(...(await store.places(key)));
    else for await (const page of store.read(key, 0)) for (const { place, runId } of page.messages) if (ids.has(runId)) places.push(place);
    if (places.length > 0) forgotten += await store.remove(key, places);
  }
  await store.purge?.();
  return forgotten;
}
