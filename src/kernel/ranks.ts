/**
 * Items under numbers from 0, found by their rank among the present ones: a Fenwick tree of counts.
 *
 * Ranks.K1 (`put`, `remove`, `at`, `after`) each takes time in the logarithm of the size. Ranks.K2 (`put`) a number has at most one item.
 */
export class Ranks<T> {
  readonly size: number;
  readonly #items: (T | undefined)[];
  /** At index `i` the number of items in the `i & -i` numbers before `i`. */
  readonly #counts: Int32Array;
  readonly #top: number;

  constructor(size: number) {
    this.size = size;
    this.#items = Array.from<T | undefined>({ length: size });
    this.#counts = new Int32Array(size + 1);
    this.#top = 2 ** Math.floor(Math.log2(Math.max(1, size)));
  }

  put(number: number, item: T): void {
    if (this.#items[number] === undefined) this.#count(number, 1);
    this.#items[number] = item;
  }

  remove(number: number): void {
    if (this.#items[number] === undefined) return;
    this.#items[number] = undefined;
    this.#count(number, -1);
  }

  /** Returns the item of a rank, 0 for that of the smallest number; undefined if there are fewer items. */
  at(rank: number): T | undefined {
    if (rank < 0) return undefined;
    let number = 0;
    let before = rank;
    for (let step = this.#top; step > 0; step >>= 1) {
      const count = number + step > this.size ? Infinity : (this.#counts[number + step] ?? 0);
      if (count > before) continue;
      number += step;
      before -= count;
    }
    return this.#items[number];
  }

  /** Returns the item of the smallest number above one; undefined if there is none. */
  after(number: number): T | undefined {
    let rank = 0;
    for (let index = Math.min(number + 1, this.size); index > 0; index -= index & -index) rank += this.#counts[index] ?? 0;
    return this.at(rank);
  }

  #count(number: number, change: number): void {
    for (let index = number + 1; index <= this.size; index += index & -index) this.#counts[index] = (this.#counts[index] ?? 0) + change;
  }
}
