import { UsageError } from "../kernel/errors.ts";
import type { MessageStore } from "../memory/message-store.ts";

/**
 * A store to be looked at. Vectors that are made for a search stay in this process: written, they would take the place of those that the
 * embedder of another program has made, and was perhaps paid for.
 */
export function readOnlyStore(store: MessageStore): MessageStore {
  return {
    state: (roleId) => store.state(roleId),
    read: (roleId, after) => store.read(roleId, after),
    places: (roleId) => store.places(roleId),
    readVectors: (roleId, fingerprint, after) => store.readVectors(roleId, fingerprint, after),
    add: refuse,
    remove: refuse,
    writeVectors: () => Promise.resolve(),
    clearVectors: () => Promise.resolve(),
    ...(store.lookup === undefined ? {} : { lookup: store.lookup }),
    close: () => store.close(),
  };
}

function refuse(): Promise<never> {
  return Promise.reject(new UsageError("STORE_READ_ONLY", "Expected to look at a memory only, got a change of it. Open it to be written."));
}
