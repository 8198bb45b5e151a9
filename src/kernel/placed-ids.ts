import { IdTable } from "./id-table.ts";
import type { PlacedList } from "./placed-list.ts";

/**
 * From here on a table of our own is quicker than a `Map`, and smaller. By itself it is from 4,096 on; in a process that just began the
 * change to it costs what it saves by some 20,000.
 */
export const MANY_IDS = 32_768;

/**
 * Where in a list the item of each id stands.
 *
 * Owns the choice of how that is kept: a `Map` for some, a table that keeps no id for many, from then on for good. The list owns the items,
 * and gets each by `add` from now on; each has one id, that never changes.
 *
 * PI1 it knows exactly the ids that were added and not deleted. PI2 `find`, `has`, `add` and `delete` are O(1) amortised. PI3 an id is let go
 * before its item is dropped.
 */
export class PlacedIds<T extends object> {
  readonly #list: PlacedList<T>;
  readonly #idOf: (item: T) => string;
  /** Undefined once there are many. */
  #some: Map<string, number> | undefined = new Map();
  #many: IdTable | undefined;
  /** Two ids last asked for in vain while there are some, and not added since: what is to be added has mostly just been asked for. */
  #missing: string | undefined;
  #missingBefore: string | undefined;

  /** Knows at first what the list holds: no two items of one id. O(list). */
  constructor(list: PlacedList<T>, idOf: (item: T) => string) {
    this.#list = list;
    this.#idOf = idOf;
    if (list.size > MANY_IDS) this.#spread(list.size);
    else list.forEach((item, position) => this.#some?.set(idOf(item), position));
  }

  find(id: string): number | undefined {
    return this.#many === undefined ? this.#some?.get(id) : this.#unwrapped(this.#many.find(id));
  }

  has(id: string): boolean {
    if (this.#many !== undefined) return this.#many.has(id);
    if (id === this.#missing || id === this.#missingBefore) return false;
    if (this.#some?.has(id) === true) return true;
    this.#missingBefore = this.#missing;
    this.#missing = id;
    return false;
  }

  /** Puts the item of an id at the end of the list and gives its position; undefined, and nothing changes, when the id is known. */
  add(id: string, item: T): number | undefined {
    const some = this.#some;
    if (some === undefined) return this.#many?.add(id, this.#list.end) === true ? this.#list.push(item) : undefined;
    if (id === this.#missing) this.#missing = undefined;
    else if (id === this.#missingBefore) this.#missingBefore = undefined;
    else if (some.has(id)) return undefined;
    const position = this.#list.push(item);
    if (some.size < MANY_IDS) some.set(id, position);
    else this.#spread(this.#list.size);
    return position;
  }

  /** Lets an id go; gives the position it had. */
  delete(id: string): number | undefined {
    if (this.#many !== undefined) return this.#unwrapped(this.#many.delete(id));
    const position = this.#some?.get(id);
    if (position !== undefined) this.#some?.delete(id);
    return position;
  }

  #unwrapped(position: number | undefined): number | undefined {
    return position === undefined ? undefined : this.#list.unwrapped(position);
  }

  #spread(expected: number): IdTable {
    const list = this.#list;
    const many = new IdTable({ idAt: (position) => this.#idOf(list.at(list.unwrapped(position)) as T), expected });
    list.forEach((item, position) => many.add(this.#idOf(item), position));
    this.#some = undefined;
    this.#missing = undefined;
    this.#missingBefore = undefined;
    this.#many = many;
    return many;
  }
}
