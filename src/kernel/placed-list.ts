/** Below this many holes a list is not worth rewriting. */
const FEW_HOLES = 32;

/** The slots of a list that never had an item. Nothing is ever put into them. */
const none: never[] = [];

/**
 * Items in order of arrival, each at a position that stays its own while it is held.
 *
 * Owns order and positions. Who is the same as whom and who knows a position is its owner's business.
 *
 * G1 positions grow in order of arrival. G2 `push`, `at` and `drop` are O(1) amortised: holes at the ends are trimmed, and those between
 * never outnumber the items by much, because the owner rewrites a list that `isMostlyHoles`.
 * G3 a position may be used again only after it and all after it were dropped.
 */
export class PlacedList<T extends object> {
  #slots: (T | undefined)[] = none;
  /** Position of slot 0. */
  #offset: number;
  /** Slot of the oldest item. The slots before it are empty and wait to be cut off together. */
  #first = 0;
  #size = 0;

  /** An empty list, whose first item gets a position of 0 unless told otherwise. */
  constructor(from = 0) {
    this.#offset = from;
  }

  get size(): number {
    return this.#size;
  }

  /** The position that the next item would get. */
  get end(): number {
    return this.#offset + this.#slots.length;
  }

  get isMostlyHoles(): boolean {
    const holes = this.#slots.length - this.#first - this.#size;
    return holes > FEW_HOLES && holes > this.#size;
  }

  /** Appends an item and gives its position. */
  push(item: T): number {
    this.#size++;
    const slots = this.#slots;
    // The first `push` of an array makes room for 17, and most lists stay at one or two.
    if (slots === none) this.#slots = [item];
    else if (this.#size === 2 && slots.length === 1) this.#slots = [slots[0], item];
    else slots.push(item);
    return this.#offset + this.#slots.length - 1;
  }

  /** The item at a position; `undefined` when it was dropped or never was. */
  at(position: number): T | undefined {
    const slot = position - this.#offset;
    return slot >= 0 ? this.#slots[slot] : undefined;
  }

  /** The position that another number stands for which is equal to it modulo 2^32: fewer are in use at a time. */
  unwrapped(position: number): number {
    return this.#offset + ((position - this.#offset) >>> 0);
  }

  /** The position of the newest item that has a key; looks at one after another. */
  newestWith(key: string, keyOf: (item: T) => string): number | undefined {
    const slots = this.#slots;
    for (let slot = slots.length - 1; slot >= this.#first; slot--) {
      const item = slots[slot];
      if (item !== undefined && keyOf(item) === key) return this.#offset + slot;
    }
    return undefined;
  }

  /** Empties a position that holds an item. */
  drop(position: number): void {
    this.#slots[position - this.#offset] = undefined;
    this.#size--;
    while (this.#slots.length > this.#first && this.#slots[this.#slots.length - 1] === undefined) this.#slots.pop();
    while (this.#first < this.#slots.length && this.#slots[this.#first] === undefined) this.#first++;
    if (this.#first > FEW_HOLES && this.#first * 2 > this.#slots.length) {
      this.#slots = this.#slots.slice(this.#first);
      this.#offset += this.#first;
      this.#first = 0;
    }
  }

  /** The item at a place counted from the oldest, or from the end when negative. O(1) without holes. */
  nth(place: number): T | undefined {
    if (!Number.isInteger(place) || place >= this.#size || place < -this.#size) return undefined;
    if (this.#isDense) return this.#slots[place < 0 ? this.#slots.length + place : this.#first + place];
    const fromEnd = place < 0 ? -place - 1 : this.#size - place - 1;
    const fromStart = this.#size - fromEnd - 1;
    let left = Math.min(fromStart, fromEnd);
    for (const item of fromStart < fromEnd ? this.oldestFirst() : this.newestFirst()) {
      if (left-- === 0) return item;
    }
    return undefined;
  }

  /** The newest `k`, oldest of them first. */
  newest(k: number): T[] {
    const from = k >= this.#size ? this.#first : this.#slots.length - k;
    if (this.#isDense) return this.#slots.slice(from) as T[];
    if (k >= this.#size) return this.#slots.slice(from).filter((item) => item !== undefined);
    const items: T[] = [];
    for (const item of this.newestFirst()) {
      if (items.length === k) break;
      items.push(item);
    }
    return items.reverse();
  }

  /** Visits every item with its position, oldest first. */
  forEach(visit: (item: T, position: number) => void): void {
    this.#slots.forEach((item, slot) => {
      if (item !== undefined) visit(item, this.#offset + slot);
    });
  }

  *oldestFirst(): Generator<T, void> {
    for (let position = this.#offset + this.#first; position < this.#offset + this.#slots.length; position++) {
      const item = this.at(position);
      if (item !== undefined) yield item;
    }
  }

  *newestFirst(): Generator<T, void> {
    for (let position = this.#offset + this.#slots.length - 1; position >= this.#offset + this.#first; position--) {
      const item = this.at(position);
      if (item !== undefined) yield item;
    }
  }

  get #isDense(): boolean {
    return this.#slots.length - this.#first === this.#size;
  }
}
