import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { Deque } from "../../src/kernel/deque.ts";
import { bytesKeptBy, collectGarbage } from "./garbage.ts";

describe("Deque", () => {
  test("an empty line gives nothing", () => {
    const line = new Deque<number>();
    expect(line.size).toBe(0);
    expect(line.shift()).toBeUndefined();
    expect(line.at(0)).toBeUndefined();
    expect([...line]).toEqual([]);
  });

  test("Deque.DQ1 items leave in the order they came", () => {
    const line = new Deque<string>();
    for (const word of ["one", "two", "three"]) line.push(word);
    expect([line.shift(), line.shift(), line.shift(), line.shift()]).toEqual(["one", "two", "three", undefined]);
  });

  test("at counts from the front and is undefined outside", () => {
    const line = new Deque<number>();
    for (let item = 0; item < 10; item++) line.push(item);
    line.shift();
    expect([line.at(0), line.at(8), line.at(9), line.at(-1)]).toEqual([1, 9, undefined, undefined]);
  });

  test("an item may be undefined itself", () => {
    const line = new Deque<undefined>();
    line.push(undefined);
    expect(line.size).toBe(1);
    line.shift();
    expect(line.size).toBe(0);
  });

  test("a walk sees what comes meanwhile", () => {
    const line = new Deque<number>();
    line.push(3);
    const seen: number[] = [];
    for (const item of line) {
      seen.push(item);
      if (item > 0) line.push(item - 1);
    }
    expect(seen).toEqual([3, 2, 1, 0]);
  });

  test("Deque.DQ1 property: it behaves as an array does, whatever comes and goes", () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ push: fc.integer() }) },
      { weight: 2, arbitrary: fc.constant("shift" as const) },
      { weight: 1, arbitrary: fc.record({ shifts: fc.nat(40) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.nat(60), (steps, filled) => {
        const line = new Deque<number>();
        const model: number[] = [];
        for (let item = 0; item < filled; item++) {
          line.push(item);
          model.push(item);
        }
        for (const each of steps) {
          if (each === "shift") expect(line.shift()).toBe(model.shift());
          else if ("push" in each) {
            line.push(each.push);
            model.push(each.push);
          } else for (let n = 0; n < each.shifts; n++) expect(line.shift()).toBe(model.shift());
          expect(line.size).toBe(model.length);
          expect(line.at(0)).toBe(model[0]);
          expect(line.at(model.length - 1)).toBe(model.at(-1));
        }
        expect([...line]).toEqual(model);
      }),
    );
  });

  test("Deque.DQ3 what has left can be collected", async () => {
    const line = new Deque<object>();
    const refs = [{}, {}].map((item) => {
      line.push(item);
      return new WeakRef(item);
    });
    line.shift();
    // A weak reference holds on until the end of the task that made it.
    await nextMacrotask();
    collectGarbage();
    expect(refs.map((ref) => ref.deref() !== undefined)).toEqual([false, true]);
    expect(line.size).toBe(1);
  });

  test("Deque.DQ3 a line that was long and is short again gives its memory back", { tags: ["numbers", "long"] }, () => {
    const shortened = (): Deque<number> => {
      const line = new Deque<number>();
      for (let item = 0; item < 500_000; item++) line.push(item);
      while (line.size > 10) line.shift();
      return line;
    };
    expect(bytesKeptBy(shortened)).toBeLessThan(500_000);
    expect([...shortened()]).toHaveLength(10);
  });
});
