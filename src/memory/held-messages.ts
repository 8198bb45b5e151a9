import type { Message } from "../message/message.ts";
import { ArrivalList } from "./arrival-list.ts";
import type { StoredMessage, StoreState } from "./message-store.ts";

/** So many places on each side are looked at for what stands next to a message in its run: runs may be stored side by side. */
export const MOST_REACH = 64;

/**
 * What a process knows of a role's store: the messages in order of arrival, who they are, and how far it has read. It owns no vector and
 * asks nobody.
 */
export class HeldMessages {
  readonly #arrived = new ArrivalList();
  /** By run, then id. */
  readonly #places = new Map<string, Map<string, number>>();
  /** How far the store has been read. */
  state: StoreState = { last: 0, removals: 0 };
  /** Messages met that could not be read. */
  damaged = 0;
  /** The newest time a message was given to the store at. */
  newestAdded = 0;
  /** No message is older than this. */
  #oldest = Infinity;

  get size(): number {
    return this.#arrived.size;
  }

  at(place: number): StoredMessage | undefined {
    return this.#arrived.at(place);
  }

  placeOf(runId: string, id: string): number | undefined {
    return this.#places.get(runId)?.get(id);
  }

  places(): number[] {
    return this.all().map(({ place }) => place);
  }

  /** In order of arrival. */
  all(): StoredMessage[] {
    return this.#arrived.all();
  }

  /** The messages of the same run next to a place, nearest first, at most `count` on each side. */
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

  /** False when it is known. */
  add(entry: StoredMessage): boolean {
    if (!this.#arrived.add(entry)) return false;
    let run = this.#places.get(entry.runId);
    if (run === undefined) this.#places.set(entry.runId, (run = new Map<string, number>()));
    run.set(entry.message.id, entry.place);
    this.newestAdded = Math.max(this.newestAdded, entry.addedAt);
    this.#oldest = Math.min(this.#oldest, timeOf(entry));
    return true;
  }

  forget(place: number): boolean {
    const entry = this.#arrived.remove(place);
    if (entry === undefined) return false;
    const run = this.#places.get(entry.runId);
    if (run?.get(entry.message.id) === place) run.delete(entry.message.id);
    if (run?.size === 0) this.#places.delete(entry.runId);
    return true;
  }

  /** The places of messages from before a time. */
  olderThan(time: number): number[] {
    if (this.#oldest >= time) return [];
    const old: number[] = [];
    this.#oldest = Infinity;
    for (const entry of this.all()) {
      const at = timeOf(entry);
      if (at < time) old.push(entry.place);
      // What is not removed after all must be found again the next time.
      this.#oldest = Math.min(this.#oldest, at);
    }
    return old;
  }

  /** Reads on from where all of these places are known. */
  sawPlaces(places: readonly number[]): void {
    const { last } = this.state;
    if (places.every((place, n) => place === last + n + 1)) this.state = { ...this.state, last: last + places.length };
  }
}

/**
 * When a message was said. One without a date, or from the future, is as old as its place in the store: it ages too.
 */
export function timeOf({ message, addedAt }: { readonly message: Message; readonly addedAt: number }): number {
  return message.timestamp > 0 ? Math.min(message.timestamp, addedAt) : addedAt;
}
