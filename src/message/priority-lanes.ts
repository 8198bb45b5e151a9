import { Deque } from "../kernel/deque.ts";

interface Lane<T> {
  readonly priority: number;
  readonly line: Deque<T>;
}

/**
 * Items in order of priority, and in order of arrival within one priority: a ring buffer for each priority in use, in a binary heap.
 *
 * PriorityLanes.L1 (`#isMoreUrgent`) smaller numbers leave first; equal numbers leave in order of arrival. PriorityLanes.L2 (`#open`, `#closeFirst`)
 * with p priorities in use, `push` and `shift` are O(log p), and O(1) while the priorities in use stay the same. An empty lane is kept for the
 * last priority only, which is likely to be used again.
 */
export class PriorityLanes<T> {
  /** A heap: the lane at n is at least as urgent as those at 2n + 1 and 2n + 2. No lane in it is empty. */
  readonly #heap: Lane<T>[] = [];
  /** All lanes of the heap by priority; undefined until there are two. */
  #byPriority: Map<number, Lane<T>> | undefined;
  /** Empty, and not in the heap. */
  #spare: Lane<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns true when one of the items matches. O(items). */
  some(isMeant: (item: T) => boolean): boolean {
    return this.#heap.some(({ line }) => line.some(isMeant));
  }

  /** True where the first `n` items, or more, have this priority. */
  has(n: number, priority: number): boolean {
    const [first] = this.#heap;
    return first?.priority === priority && first.line.size >= n;
  }

  push(item: T, priority: number): void {
    const first = this.#heap[0];
    const lane = first?.priority === priority ? first : (this.#byPriority?.get(priority) ?? this.#open(priority));
    lane.line.push(item);
    this.#size += 1;
  }

  /** Returns the first `n` items in the order they would leave. */
  first(n: number): T[] {
    const [next] = this.#heap;
    // The first lane has them all: to look at the next item is O(1), however many priorities there are.
    if (next !== undefined && (this.#heap.length === 1 || n <= next.line.size)) return next.line.first(n);
    const items: T[] = [];
    if (n === 0) return items;
    for (const { item } of this.inOrder()) if (items.push(item) === n) break;
    return items;
  }

  shift(): T | undefined {
    const lane = this.#heap[0];
    if (lane === undefined) return undefined;
    const item = lane.line.shift();
    this.#size -= 1;
    if (lane.line.size === 0) this.#closeFirst(lane);
    return item;
  }

  /** Items with their priorities, in the order they would leave. O(p log p) to start. */
  *inOrder(): Generator<{ readonly item: T; readonly priority: number }, void> {
    const lanes = this.#heap.toSorted((a, b) => a.priority - b.priority);
    for (const { priority, line } of lanes) {
      for (const item of line) yield { item, priority };
    }
  }

  #open(priority: number): Lane<T> {
    const lane = this.#spare?.priority === priority ? this.#spare : { priority, line: new Deque<T>() };
    this.#spare = undefined;
    const [other] = this.#heap;
    if (other !== undefined) (this.#byPriority ??= new Map()).set(other.priority, other).set(priority, lane);
    let place = this.#heap.push(lane) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isMoreUrgent(place, above)) break;
      this.#swap(place, above);
      place = above;
    }
    return lane;
  }

  #closeFirst(lane: Lane<T>): void {
    this.#spare = lane;
    this.#byPriority?.delete(lane.priority);
    if (this.#heap.length === 1) return void this.#heap.pop();
    this.#swap(0, this.#heap.length - 1);
    this.#heap.pop();
    let place = 0;
    for (;;) {
      let urgent = place;
      if (this.#isMoreUrgent(2 * place + 1, urgent)) urgent = 2 * place + 1;
      if (this.#isMoreUrgent(2 * place + 2, urgent)) urgent = 2 * place + 2;
      if (urgent === place) return;
      this.#swap(place, urgent);
      place = urgent;
    }
  }

  #isMoreUrgent(place: number, than: number): boolean {
    const one = this.#heap[place];
    const other = this.#heap[than];
    return one !== undefined && other !== undefined && one.priority < other.priority;
  }

  #swap(one: number, other: number): void {
    const kept = this.#heap[one] as Lane<T>;
    this.#heap[one] = this.#heap[other] as Lane<T>;
    this.#heap[other] = kept;
  }
}
