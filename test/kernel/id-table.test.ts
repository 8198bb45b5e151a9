import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdTable } from "../../src/kernel/id-table.ts";
import { quickHash, type TextHash } from "../../src/kernel/text-hash.ts";

interface Setup {
  readonly quick?: TextHash;
  readonly keyed?: TextHash;
  readonly reach?: number;
}

/** A table and what it stands for: ids by position, as a log would have them. */
function tableOf(setup: Setup = {}) {
  const ids = new Map<number, string>();
  let reads = 0;
  let distrusted = 0;
  const idAt = (position: number): string => {
    reads += 1;
    const id = ids.get(position);
    if (id === undefined) throw new Error(`Asked for position ${position}, which holds nothing.`);
    return id;
  };
  const { keyed = quickHash, ...more } = setup;
  const counted: TextHash = (id) => {
    distrusted += 1;
    return keyed(id);
  };
  const table = new IdTable({ idAt, expected: 0, keyed: counted, ...more });
  return {
    table,
    add(id: string, position: number): boolean {
      const isNew = table.add(id, position);
      if (isNew) ids.set(position % 2 ** 32, id);
      return isNew;
    },
    delete(id: string): number | undefined {
      const position = table.delete(id);
      if (position !== undefined) ids.delete(position);
      return position;
    },
    reads: () => reads,
    isDistrusting: () => distrusted > 0,
  };
}

const hashes: readonly (readonly [string, TextHash])[] = [
  ["the quick one", quickHash],
  ["one number for all", () => 7],
  ["nothing for all", () => 0],
  ["three numbers, one before the end of the slots", (id) => -1 + (id.length % 3)],
  ["homes in a row", (id) => Number(id)],
  ["one home, and a number for each", (id) => Math.imul(Number(id), 2 ** 16)],
  ["no whole number", (id) => Number(id) + 2 ** 33 + 0.5],
];

