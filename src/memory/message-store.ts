import { MemoryError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";

/** Options of the removal of messages. */
export interface RemoveOptions {
  /** They may be added again later, because they were moved, or a record adds them again. Default false. */
  readonly mayReturn?: boolean;
}

/** A message to store. */
export interface MessageToStore {
  /** The run in which its id is unique; empty outside runs. */
  readonly runId: string;
  /** The time it was added, in milliseconds. It grows within a store, by thousandths among messages of the same millisecond. */
  readonly addedAt: number;
  readonly message: Message;
}

/** A stored message. */
export interface StoredMessage extends MessageToStore {
  /** Grows in order of arrival, and is never used again. */
  readonly place: number;
}

/** The result of storing a message. */
export interface StoredAt {
  readonly place: number;
  /** False when the store held it already. */
  readonly isNew: boolean;
}

/** A stored vector. A vector without numbers means that its message cannot be embedded. */
export interface StoredVector {
  readonly place: number;
  readonly vector: Float32Array;
}

/** A reader detects changes by it. */
export interface StoreState {
  /** The last place; 0 before the first message. */
  readonly last: number;
  /** Number of messages that were ever removed. */
  readonly removals: number;
}

/** A message: its run, and its id within the run. */
export interface MessageIdentity {
  readonly runId: string;
  readonly id: string;
}

/** A word of a question, in lower case and NFKC. Those of Chinese, Japanese and Korean texts are characters and pairs of neighbours. */
export interface SoughtWord {
  readonly word: string;
  /** True when longer words that begin with it match too. */
  readonly isBeginning: boolean;
  /** Letters that may be missing, added or changed in a misspelt word. */
  readonly wrongLetters: number;
}

/** Finds messages of a store without reading all of them. */
export interface MessageLookup {
  /** Returns the places of at most `most` messages that contain the most and the rarest words, most likely first. */
  likeliest(roleId: string, words: readonly SoughtWord[], most: number): Promise<readonly number[]>;
  /** Returns the messages at some places, in order of arrival. */
  read(roleId: string, places: readonly number[]): Promise<readonly StoredMessage[]>;
  /** Returns the place of each message; undefined for none. */
  placesOf(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly (number | undefined)[]>;
}

/**
 * Stores the messages of roles durably. Port. Vectors are stored only to save work, and may be lost. `roleId` is the key of a role's memory.
 *
 * MessageStore.V1 `add` stores all messages or none, durably. MessageStore.V2 (run, id) identifies a message: a stored one is not stored again.
 * MessageStore.V3 places grow in order of arrival and are never used again. MessageStore.V4 roles are separate, whatever their ids contain.
 * MessageStore.V5 a message is read as it was written, or reading throws `MEMORY_DAMAGED`. MessageStore.V6 vectors are read as they were written,
 * under their fingerprint, or not at all; those of a removed message are removed. MessageStore.V7 several processes may use one store.
 * MessageStore.V8 `close` releases resources; a later call opens them again. MessageStore.V9 a `lookup` includes every resolved change.
 * MessageStore.V11 a removal is remembered, so
 * that no record of a run stores the message again; adding it again is allowed. MessageStore.V12 after `purge` the files of the store have no
 * byte of a removed message, of its words in an index, or of the key of an emptied scope.
 */
export interface MessageStore {
  state(roleId: string): Promise<StoreState>;
  /** Returns the place of each message, in order. */
  add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]>;
  /** Reads the messages after a place, in order of arrival. */
  read(roleId: string, after: number): AsyncIterable<readonly StoredMessage[]>;
  /** Returns all places in use, ascending. */
  places(roleId: string): Promise<readonly number[]>;
  /** Removes messages, and returns how many there were. */
  remove(roleId: string, places: readonly number[], o?: RemoveOptions): Promise<number>;
  /** Returns for each message whether it was removed. Optional: without it a resumed run stores again what was deleted. */
  removed?(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly boolean[]>;
  /** Returns the key of every memory that has messages. Optional: without it nothing can be forgotten by its scope. */
  scopes?(): Promise<readonly string[]>;
  /** Overwrites what was removed. Optional: without it the store keeps no byte of it. */
  purge?(): Promise<void>;
  /** Reads the vectors of a fingerprint after a place, in order of arrival. */
  readVectors(roleId: string, fingerprint: string, after: number): AsyncIterable<readonly StoredVector[]>;
  /** Writes or replaces vectors. Vectors of removed messages are dropped. */
  writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void>;
  clearVectors(roleId: string): Promise<void>;
  /** Optional: without it a memory reads all messages of its role. */
  readonly lookup?: MessageLookup;
  close(): Promise<void>;
}

export function memoryClosed(): MemoryError {
  return new MemoryError("MEMORY_CLOSED", "Expected an open memory, but it has been closed. Make another one over the same store.");
}

export function identityOf(runId: string, id: string): string {
  return JSON.stringify([runId, id]);
}

interface Shelf {
  last: number;
  removals: number;
  readonly messages: Map<number, StoredMessage>;
  readonly places: Map<string, number>;
  readonly removed: Set<string>;
  readonly vectors: Map<number, { readonly fingerprint: string; readonly vector: Float32Array }>;
}

export function inMemoryStore(): MessageStore {
  return new InMemoryStore();
}

class InMemoryStore implements MessageStore {
  readonly #shelves = new Map<string, Shelf>();

  async state(roleId: string): Promise<StoreState> {
    const { last, removals } = this.#shelf(roleId);
    return { last, removals };
  }

  async add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]> {
    const shelf = this.#shelf(roleId);
    return messages.map((entry) => {
      const identity = identityOf(entry.runId, entry.message.id);
      const held = shelf.places.get(identity);
      if (held !== undefined) return { place: held, isNew: false };
      const place = ++shelf.last;
      shelf.places.set(identity, place);
      shelf.messages.set(place, { ...entry, place });
      return { place, isNew: true };
    });
  }

  async *read(roleId: string, after: number): AsyncGenerator<readonly StoredMessage[]> {
    const messages = [...this.#shelf(roleId).messages.values()].filter(({ place }) => place > after);
    if (messages.length > 0) yield messages;
  }

  async places(roleId: string): Promise<readonly number[]> {
    return [...this.#shelf(roleId).messages.keys()];
  }

  async remove(roleId: string, places: readonly number[], { mayReturn = false }: RemoveOptions = {}): Promise<number> {
    const shelf = this.#shelf(roleId);
    const gone = places.flatMap((place) => shelf.messages.get(place) ?? []);
    for (const { place, runId, message } of gone) {
      const identity = identityOf(runId, message.id);
      shelf.messages.delete(place);
      shelf.vectors.delete(place);
      shelf.places.delete(identity);
      if (!mayReturn) shelf.removed.add(identity);
    }
    shelf.removals += gone.length;
    return gone.length;
  }

  async removed(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly boolean[]> {
    const { removed } = this.#shelf(roleId);
    return identities.map(({ runId, id }) => removed.has(identityOf(runId, id)));
  }

  async scopes(): Promise<readonly string[]> {
    return [...this.#shelves].flatMap(([scope, { messages }]) => (messages.size > 0 ? [scope] : []));
  }

  async *readVectors(roleId: string, fingerprint: string, after: number): AsyncGenerator<readonly StoredVector[]> {
    const found = [...this.#shelf(roleId).vectors]
      .filter(([place, kept]) => place > after && kept.fingerprint === fingerprint)
      .map(([place, { vector }]) => ({ place, vector: vector.slice() }));
    if (found.length > 0) yield found.sort((a, b) => a.place - b.place);
  }

  async writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void> {
    const shelf = this.#shelf(roleId);
    for (const { place, vector } of vectors) {
      if (shelf.messages.has(place)) shelf.vectors.set(place, { fingerprint, vector: vector.slice() });
    }
  }

  async clearVectors(roleId: string): Promise<void> {
    this.#shelf(roleId).vectors.clear();
  }

  async close(): Promise<void> {}

  #shelf(roleId: string): Shelf {
    let shelf = this.#shelves.get(roleId);
    if (shelf === undefined) {
      shelf = { last: 0, removals: 0, messages: new Map(), places: new Map(), removed: new Set(), vectors: new Map() };
      this.#shelves.set(roleId, shelf);
    }
    return shelf;
  }
}
