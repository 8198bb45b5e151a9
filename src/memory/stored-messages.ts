import { assertMessage, type Message } from "../message/message.ts";
import {
  identityOf,
  type MessageIdentity,
  type MessageLookup,
  type MessageToStore,
  type RemoveOptions,
  type StoredMessage,
  type StoreState,
} from "./message-store.ts";
import type { Search, StorageParts } from "./storage-options.ts";

/** Places searched on each side of a message for its neighbors, because other runs may be stored between them. */
const REACH = 32;
/** Up to this many new messages are read completely even if the store has a lookup, because ranking all messages is better. */
const FEW = 1_000;
/** More known messages than this are not ranked completely if the store has a lookup: ranking takes a microsecond for each message. */
const MANY = 10_000;

/** Estimated characters of a message besides its content, of each content character with its index, and of each vector number. */
const PER_MESSAGE = 300;
const PER_CHARACTER = 3;
const PER_NUMBER = 2;

export interface StoreWatch {
  added(place: number): void;
  removed(place: number): Promise<void>;
}

/**
 * The messages of a role in a store, as this process knows them: all of them, or the needed ones when they are many and the store has a `lookup`.
 *
 * StoredMessages.R1 (`#forgetRemoved`) messages removed from the store are removed here before an answer. StoredMessages.R2 (`readAll`, `readNew`)
 * after `readAll` every message of the store is known, after `readAt` the requested ones. StoredMessages.R3 (`#learn`) a known message is not
 * read or reported again.
 */
export class StoredMessages {
  readonly #parts: StorageParts;
  readonly #watch: StoreWatch;
  /** Undefined when all messages are needed: for vectors, ages, or an index that keeps them. */
  readonly #lookup: MessageLookup | undefined;
  readonly #messages = new Map<number, StoredMessage>();
  readonly #places = new Map<string, number>();
  #state: StoreState = { last: 0, removals: 0 };
  #characters = 0;
  #lastPlace = 0;
  #newestAdded = 0;

  constructor(parts: StorageParts, watch: StoreWatch) {
    const { vectors, lexical, ttl, store } = parts;
    this.#parts = parts;
    this.#watch = watch;
    this.#lookup = vectors === undefined && lexical?.candidates !== undefined && ttl === undefined ? store.lookup : undefined;
  }

  get size(): number {
    return this.#messages.size;
  }

  held(dimensions: number = 0): number {
    return this.#characters + this.size * (PER_MESSAGE + PER_NUMBER * dimensions);
  }

  at(place: number): StoredMessage | undefined {
    return this.#messages.get(place);
  }

  placeOf(runId: string, id: string): number | undefined {
    return this.#places.get(identityOf(runId, id));
  }

  /** Turns the filter of a search into a condition on places. */
  accepting(filter: Search["filter"]): ((place: number) => boolean) | undefined {
    if (filter === undefined) return undefined;
    return (place) => {
      const { message, runId } = this.#messages.get(place) as StoredMessage;
      return filter(message, runId);
    };
  }

