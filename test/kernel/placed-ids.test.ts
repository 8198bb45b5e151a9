import { describe, expect, it } from "vitest";
import { PlacedIds } from "../../src/kernel/placed-ids.ts";
import { PlacedList } from "../../src/kernel/placed-list.ts";

const MANY = 4_096;

interface Item {
  readonly id: string;
}

const idOf = ({ id }: Item): string => id;

function add(ids: PlacedIds<Item>, list: PlacedList<Item>, id: string): boolean {
  return ids.add(id, list.end) && list.push({ id }) >= 0;
}

describe("PlacedIds", () => {
  it.each([10, MANY - 1, MANY, MANY + 1, 2 * MANY])("PI1 it knows exactly %i ids, those it began with and those added", (count) => {
    for (const before of [0, 5, count]) {
      const list = new PlacedList<Item>();
      for (let n = 0; n < before; n++) list.push({ id: `m${n}` });
      const ids = new PlacedIds(list, idOf);
      for (let n = before; n < count; n++) {
        expect(ids.has(`m${n}`)).toBe(false);
        expect(add(ids, list, `m${n}`)).toBe(true);
      }
      for (let n = 0; n < count; n++) {
        expect([ids.find(`m${n}`), ids.has(`m${n}`)]).toEqual([n, true]);
        expect(add(ids, list, `m${n}`)).toBe(false);
      }
      expect([list.size, ids.find("other"), ids.has("other"), ids.delete("other")]).toEqual([count, undefined, false, undefined]);
    }
  });

  it.each([20, 3 * MANY])("PI1 of %i ids one that was let go is gone, and may come again elsewhere", (count) => {
    const list = new PlacedList<Item>();
    const ids = new PlacedIds(list, idOf);
    for (let n = 0; n < count; n++) add(ids, list, `m${n}`);
    for (let n = 0; n < count; n += 3) {
      expect(ids.delete(`m${n}`)).toBe(n);
      list.drop(n);
      expect([ids.find(`m${n}`), ids.has(`m${n}`), ids.delete(`m${n}`)]).toEqual([undefined, false, undefined]);
    }
    for (let n = 0; n < count; n += 3) expect(add(ids, list, `m${n}`)).toBe(true);
    for (let n = 0; n < count; n++) expect(list.at(ids.find(`m${n}`) as number)).toEqual({ id: `m${n}` });
  });

  it("PI1 what was asked for in vain is known once it is there, and unknown once it is gone", () => {
    const list = new PlacedList<Item>();
    const ids = new PlacedIds(list, idOf);
    for (const id of ["a", "b", "c"]) expect(ids.has(id)).toBe(false);
    for (const id of ["b", "c", "a"]) expect([add(ids, list, id), ids.has(id), add(ids, list, id)]).toEqual([true, true, false]);
    list.drop(ids.delete("b") as number);
    expect([ids.has("b"), add(ids, list, "b"), ids.has("b")]).toEqual([false, true, true]);
  });

  it("PI1 positions above 2^32 are found whole, before and after they pass it", () => {
    const start = 2 ** 32 - MANY - 10;
    const list = new PlacedList<Item>(start);
    const ids = new PlacedIds(list, idOf);
    for (let n = 0; n < 2 * MANY; n++) add(ids, list, `m${n}`);
    for (let n = 0; n < 2 * MANY; n++) expect(ids.find(`m${n}`)).toBe(start + n);
    for (let n = 0; n < 2 * MANY - 1; n++) list.drop(ids.delete(`m${n}`) as number);
    expect([ids.find("m8191"), list.nth(0)]).toEqual([start + 8191, { id: "m8191" }]);
  });
});
