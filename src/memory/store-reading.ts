import { type HeldMessages, MOST_REACH } from "./held-messages.ts";
import type { MessageIdentity, MessageLookup, MessagePage, StoredMessage } from "./message-store.ts";
import type { StorageParts } from "./storage-options.ts";

/** So few new messages are read completely, even when the store has a lookup, because ranking all messages is better. */
const FEW = 1_000;
/** Places on each side of a message that are read first for its neighbours. */
const NEAR = 4;

/** Receives the messages that were read and removed. */
export interface HoldingWatch {
  learn(entry: StoredMessage): void;
  forget(place: number): Promise<void>;
}

/**
 * Reads the messages of a role from a store: all of them, or the needed ones when they are many and the store has a `lookup`. Owns how far the
 * store has been read; `HeldMessages` owns the messages.
 *
 * StoreReading.R1 (`#forgetRemoved`) messages removed from the store are removed here before an answer. StoreReading.R2 (`all`, `some`) after `all`
 * every message of the store is held, after `some` the requested ones. StoreReading.R3 (`HeldMessages.add`) a held message is not read or held again.
 */
export class StoreReading {
  readonly #parts: StorageParts;
  readonly #held: HeldMessages;
  readonly #watch: HoldingWatch;
  /** Undefined when all messages are needed: for vectors, ages, or an index that keeps them. */
  readonly #lookup: MessageLookup | undefined;

  constructor(parts: StorageParts, held: HeldMessages, watch: HoldingWatch) {
    const { vectors, lexical, ttl, store } = parts;
    this.#parts = parts;
    this.#held = held;
    this.#watch = watch;
    this.#lookup = vectors === undefined && lexical?.candidates !== undefined && ttl === undefined ? store.lookup : undefined;
  }

  /** Reads all messages added since the last read. */
  async all(): Promise<void> {
    const { store, roleId } = this.#parts;
    const state = await store.state(roleId);
    await this.#forgetRemoved(state.removals);
    let seen = this.#held.state.last;
    if (state.last > seen) {
      for await (const page of store.read(roleId, seen)) {
        this.#held.damaged += page.damaged;
        seen = Math.max(seen, ...this.#learn(page));
      }
    }
    this.#held.state = { last: Math.max(seen, state.last), removals: state.removals };
  }

  /** Reads all new messages when they are few or there is no lookup. @returns the lookup when they are many */
  async some(): Promise<MessageLookup | undefined> {
    if (this.#lookup === undefined) {
      await this.all();
      return undefined;
    }
    const { store, roleId } = this.#parts;
    const { last, removals } = await store.state(roleId);
    if (last - this.#held.state.last <= FEW) {
      await this.all();
      return undefined;
    }
    await this.#forgetRemoved(removals);
    return this.#lookup;
  }

  /** Reads the messages at some places. */
  async at(lookup: MessageLookup, places: readonly number[]): Promise<void> {
    const unknown = places.filter((place) => this.#held.at(place) === undefined);
    if (unknown.length === 0) return;
    const page = await lookup.read(this.#parts.roleId, unknown);
    this.#learn(page);
    // A damaged place may be read again, and must not count twice.
    this.#held.damaged = Math.max(this.#held.damaged, page.damaged);
  }

  /** Returns the message of each identity; undefined for none. */
  async find(identities: readonly MessageIdentity[]): Promise<readonly (StoredMessage | undefined)[]> {
    const lookup = await this.some();
    if (lookup === undefined) return identities.map(({ runId, id }) => this.#held.at(this.#held.placeOf(runId, id) ?? 0));
    const places = await lookup.placesOf(this.#parts.roleId, identities);
    await this.at(
      lookup,
      places.filter((place) => place !== undefined),
    );
    return places.map((place) => this.#held.at(place ?? 0));
  }

  /** Returns the neighbours of a place in its run, nearest first, at most `count` on each side. */
  async around(place: number, count: number): Promise<readonly StoredMessage[]> {
    const lookup = count === 0 ? undefined : await this.some();
    if (lookup === undefined) return this.#held.around(place, count);
    const near = Math.min(NEAR * count, MOST_REACH);
    await this.at(lookup, placesAround(place, near));
    const found = this.#held.around(place, count, near);
    if (found.length === 2 * count) return found;
    await this.at(lookup, placesAround(place, MOST_REACH));
    return this.#held.around(place, count);
  }

  async #forgetRemoved(removals: number): Promise<void> {
    const { store, roleId } = this.#parts;
    if (removals === this.#held.state.removals) return;
    if (this.#held.size > 0) {
      const there = new Set(await store.places(roleId));
      for (const place of this.#held.places()) if (!there.has(place)) await this.#watch.forget(place);
    }
    this.#held.state = { ...this.#held.state, removals };
  }

  #learn({ messages }: MessagePage): number[] {
    for (const entry of messages) this.#watch.learn(entry);
    return messages.map(({ place }) => place);
  }
}

function placesAround(place: number, reach: number): number[] {
  return Array.from({ length: 2 * reach + 1 }, (_, n) => place - reach + n).filter((each) => each > 0);
}
