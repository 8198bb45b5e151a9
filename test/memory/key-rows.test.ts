import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyRows } from "../../src/memory/key-rows.ts";

describe("KeyRows", () => {
  const keys = fc.oneof(
    fc.nat(40),
    fc.integer({ min: 2 ** 31, max: 2 ** 31 + 40 }),
    fc.nat(40).map((n) => n * 2 ** 32),
    fc.nat(40).map((n) => n * 128),
  );

  it("knows the row of every key, and the key of every row, whatever comes and goes", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), keys), { maxLength: 400 }), (steps) => {
        const rows = new KeyRows();
        const model: number[] = [];
        for (const [isNew, key] of steps) {
          const at = model.indexOf(key);
          if (isNew && at === -1) expect(rows.push(key)).toBe(model.push(key) - 1);
          if (!isNew && at !== -1) {
            rows.remove(key);
            const last = model.pop() as number;
            if (at < model.length) model[at] = last;
          }
        }
        expect(rows.size).toBe(model.length);
        expect(model.map((key) => rows.rowOf(key))).toEqual(model.map((_, row) => row));
        expect(model.map((_, row) => rows.keyOf(row))).toEqual(model);
        for (const [, key] of steps) if (!model.includes(key)) expect(rows.rowOf(key)).toBeUndefined();
      }),
    );
  });

  it("finds all of many, and half of them when the others are gone", () => {
    const rows = new KeyRows();
    for (let key = 0; key < 50_000; key++) rows.push(key * 3);
    for (let key = 0; key < 50_000; key += 2) rows.remove(key * 3);
    expect(rows.size).toBe(25_000);
    const wrong = Array.from({ length: 50_000 }, (_, n) => n).filter((n) => {
      const row = rows.rowOf(n * 3);
      return n % 2 === 0 ? row !== undefined : row === undefined || rows.keyOf(row) !== n * 3;
    });
    expect(wrong).toEqual([]);
    rows.clear();
    expect(rows.rowOf(3)).toBeUndefined();
    expect(rows.push(3)).toBe(0);
  });
});
