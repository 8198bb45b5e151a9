import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { hashingEmbedder, type Embedder, type EmbedOptions } from "../../src/memory/embedder.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import type { MemoryStorageOptions } from "../../src/memory/storage-options.ts";
import { createMessage, type Message, type MessageFields } from "../../src/message/message.ts";

export function say(id: string, content = `words of ${id}`, fields: MessageFields = {}): Message {
  return createMessage(content, { id, timestamp: 1_000, ...fields });
}

/** Over vectors, unless the options name no embedder. */
export function storageOver(store: MessageStore = inMemoryStore(), options: Partial<MemoryStorageOptions> = {}): MemoryStorage {
  return new MemoryStorage({ roleId: "role", store, embedder: hashingEmbedder(), ...options });
}

/** An embedder that counts, and can be told to misbehave. */
export interface WatchedEmbedder extends Embedder {
  readonly batches: (readonly string[])[];
  readonly kinds: (string | undefined)[];
  /** Called before each batch, from 0. */
  before: (n: number, o: EmbedOptions) => void | Promise<void>;
  /** Changes what comes back. */
  change: (vectors: ArrayLike<number>[], texts: readonly string[]) => readonly ArrayLike<number>[];
}

export function watched(options: Partial<Embedder> = {}): WatchedEmbedder {
  const inner = hashingEmbedder({ dimensions: options.dimensions ?? 128 });
  const embedder: WatchedEmbedder = {
    ...inner,
    id: "watched",
    ...options,
    batches: [],
    kinds: [],
    before: () => {},
    change: (vectors) => vectors,
    embed: async (texts, o = {}) => {
      const n = embedder.batches.push(texts) - 1;
      embedder.kinds.push(o.kind);
      await embedder.before(n, o);
      return embedder.change([...(await inner.embed(texts, o))], texts);
    },
  };
  return embedder;
}

export function idsOf(found: readonly { readonly message: Message }[]): string[] {
  return found.map(({ message }) => message.id);
}
