const SMALLEST = 4;

/**
 * A first-in, first-out line in a ring buffer.
 *
 * Owns the slots; what stands in line is its owner's business.
 *
 * Deque.DQ1 items leave in the order they came. Deque.DQ2 `push` and `shift` are O(1) amortised, however long the line is.
 * Deque.DQ3 a slot that was left holds nothing, and a line that got short gives memory back.
 */
export class Deque<T> implements Iterable<T> {
  #slots: (T | undefined)[] = [];
  #head = 0;
  #size = 0;

  /** How many items stand in line. */
  get size(): number {
    return this.#size;
  }

  /** Puts an item at the end. */
  push(item: T): void {
    if (this.#size === this.#slots.length) this.#resize(Math.max(SMALLEST, this.#size * 2));
    const slots = this.#slots;
    // As `#slotOf`, without the call: all mail of the busy comes by here.
    slots[(this.#head + this.#size) & (slots.length - 1)] = item;
    this.#size++;
  }

  /** Takes the first item, or `undefined` from an empty line. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = this.#slotOf(1);
    this.#size--;
    if (this.#slots.length > SMALLEST && this.#size * 4 <= this.#slots.length) this.#resize(this.#slots.length / 2);
    return item;
  }

  /** The item at a place in line, 0 being the first; `undefined` outside. */
  at(place: number): T | undefined {
    return place >= 0 && place < this.#size ? this.#slots[this.#slotOf(place)] : undefined;
  }

  /** The first `n` items, or all there are. */
  first(n: number): T[] {
    const end = this.#head + Math.min(n, this.#size);
    const items = this.#slots.slice(this.#head, end) as T[];
    const { length } = this.#slots;
    return end > length ? items.concat(this.#slots.slice(0, end - length) as T[]) : items;
  }

  /** True when one of the items is what is looked for. */
  some(isMeant: (item: T) => boolean): boolean {
    for (let place = 0; place < this.#size; place++) if (isMeant(this.#slots[this.#slotOf(place)] as T)) return true;
    return false;
  }

  /** The items in the order they would leave. Items that come during the walk are seen too. */
  *[Symbol.iterator](): Generator<T, void> {
    for (let place = 0; place < this.#size; place++) yield this.#slots[this.#slotOf(place)] as T;
  }

  /** Lengths are powers of two, so that the ring closes by a mask. */
  #slotOf(place: number): number {
    return (this.#head + place) & (this.#slots.length - 1);
  }

  /** Those in line are copied together: in a process that just began, one after another takes longer than all else that they go through. */
  #resize(length: number): void {
    const slots: (T | undefined)[] = this.first(this.#size);
    while (slots.length < length) slots.push(undefined);
    this.#slots = slots;
    this.#head = 0;
  }
}
