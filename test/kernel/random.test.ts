import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freshSeed, LightStream, type Random, randomStream } from "../../src/kernel/random.ts";

function first(count: number, next: () => number): number[] {
  return Array.from({ length: count }, next);
}

describe("randomStream", () => {
  // Worked out by a second implementation in another language: a recorded run must find the same numbers in any later version.
  test.each([
    [["seed"], [1751622311, 4073126796, 1480001498, 1317430388]],
    [
      ["seed", "role", "Alice"],
      [1982247023, 4013705365, 2880279424, 3228859558],
    ],
    [
      ["seed", 1],
      [3880488895, 40614360, 894418898, 2394470583],
    ],
    [[""], [733569104, 557934697, 32523978, 517657814]],
  ] as const)("the stream %j is the same on every machine and for ever", ([seed, ...path], expected) => {
    expect(first(4, randomStream(seed, ...path)).map((number) => number * 2 ** 32)).toEqual(expected);
  });

  test("property: the same name gives the same numbers, all in [0, 1)", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.oneof(fc.string(), fc.integer())), (seed, path) => {
        const numbers = first(20, randomStream(seed, ...path));
        expect(first(20, randomStream(seed, ...path))).toEqual(numbers);
        expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
      }),
    );
  });

  test("property: another name gives other numbers, however alike the names are", () => {
    const name = fc.tuple(fc.string({ maxLength: 3 }), fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.nat(9)), { maxLength: 3 }));
    fc.assert(
      fc.property(name, name, ([seed, path], [otherSeed, otherPath]) => {
        fc.pre(JSON.stringify([seed, path]) !== JSON.stringify([otherSeed, otherPath]));
        expect(first(4, randomStream(otherSeed, ...otherPath))).not.toEqual(first(4, randomStream(seed, ...path)));
      }),
    );
    expect(randomStream("a", "b", "c")()).not.toBe(randomStream("a", "bc")());
    expect(randomStream("a", 1)()).not.toBe(randomStream("a", "1")());
  });

  test("drawing from one stream does not move another", () => {
    const undisturbed = first(5, randomStream("seed", "a"));
    const a = randomStream("seed", "a");
    const b = randomStream("seed", "b");
    const mixed = first(5, () => {
      b();
      return a();
    });
    expect(mixed).toEqual(undisturbed);
  });

  test("numbers fill the interval evenly", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    const next = randomStream("even");
    for (let n = 0; n < 100_000; n++) tenths[Math.floor(next() * 10)]!++;
    // 10,000 each with a standard deviation of 95.
    for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });
});

function lightStream(...path: ConstructorParameters<typeof LightStream>): Random {
  const stream = new LightStream(...path);
  return () => stream.next();
}

describe("LightStream", () => {
  test.each([
    [
      ["seed", "Ann", 0],
      [985969459, 3640149804, 2002488405, 3861465313],
    ],
    [
      ["seed", "Ann", 1],
      [2268881247, 735921993, 2591099933, 1950267795],
    ],
    [
      ["", "A", 7],
      [3033831651, 2731088071, 2337892240, 68430882],
    ],
  ] as const)("the stream %j is the same on every machine and for ever", ([seed, name, n], expected) => {
    expect(first(4, lightStream(seed, name, n)).map((number) => number * 2 ** 32)).toEqual(expected);
  });

  test("LightStream.L1 property: another name gives other numbers, however alike the names are, and all are in [0, 1)", () => {
    const path = fc.tuple(fc.string({ maxLength: 3 }), fc.string({ minLength: 1, maxLength: 3 }), fc.nat(99));
    fc.assert(
      fc.property(path, path, (one, other) => {
        const numbers = first(20, lightStream(...one));
        expect(first(20, lightStream(...one))).toEqual(numbers);
        expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(first(20, lightStream(...other))).not.toEqual(numbers);
      }),
    );
  });

  /** Numbers that ought to be even and have nothing to do with one another: tenths of each, and of pairs. */
  function expectEven(numbers: readonly number[]): void {
    const tenths = Array.from({ length: 10 }, () => 0);
    const pairs = Array.from({ length: 100 }, () => 0);
    numbers.forEach((number, place) => {
      tenths[Math.floor(number * 10)]! += 1;
      if (place > 0) pairs[Math.floor(number * 10) * 10 + Math.floor(numbers[place - 1]! * 10)]! += 1;
    });
    // For 100,000 of them: 10,000 each with a standard deviation of 95, and 1,000 with one of 31.
    for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    for (const count of pairs) expect(Math.abs(count - 1_000)).toBeLessThan(170);
  }

  test.each<[string, (place: number) => number]>([
    [
      "the numbers of one stream",
      (
        (next) => () =>
          next()
      )(lightStream("even", "Ann", 0)),
    ],
    ["the first numbers of one role's activations", (place) => lightStream("even", "Ann", place)()],
    ["the first numbers of roles that are counted", (place) => lightStream("even", `p${place}`, 3)()],
    ["the first numbers of seeds that are counted", (place) => lightStream(String(place), "Ann", 3)()],
  ])("%s fill the interval evenly, and do not follow from one another", (_what, numberAt) => {
    expectEven(Array.from({ length: 100_000 }, (_, place) => numberAt(place)));
  });
});

describe("freshSeed", () => {
  test("is 16 hexadecimal digits and never twice the same", () => {
    const seeds = Array.from({ length: 100 }, freshSeed);
    for (const seed of seeds) expect(seed).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set(seeds).size).toBe(100);
  });
});
