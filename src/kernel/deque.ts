const SMALLEST = 4;

/**
 * A first-in, first-out queue in a ring buffer. It owns the slots; the items belong to its owner.
 *
 * Deque.DQ1 (`shift`) items leave in the order they came.
 * Deque.DQ2 (`#resize`) `push` and `shift` are O(1) amortised, however long the queue is.
 * Deque.DQ3 (`shift`) an emptied slot holds no item, and a queue that became short frees memory.
 */
export class Deque<T> implements Iterable<T> {
  #slots: (T | undefined)[] = [];
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    if (this.#size === this.#slots.length) this.#resize(Math.max(SMALLEST, this.#size * 2));
    const slots = this.#slots;
    // `#slotOf` inlined: all mail of busy roles passes here.
    slots[(this.#head + this.#size) & (slots.length - 1)] = item;
    this.#size++;
  }

  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = this.#slotOf(1);
    this.#size--;
    if (this.#slots.length > SMALLEST && this.#size * 4 <= this.#slots.length) this.#resize(this.#slots.length / 2);
    return item;
  }

  at(index: number): T | undefined {
    return index >= 0 && index < this.#size ? this.#slots[this.#slotOf(index)] : undefined;
  }

  first(n: number): T[] {
    const end = this.#head + Math.min(n, this.#size);
    const items = this.#slots.slice(this.#head, end) as T[];
    const { length } = this.#slots;
    return end > length ? items.concat(this.#slots.slice(0, end - length) as T[]) : items;
  }

  some(isMeant: (item: T) => boolean): boolean {
    for (let index = 0; index < this.#size; index++) if (isMeant(this.#slots[this.#slotOf(index)] as T)) return true;
    return false;
  }

  /** Also yields items added during the iteration. */
  *[Symbol.iterator](): Generator<T, void> {
    for (let index = 0; index < this.#size; index++) yield this.#slots[this.#slotOf(index)] as T;
  }

  /** Lengths are powers of two, so a mask wraps the index. */
  #slotOf(index: number): number {
    return (this.#head + index) & (this.#slots.length - 1);
  }

  /** Copied together: one by one takes longer than the rest of their path. */
  #resize(length: number): void {
    const slots: (T | undefined)[] = this.first(this.#size);
    while (slots.length < length) slots.push(undefined);
    this.#slots = slots;
    this.#head = 0;
  }
}
