import type { StoredMessage } from "./message-store.ts";

/** Below this many holes a list is not worth rewriting. */
const FEW_HOLES = 64;

/**
 * Messages by their places, in order of arrival, in two lists side by side: they come in that order, and a Map takes several times as long
 * to take them in.
 *
 * A1 places ascend, whatever the order in which they come. A2 what is removed leaves a hole, and holes never outnumber the messages by much.
 * A3 adding at the end and removing are O(1) amortised, looking up is O(log n) at worst; adding in the middle is O(n).
 */
export class ArrivalList {
  #places: number[] = [];
  #entries: (StoredMessage | undefined)[] = [];
  #holes = 0;

  get size(): number {
    return this.#places.length - this.#holes;
  }

  at(place: number): StoredMessage | undefined {
    const index = this.#indexOf(place);
    return this.#places[index] === place ? this.#entries[index] : undefined;
  }

  /** False when there is one at its place. */
  add(entry: StoredMessage): boolean {
    const { place } = entry;
    const index = this.#indexOf(place);
    if (index === this.#places.length) {
      this.#places.push(place);
      this.#entries.push(entry);
    } else if (this.#places[index] !== place) {
      this.#places.splice(index, 0, place);
      this.#entries.splice(index, 0, entry);
    } else {
      if (this.#entries[index] !== undefined) return false;
      this.#entries[index] = entry;
      this.#holes--;
    }
    return true;
  }

  /** Gives what it removed. */
  remove(place: number): StoredMessage | undefined {
    const index = this.#indexOf(place);
    const entry = this.#places[index] === place ? this.#entries[index] : undefined;
    if (entry === undefined) return undefined;
    this.#entries[index] = undefined;
    this.#holes++;
    if (this.#holes > FEW_HOLES && this.#holes > this.size) this.#close();
    return entry;
  }

  /** In order of arrival; the caller's own array. */
  all(): StoredMessage[] {
    return this.#entries.filter((entry) => entry !== undefined);
  }

  /** Where a place stands, or would. */
  #indexOf(place: number): number {
    const places = this.#places;
    let high = places.length;
    if (high === 0 || place > (places[high - 1] as number)) return high;
    // Mostly nothing is missing before it.
    const guess = place - (places[0] as number);
    if (places[guess] === place) return guess;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] as number) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #close(): void {
    this.#entries = this.all();
    this.#places = this.all().map(({ place }) => place);
    this.#holes = 0;
  }
}