  all(): StoredMessage[] {
    return [...this.#messages.values()].sort((a, b) => a.place - b.place);
  }

  olderThan(time: number): StoredMessage[] {
    return [...this.#messages.values()].filter((entry) => timeOf(entry) < time);
  }

  async readAll(): Promise<void> {
    const { store, roleId } = this.#parts;
    const state = await this.#forgetRemoved();
    let seen = this.#state.last;
    if (state.last > seen) {
      for await (const page of store.read(roleId, seen)) {
        this.#learn(page);
        seen = Math.max(seen, page.at(-1)?.place ?? 0);
      }
    }
    this.#state = { last: Math.max(seen, state.last), removals: state.removals };
  }

  /** Returns the newest time at which a message was added to the store. Of unread messages only the last is read. */
  async newestAdded(): Promise<number> {
    const { store, roleId } = this.#parts;
    const { last } = await store.state(roleId);
    if (last > this.#lastPlace && last > this.#state.last) {
      for await (const page of store.read(roleId, last - 1)) {
        for (const { addedAt } of page) this.#newestAdded = Math.max(this.#newestAdded, addedAt);
      }
    }
    return this.#newestAdded;
  }

  /** Reads all new messages, unless the store's lookup is faster: then returns the lookup. */
  async readNew(): Promise<MessageLookup | undefined> {
    if (this.#lookup !== undefined) {
      const { last } = await this.#forgetRemoved();
      if (last - this.#state.last > FEW || this.size > MANY) return this.#lookup;
    }
    await this.readAll();
    return undefined;
  }

  async readAt(lookup: MessageLookup, places: readonly number[]): Promise<void> {
    const unknown = places.filter((place) => !this.#messages.has(place));
    if (unknown.length > 0) this.#learn(await lookup.read(this.#parts.roleId, unknown));
  }

  async find(identities: readonly MessageIdentity[]): Promise<readonly (StoredMessage | undefined)[]> {
    const lookup = await this.readNew();
    if (lookup === undefined) return identities.map(({ runId, id }) => this.at(this.placeOf(runId, id) ?? 0));
    const places = await lookup.placesOf(this.#parts.roleId, identities);
    await this.readAt(
      lookup,
      places.filter((place) => place !== undefined),
    );
    return places.map((place) => this.at(place ?? 0));
  }

  /** Returns up to `count` messages of the same run on each side of a place, the nearest first. */
  async around(place: number, count: number): Promise<readonly StoredMessage[]> {
    if (count === 0) return [];
    const lookup = await this.readNew();
    const reach = Array.from({ length: REACH }, (_, n) => n + 1);
    const sides = [reach.map((step) => place - step), reach.map((step) => place + step)];
    if (lookup !== undefined)
      await this.readAt(
        lookup,
        sides.flat().filter((each) => each > 0),
      );
    const runId = this.at(place)?.runId;
    const found = sides.flatMap((side) =>
      side
        .map((each) => this.at(each))
        .filter((entry) => entry?.runId === runId)
        .slice(0, count),
    );
    return found.filter((entry) => entry !== undefined).sort((a, b) => Math.abs(a.place - place) - Math.abs(b.place - place));
  }

  async add(entries: readonly MessageToStore[]): Promise<number> {
    for (const { message } of entries) assertMessage(message);
    const isKnown = ({ runId, message }: MessageToStore): boolean => this.placeOf(runId, message.id) !== undefined;
    // Another process may have removed what is known here.
    if (entries.some(isKnown)) await this.#forgetRemoved();
    const fresh = entries.filter((entry) => !isKnown(entry));
    if (fresh.length === 0) return 0;
    const stored = await this.#parts.store.add(this.#parts.roleId, fresh);
    const messages = stored.flatMap(({ place, isNew }, n) => (isNew ? [{ ...(fresh[n] as MessageToStore), place }] : []));
    this.#learn(messages);
    const { last } = this.#state;
    const isNext = messages.every(({ place }, n) => place === last + n + 1);
    if (isNext) this.#state = { ...this.#state, last: last + messages.length };
    return messages.length;
  }

  async removed(identities: readonly MessageIdentity[]): Promise<readonly boolean[]> {
    const { store, roleId } = this.#parts;
    if (store.removed === undefined || (await store.state(roleId)).removals === 0) return [];
    return store.removed(roleId, identities);
  }

  async remove(entries: readonly StoredMessage[], o?: RemoveOptions): Promise<number> {
    if (entries.length === 0) return 0;
    const places = entries.map(({ place }) => place);
    const removed = await this.#parts.store.remove(this.#parts.roleId, places, o);
    for (const place of places) await this.#forget(place);
    this.#state = { ...this.#state, removals: this.#state.removals + removed };
    return removed;
  }

  #learn(messages: readonly StoredMessage[]): void {
    for (const entry of messages) {
      const { place, runId, message, addedAt } = entry;
      if (this.#messages.has(place)) continue;
      this.#messages.set(place, entry);
      this.#places.set(identityOf(runId, message.id), place);
      this.#characters += PER_CHARACTER * message.content.length;
      this.#lastPlace = Math.max(this.#lastPlace, place);
      this.#newestAdded = Math.max(this.#newestAdded, addedAt);
      this.#watch.added(place);
    }
  }

  async #forget(place: number): Promise<void> {
    await this.#watch.removed(place);
    const entry = this.#messages.get(place);
    if (entry === undefined) return;
    this.#messages.delete(place);
    this.#characters -= PER_CHARACTER * entry.message.content.length;
    const identity = identityOf(entry.runId, entry.message.id);
    if (this.#places.get(identity) === place) this.#places.delete(identity);
  }

  async #forgetRemoved(): Promise<StoreState> {
    const { store, roleId } = this.#parts;
    const state = await store.state(roleId);
    if (state.removals !== this.#state.removals && this.size > 0) {
      const left = new Set(await store.places(roleId));
      for (const place of [...this.#messages.keys()]) if (!left.has(place)) await this.#forget(place);
    }
    this.#state = { ...this.#state, removals: state.removals };
    return state;
  }
}

/** The time of a message. A message without a date, or with one in the future, has the time it was added to the store. */
export function timeOf({ message, addedAt }: { readonly message: Message; readonly addedAt: number }): number {
  return message.timestamp > 0 ? Math.min(message.timestamp, addedAt) : addedAt;
}
