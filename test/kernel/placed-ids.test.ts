import { describe, expect, it } from "vitest";
import { MANY_IDS, PlacedIds } from "../../src/kernel/placed-ids.ts";
import { PlacedList } from "../../src/kernel/placed-list.ts";

interface Item {
  readonly id: string;
}

const idOf = ({ id }: Item): string => id;

function add(ids: PlacedIds<Item>, list: PlacedList<Item>, id: string): boolean {
  const { end } = list;
  const position = ids.add(id, { id });
  if (position !== undefined && position !== end) throw new Error(`${id} is at ${position} and not at ${end}`);
  return position !== undefined && list.end === end + 1;
}

describe("PlacedIds", () => {
  it.each([10, MANY_IDS - 1, MANY_IDS, MANY_IDS + 1, 2 * MANY_IDS])(
    "PI1 it knows exactly %i ids, those it began with and those added",
    (count) => {
      for (const before of [0, 5, count]) {
        const list = new PlacedList<Item>();
        for (let n = 0; n < before; n++) list.push({ id: `m${n}` });
        const ids = new PlacedIds(list, idOf);
        const wrong: number[] = [];
        for (let n = before; n < count; n++) if (ids.has(`m${n}`) || !add(ids, list, `m${n}`)) wrong.push(n);
        for (let n = 0; n < count; n++) if (ids.find(`m${n}`) !== n || !ids.has(`m${n}`) || add(ids, list, `m${n}`)) wrong.push(n);
        expect(wrong).toEqual([]);
        expect([list.size, ids.find("other"), ids.has("other"), ids.delete("other")]).toEqual([count, undefined, false, undefined]);
      }
    },
  );

  it.each([20, MANY_IDS + 1_000])("PI1 of %i ids one that was let go is gone, and may come again elsewhere", (count) => {
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
    const start = 2 ** 32 - MANY_IDS - 10;
    const last = 2 * MANY_IDS - 1;
    const list = new PlacedList<Item>(start);
    const ids = new PlacedIds(list, idOf);
    for (let n = 0; n < 2 * MANY_IDS; n++) add(ids, list, `m${n}`);
    for (let n = 0; n < 2 * MANY_IDS; n++) if (ids.find(`m${n}`) !== start + n) throw new Error(`m${n} is not where it was put`);
    for (let n = 0; n < last; n++) list.drop(ids.delete(`m${n}`) as number);
    expect([ids.find(`m${last}`), list.nth(0)]).toEqual([start + last, { id: `m${last}` }]);
  });
});