describe("IdTable", () => {
  it.each(hashes)("IT1 property: it knows what a Map knows, under %s", (_, quick) => {
    const id = fc.nat(120).map(String);
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ does: fc.constant("add" as const), id }) },
      { weight: 3, arbitrary: fc.record({ does: fc.constant("delete" as const), id }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.constantFrom(2, 5, 1024), (steps, reach) => {
        const { table, add, delete: remove } = tableOf({ quick, reach });
        const model = new Map<string, number>();
        for (const [position, each] of steps.entries()) {
          if (each.does === "add") {
            expect(add(each.id, position)).toBe(!model.has(each.id));
            if (!model.has(each.id)) model.set(each.id, position);
          } else {
            expect(remove(each.id)).toBe(model.get(each.id));
            model.delete(each.id);
          }
          expect(table.size).toBe(model.size);
          expect(table.find(each.id)).toBe(model.get(each.id));
        }
        for (let n = 0; n <= 120; n++) {
          expect(table.find(String(n))).toBe(model.get(String(n)));
          expect(table.has(String(n))).toBe(model.has(String(n)));
        }
      }),
    );
  });

  it("IT1 it grows, and finds all it had and nothing else, whether it was told how many would come or not", () => {
    for (const expected of [0, 5_000]) {
      const table = new IdTable({ idAt: (position) => `m${position}`, expected });
      for (let n = 0; n < 5_000; n++) expect(table.add(`m${n}`, n)).toBe(true);
      for (let n = 0; n < 5_000; n++) expect(table.find(`m${n}`)).toBe(n);
      for (let n = 5_000; n < 10_000; n++) expect(table.has(`m${n}`)).toBe(false);
      for (let n = 0; n < 5_000; n += 2) expect(table.delete(`m${n}`)).toBe(n);
      for (let n = 0; n < 5_000; n++) expect(table.find(`m${n}`)).toBe(n % 2 === 0 ? undefined : n);
    }
  });

  it("IT1 positions are kept modulo 2^32", () => {
    const { table, add, delete: remove } = tableOf();
    for (const [id, position] of [
      ["a", 2 ** 31 - 1],
      ["b", 2 ** 31],
      ["c", 2 ** 32 - 1],
      ["d", 2 ** 32 + 5],
      ["e", 2 ** 50 + 6],
    ] as const) {
      expect(add(id, position)).toBe(true);
      expect(table.find(id)).toBe(position % 2 ** 32);
    }
    expect(remove("c")).toBe(2 ** 32 - 1);
    expect(add("d", 9)).toBe(false);
  });

  it("IT2 growing takes nobody farther from home, though a row goes over the end of the slots", () => {
    // A row from slot 28 of 32 to slot 11. From slot 0 on, those of home 28 would come last and stand behind all others.
    const homeOf = (n: number): number => (n === 16 ? 60 : n < 4 ? 28 : 28 + (n >> 1));
    const { table, add, isDistrusting } = tableOf({ quick: (id) => homeOf(Number(id)) + 64 * Number(id), reach: 9 });
    for (let n = 0; n < 16; n++) add(String(n), n);
    for (let n = 0; n < 16; n++) expect(table.find(String(n))).toBe(n);
    add("16", 16);
    expect(isDistrusting()).toBe(false);
    for (let n = 0; n <= 16; n++) expect(table.find(String(n))).toBe(n);
  });

  it("IT2 ids of one hash are told by the other one from the ninth on, for good", () => {
    const { table, add, isDistrusting } = tableOf({ quick: () => 1 });
    for (let n = 0; n < 8; n++) add(`m${n}`, n);
    expect([table.find("m7"), table.has("other"), isDistrusting()]).toEqual([7, false, false]);
    add("m8", 8);
    expect([table.find("m0"), table.find("m8"), isDistrusting()]).toEqual([0, 8, true]);
  });

  it("IT2 ids of one home are told by the other hash once they stand too far from it", () => {
    const { table, add, isDistrusting } = tableOf({ quick: (id) => Math.imul(Number(id), 2 ** 20) + 3, reach: 6 });
    for (let n = 1; n <= 6; n++) add(String(n), n);
    expect([table.find("6"), isDistrusting()]).toEqual([6, false]);
    add("7", 7);
    expect([table.find("1"), table.find("7"), isDistrusting()]).toEqual([1, 7, true]);
  });

  it.each([
    ["one role", (n: number) => `Writer#${n}.0`],
    ["a hundred roles", (n: number) => `R${n % 100}#${Math.floor(n / 100)}.0`],
    ["activations that say ten things", (n: number) => `Writer#${Math.floor(n / 10)}.${n % 10}`],
    ["roles that say one thing", (n: number) => `L${n}#0.0`],
    ["numbers", (n: number) => `m${n}`],
  ])("IT2 honest ids are not too far from home: %s", (_, idOf) => {
    const { table, add, delete: remove, isDistrusting } = tableOf();
    for (let n = 0; n < 65_536; n++) add(idOf(n), n);
    for (let n = 0; n < 65_536; n += 2) remove(idOf(n));
    expect([table.size, isDistrusting()]).toEqual([32_768, false]);
  });

  it("IT2 a gap in a row too long to be closed loses nobody behind it", () => {
    const { table, add, delete: remove } = tableOf({ quick: (id) => Number(id), reach: 4 });
    for (let n = 1; n <= 15; n++) add(String(n), n);
    expect(remove("1")).toBe(1);
    for (let n = 2; n <= 15; n++) expect(table.find(String(n))).toBe(n);
    expect(table.has("1")).toBe(false);
  });

  it.each(hashes)("IT2 thousands of ids are looked at a few times each, chosen or not, under %s", (_, quick) => {
    const count = 4_000;
    const { table, add, delete: remove, reads } = tableOf({ quick });
    for (let n = 0; n < count; n++) add(String(n), n);
    for (let n = 0; n < count; n++) table.has(String(n));
    for (let n = 0; n < count; n++) add(String(n), n);
    for (let n = 0; n < count; n++) remove(String(n));
    expect(table.size).toBe(0);
    // Once for each that is there and asked for, and once each for a change of the hash.
    expect(reads()).toBeLessThan(count * 4.1);
  });
});
