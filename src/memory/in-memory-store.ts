import {
  identityOf,
  type MessagePage,
  type MessageStore,
  type MessageToStore,
  type StoredAt,
  type StoredMessage,
  type StoredVector,
  type StoreState,
} from "./message-store.ts";

interface Shelf {
  last: number;
  removals: number;
  readonly messages: Map<number, StoredMessage>;
  readonly places: Map<string, number>;
  readonly vectors: Map<number, { readonly fingerprint: string; readonly vector: Float32Array }>;
}

/** A {@link MessageStore} in the memory of the process. Several storages may share one. */
export function inMemoryStore(): MessageStore {
  return new InMemoryStore();
}

class InMemoryStore implements MessageStore {
  readonly #shelves = new Map<string, Shelf>();

  state(roleId: string): Promise<StoreState> {
    return this.#do(roleId, ({ last, removals }) => ({ last, removals }));
  }

  add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]> {
    return this.#do(roleId, (shelf) =>
      messages.map((entry) => {
        const identity = identityOf(entry.runId, entry.message.id);
        const held = shelf.places.get(identity);
        if (held !== undefined) return { place: held, isNew: false };
        const place = ++shelf.last;
        shelf.places.set(identity, place);
        shelf.messages.set(place, { ...entry, place });
        return { place, isNew: true };
      }),
    );
  }

  async *read(roleId: string, after: number): AsyncGenerator<MessagePage> {
    const messages = await this.#do(roleId, (shelf) => [...shelf.messages.values()].filter(({ place }) => place > after));
    if (messages.length > 0) yield { messages, damaged: 0 };
  }

  places(roleId: string): Promise<readonly number[]> {
    return this.#do(roleId, (shelf) => [...shelf.messages.keys()]);
  }

  remove(roleId: string, places: readonly number[]): Promise<number> {
    return this.#do(roleId, (shelf) => {
      const gone = places.flatMap((place) => shelf.messages.get(place) ?? []);
      for (const { place, runId, message } of gone) {
        shelf.messages.delete(place);
        shelf.vectors.delete(place);
        shelf.places.delete(identityOf(runId, message.id));
      }
      shelf.removals += gone.length;
      return gone.length;
    });
  }

  async *readVectors(roleId: string, fingerprint: string, after: number): AsyncGenerator<readonly StoredVector[]> {
    const found = await this.#do(roleId, (shelf) =>
      [...shelf.vectors]
        .filter(([place, kept]) => place > after && kept.fingerprint === fingerprint)
        .map(([place, { vector }]) => ({ place, vector: vector.slice() })),
    );
    if (found.length > 0) yield found.sort((a, b) => a.place - b.place);
  }

  writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void> {
    return this.#do(roleId, (shelf) => {
      for (const { place, vector } of vectors) {
        if (shelf.messages.has(place)) shelf.vectors.set(place, { fingerprint, vector: vector.slice() });
      }
    });
  }

  clearVectors(roleId: string): Promise<void> {
    return this.#do(roleId, (shelf) => shelf.vectors.clear());
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #do<T>(roleId: string, work: (shelf: Shelf) => T): Promise<T> {
    let shelf = this.#shelves.get(roleId);
    if (shelf === undefined) {
      shelf = { last: 0, removals: 0, messages: new Map(), places: new Map(), vectors: new Map() };
      this.#shelves.set(roleId, shelf);
    }
    return work(shelf);
  }
}
