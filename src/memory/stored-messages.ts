import { assertMessage, type Message } from "../message/message.ts";
import type { MessageIdentity, MessageLookup, MessageToStore, RemoveOptions, StoredMessage, StoreState } from "./message-store.ts";
import type { StorageParts } from "./storage-options.ts";

/** Places on each side of a message that are searched for its neighbours: other runs may be stored between them. */
const MOST_REACH = 64;
/** Places on each side of a message that are read first for its neighbours. */
const NEAR = 4;
/** So few new messages are read completely, even when the store has a lookup, because ranking all messages is better. */
const FEW = 1_000;
/** So many known messages are not ranked completely where the store has a lookup: that takes a microsecond for each of them. */
const MANY = 10_000;

/** Characters that a message takes besides its text, a character of it with its index, and a number of its vector. */
const OF_A_MESSAGE = 300;
const INDEXED = 3;
const OF_A_NUMBER = 2;

/** Called when a message becomes known, and when it was removed. */
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
  /** By place. */
  #messages = new Map<number, StoredMessage>();
  /** True while `#messages` is in order of arrival. */
  #isSorted = true;
  /** In the known messages, and in indexes of their words. */
  #characters = 0;
  #lastPlace = 0;
  /** By run, then id. */
  readonly #places = new Map<string, Map<string, number>>();
  /** How far the store has been read. */
  #state: StoreState = { last: 0, removals: 0 };
  /** No message is older than this. */
  #oldest = Infinity;
  /** The newest time at which a known message was added to the store. */
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
    return this.#characters + this.size * (OF_A_MESSAGE + OF_A_NUMBER * dimensions);
  }

  at(place: number): StoredMessage | undefined {
    return this.#messages.get(place);
  }

  placeOf(runId: string, id: string): number | undefined {
    return this.#places.get(runId)?.get(id);
  }

  all(): StoredMessage[] {
    if (!this.#isSorted) this.#messages = new Map([...this.#messages].sort(([a], [b]) => a - b));
    this.#isSorted = true;
    return [...this.#messages.values()];
  }

  olderThan(time: number): StoredMessage[] {
    if (this.#oldest >= time) return [];
    const all = this.all();
    // A message that is not removed must be found again.
    this.#oldest = all.reduce((oldest, entry) => Math.min(oldest, timeOf(entry)), Infinity);
    return all.filter((entry) => timeOf(entry) < time);
  }

  async readAll(): Promise<void> {
    const { store, roleId } = this.#parts;
    const state = await store.state(roleId);
    if (state.removals !== this.#state.removals) await this.#forgetRemoved(state.removals);
    let seen = this.#state.last;
    if (state.last > seen) {
      for await (const page of store.read(roleId, seen)) {
        for (const { place } of this.#learn(page)) seen = Math.max(seen, place);
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

  /** Reads all new messages, unless the store finds the right ones faster. @returns the lookup of the store then */
  async readNew(): Promise<MessageLookup | undefined> {
    if (this.#lookup !== undefined) {
      const { store, roleId } = this.#parts;
      const { last, removals } = await store.state(roleId);
      if (last - this.#state.last > FEW || this.size > MANY) {
        if (removals !== this.#state.removals) await this.#forgetRemoved(removals);
        return this.#lookup;
      }
    }
    await this.readAll();
    return undefined;
  }

  async readAt(lookup: MessageLookup, places: readonly number[]): Promise<void> {
    const unknown = places.filter((place) => !this.#messages.has(place));
    if (unknown.length === 0) return;
    this.#learn(await lookup.read(this.#parts.roleId, unknown));
  }

  /** Returns the message of each identity; undefined for none. */
  async find(identities: readonly MessageIdentity[]): Promise<readonly (StoredMessage | undefined)[]> {
    const lookup = await this.readNew();
    if (lookup === undefined) return identities.map(({ runId, id }) => this.at(this.placeOf(runId, id) ?? 0));
    const places = await lookup.placesOf(this.#parts.roleId, identities);
    const known = places.filter((place) => place !== undefined);
    await this.readAt(lookup, known);
    return places.map((place) => this.at(place ?? 0));
  }

  async around(place: number, count: number): Promise<readonly StoredMessage[]> {
    if (count === 0) return [];
    const lookup = await this.readNew();
    if (lookup !== undefined) {
      const near = Math.min(NEAR * count, MOST_REACH);
      await this.readAt(lookup, placesAround(place, near));
      const found = this.#knownAround(place, count, near);
      if (found.length === 2 * count) return found;
      await this.readAt(lookup, placesAround(place, MOST_REACH));
    }
    return this.#knownAround(place, count, MOST_REACH);
  }

  async add(entries: readonly MessageToStore[]): Promise<number> {
    const fresh = entries.filter(({ runId, message }) => {
      assertMessage(message);
      return this.placeOf(runId, message.id) === undefined;
    });
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

  async remove(places: readonly number[], o?: RemoveOptions): Promise<number> {
    if (places.length === 0) return 0;
    const removed = await this.#parts.store.remove(this.#parts.roleId, places, o);
    for (const place of places) await this.#forget(place);
    this.#state = { ...this.#state, removals: this.#state.removals + removed };
    return removed;
  }

  #learn(messages: readonly StoredMessage[]): readonly StoredMessage[] {
    for (const entry of messages) {
      const { place, runId, message, addedAt } = entry;
      if (this.#messages.has(place)) continue;
      this.#messages.set(place, entry);
      this.#characters += INDEXED * message.content.length;
      if (place < this.#lastPlace) this.#isSorted = false;
      else this.#lastPlace = place;
      let run = this.#places.get(runId);
      if (run === undefined) this.#places.set(runId, (run = new Map<string, number>()));
      run.set(message.id, place);
      this.#newestAdded = Math.max(this.#newestAdded, addedAt);
      this.#oldest = Math.min(this.#oldest, timeOf(entry));
      this.#watch.added(place);
    }
    return messages;
  }

  async #forget(place: number): Promise<void> {
    await this.#watch.removed(place);
    const entry = this.#messages.get(place);
    if (entry === undefined) return;
    this.#messages.delete(place);
    this.#characters -= INDEXED * entry.message.content.length;
    const run = this.#places.get(entry.runId);
    if (run?.get(entry.message.id) === place) run.delete(entry.message.id);
    if (run?.size === 0) this.#places.delete(entry.runId);
  }

  async #forgetRemoved(removals: number): Promise<void> {
    if (this.size > 0) {
      const { store, roleId } = this.#parts;
      const there = new Set(await store.places(roleId));
      for (const { place } of this.all()) if (!there.has(place)) await this.#forget(place);
    }
    this.#state = { ...this.#state, removals };
  }

  #knownAround(place: number, count: number, farthest: number): readonly StoredMessage[] {
    const runId = this.at(place)?.runId;
    const found: StoredMessage[] = [];
    for (const step of [-1, 1]) {
      for (let reach = 1, left = count; reach <= farthest && left > 0; reach += 1) {
        const entry = this.at(place + step * reach);
        if (entry === undefined || entry.runId !== runId) continue;
        found.push(entry);
        left -= 1;
      }
    }
    return found.sort((a, b) => Math.abs(a.place - place) - Math.abs(b.place - place));
  }
}

function placesAround(place: number, reach: number): number[] {
  return Array.from({ length: 2 * reach + 1 }, (_, n) => place - reach + n).filter((each) => each > 0);
}

/** The time of a message. A message without a date, or with one in the future, has the time it was added to the store. */
export function timeOf({ message, addedAt }: { readonly message: Message; readonly addedAt: number }): number {
  return message.timestamp > 0 ? Math.min(message.timestamp, addedAt) : addedAt;
}
