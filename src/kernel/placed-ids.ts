import { IdTable } from "./id-table.ts";
import type { PlacedList } from "./placed-list.ts";

/**
 * Where in a list the item of each id stands.
 *
 * Owns that a table which counts positions modulo 2^32 tells them whole. The list owns the items; each has one id, that never changes.
 *
 * PI1 it knows exactly the ids that were added and not deleted. PI2 `find`, `has`, `add` and `delete` are O(1) amortised. PI3 an id is let go
 * before its item is dropped.
 */
export class PlacedIds<T extends object> {
  readonly #list: PlacedList<T>;
  readonly #table: IdTable;

  /** Knows at first what the list holds: no two items of one id. O(list). */
  constructor(list: PlacedList<T>, idOf: (item: T) => string) {
    this.#list = list;
    this.#table = new IdTable({ idAt: (position) => idOf(list.at(list.unwrapped(position)) as T), expected: list.size });
    list.forEach((item, position) => this.#table.add(idOf(item), position));
  }

  find(id: string): number | undefined {
    return this.#unwrapped(this.#table.find(id));
  }

  has(id: string): boolean {
    return this.#table.has(id);
  }

  /** Takes in the id of the item that the list is about to get. False, and nothing changes, when the id is known. */
  add(id: string, position: number): boolean {
    return this.#table.add(id, position);
  }

  /** Lets an id go; gives the position it had. */
  delete(id: string): number | undefined {
    return this.#unwrapped(this.#table.delete(id));
  }

  #unwrapped(position: number | undefined): number | undefined {
    return position === undefined ? undefined : this.#list.unwrapped(position);
  }
}
