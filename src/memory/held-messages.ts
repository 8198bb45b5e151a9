import type { Message } from "../message/message.ts";
import type { StoredMessage, StoreState } from "./message-store.ts";

/** Places on each side of a message that are searched for its neighbours: other runs may be stored between them. */
export const MOST_REACH = 64;

/**
 * The messages of a role's store that this process has read, in order of arrival, with their identities, and how far the store has been read.
 */
export class HeldMessages {
  /** By place. */
  #messages = new Map<number, StoredMessage>();
  /** True while `#messages` is in order of arrival. */
  #isSorted = true;
  #lastPlace = 0;
  /** By run, then id. */
  readonly #places = new Map<string, Map<string, number>>();
  /** How far the store has been read. */
  state: StoreState = { last: 0, removals: 0 };
  /** Number of messages that could not be read. */
  damaged = 0;
  /** The newest time at which a message was added to the store. */
  newestAdded = 0;
  /** No message is older than this. */
  #oldest = Infinity;

  get size(): number {
    return this.#messages.size;
  }

  at(place: number): StoredMessage | undefined {
    return this.#messages.get(place);
  }

  placeOf(runId: string, id: string): number | undefined {
    return this.#places.get(runId)?.get(id);
  }

  places(): number[] {
    return this.all().map(({ place }) => place);
  }

  /** In order of arrival. */
  all(): StoredMessage[] {
    if (!this.#isSorted) this.#messages = new Map([...this.#messages].sort(([a], [b]) => a - b));
    this.#isSorted = true;
    return [...this.#messages.values()];
  }

  /** Returns the neighbours of a place in its run, nearest first, at most `count` on each side. */
  around(place: number, count: number, farthest: number = MOST_REACH): readonly StoredMessage[] {
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

  /** Returns false when its place is known. */
  add(entry: StoredMessage): boolean {
    if (this.#messages.has(entry.place)) return false;
    this.#messages.set(entry.place, entry);
    if (entry.place < this.#lastPlace) this.#isSorted = false;
    else this.#lastPlace = entry.place;
    let run = this.#places.get(entry.runId);
    if (run === undefined) this.#places.set(entry.runId, (run = new Map<string, number>()));
    run.set(entry.message.id, entry.place);
    this.newestAdded = Math.max(this.newestAdded, entry.addedAt);
    this.#oldest = Math.min(this.#oldest, timeOf(entry));
    return true;
  }

  forget(place: number): boolean {
    const entry = this.#messages.get(place);
    if (entry === undefined) return false;
    this.#messages.delete(place);
    const run = this.#places.get(entry.runId);
    if (run?.get(entry.message.id) === place) run.delete(entry.message.id);
    if (run?.size === 0) this.#places.delete(entry.runId);
    return true;
  }

  /** Returns the places of messages before a time. */
  olderThan(time: number): number[] {
    if (this.#oldest >= time) return [];
    const old: number[] = [];
    this.#oldest = Infinity;
    for (const entry of this.all()) {
      const at = timeOf(entry);
      if (at < time) old.push(entry.place);
      // A message that is not removed must be found again.
      this.#oldest = Math.min(this.#oldest, at);
    }
    return old;
  }

  /** Marks places as read, when they follow the last one. */
  sawPlaces(places: readonly number[]): void {
    const { last } = this.state;
    if (places.every((place, n) => place === last + n + 1)) this.state = { ...this.state, last: last + places.length };
  }
}

/** The time of a message. A message without a date, or with one in the future, has the time it was added to the store. */
export function timeOf({ message, addedAt }: { readonly message: Message; readonly addedAt: number }): number {
  return message.timestamp > 0 ? Math.min(message.timestamp, addedAt) : addedAt;
}
