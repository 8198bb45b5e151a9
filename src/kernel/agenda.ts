/**
 * Items by the number at which each is due: a list for each number, and a binary heap of the numbers. A new one among n numbers is O(log n).
 *
 * Agenda.AG1 (`takeFirst`) smaller numbers first, equal ones in order of arrival.
 */
export class Agenda<T> {
  size = 0;
  first: number | undefined;
  readonly #lists = new Map<number, T[]>();
  readonly #heap: number[] = [];

  add(item: T, due: number): void {
    this.size += 1;
    const list = this.#lists.get(due);
    if (list !== undefined) return void list.push(item);
    this.#lists.set(due, [item]);
    let at = this.#heap.push(due) - 1;
    for (let above = (at - 1) >> 1; at > 0 && due < this.#at(above); above = (at - 1) >> 1) {
      this.#heap[at] = this.#at(above);
      at = above;
    }
    this.#heap[at] = due;
    this.first = this.#heap[0];
  }

  takeFirst(): readonly T[] {
    const { first } = this;
    const last = this.#heap.pop();
    if (first === undefined || last === undefined) return [];
    if (this.#heap.length > 0) this.#sink(last);
    const items = this.#lists.get(first) ?? [];
    this.#lists.delete(first);
    this.size -= items.length;
    this.first = this.#heap[0];
    return items;
  }

  inOrder(): T[] {
    return [...this.#lists].sort(([one], [other]) => one - other).flatMap(([, items]) => items);
  }

  #sink(due: number): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const smaller = this.#at(left + 1) < this.#at(left) ? left + 1 : left;
      if (this.#at(smaller) >= due) break;
      this.#heap[at] = this.#at(smaller);
      at = smaller;
    }
    this.#heap[at] = due;
  }

  #at(index: number): number {
    return this.#heap[index] ?? Infinity;
  }
}
