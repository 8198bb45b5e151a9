import { type HeldMessages, MOST_REACH } from "./held-messages.ts";
import type { MessageIdentity, MessageLookup, MessagePage, StoredMessage } from "./message-store.ts";
import type { StorageParts } from "./storage-options.ts";

/** So many messages behind what is held are read, also where a store could be asked for some of them: to rank all is better. */
const FEW = 1_000;
/** Places on each side of a message that are read for what stands next to it, before it is looked for farther away. */
const NEAR = 4;

/** Who is told what has come and gone. */
export interface HoldingWatch {
  learn(entry: StoredMessage): void;
  forget(place: number): Promise<void>;
}

/**
 * Gets from a store what its role's memory holds: all messages, or where the store has a `lookup` and they are many, those that are needed.
 * It owns how far the store has been read; the messages are `HeldMessages`'.
 *
 * StoreReading.R1 what is gone from the store is forgotten before an answer (`#forgetRemoved`). StoreReading.R2 after `all` everything the store
 * had is held; after `some` what was asked for. StoreReading.R3 what is held is not read again, and what is read is not held twice (`HeldMessages.add`).
 */
export class StoreReading {
  readonly #parts: StorageParts;
  readonly #held: HeldMessages;
  readonly #watch: HoldingWatch;
  /** Undefined where all messages are needed: for their vectors, their ages, or an index that keeps them. */
  readonly #lookup: MessageLookup | undefined;

  constructor(parts: StorageParts, held: HeldMessages, watch: HoldingWatch) {
    const { vectors, lexical, ttl, store } = parts;
    this.#parts = parts;
    this.#held = held;
    this.#watch = watch;
    this.#lookup = vectors === undefined && lexical?.candidates !== undefined && ttl === undefined ? store.lookup : undefined;
  }

  /** Reads what has come since the store was last read. */
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

  /** The same where it is little, or where the store cannot be asked. @returns the lookup to be asked where it is much */
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

  /** Holds the messages at some places, as far as there are any. */
  async at(lookup: MessageLookup, places: readonly number[]): Promise<void> {
    const unknown = places.filter((place) => this.#held.at(place) === undefined);
    if (unknown.length === 0) return;
    const page = await lookup.read(this.#parts.roleId, unknown);
    this.#learn(page);
    // The same places may be read again.
    this.#held.damaged = Math.max(this.#held.damaged, page.damaged);
  }

  /** Each message that the store has; undefined for others. */
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

  /** The messages of the same run next to a place, nearest first, at most `count` on each side. */
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
