import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { someOf } from "../long.ts";
import { LightStream, namedStream, type Random, type RandomStream, randomStream } from "../../src/kernel/random.ts";

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
});

function lightStream(...path: ConstructorParameters<typeof LightStream>): Random {
  const stream = new LightStream(...path);
  return () => stream.next();
}

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
});

describe("namedStream", () => {
  test.each([
    [["seed"], [506658094, 1752524991, 577528597, 178556385]],
    [
      ["seed", "role", "Ann", 3],
      [60665033, 3030232839, 554600429, 1416094553],
    ],
  ] as const)("the stream %j is the same on every machine and for ever", ([seed, ...path], expected) => {
    expect(first(4, namedStream(seed, ...path)).map((number) => number * 2 ** 32)).toEqual(expected);
  });

  const part = fc.oneof(fc.string({ maxLength: 3 }), fc.nat(99));
  const owner = fc.tuple(fc.string({ maxLength: 3 }), fc.array(part, { maxLength: 4 }));

  test("property: another owner or name gives other numbers, however alike they are, and all are in [0, 1)", () => {
    fc.assert(
      fc.property(owner, owner, ([seed, path], [otherSeed, otherPath]) => {
        const numbers = first(20, namedStream(seed, ...path));
        expect(first(20, namedStream(seed, ...path))).toEqual(numbers);
        expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
        fc.pre(JSON.stringify([seed, path]) !== JSON.stringify([otherSeed, otherPath]));
        expect(first(20, namedStream(otherSeed, ...otherPath))).not.toEqual(numbers);
      }),
    );
  });

  test("property: a part of a stream depends on its names alone, not on what was drawn or split off before", () => {
    const names = fc.uniqueArray(fc.string({ maxLength: 3 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(owner, names, fc.nat(9), ([seed, path], [name = "", ...others], drawn) => {
        const stream = namedStream(seed, ...path);
        first(drawn, stream);
        for (const other of others) first(drawn, stream.split(other));
        expect(first(5, stream.split(name))).toEqual(first(5, namedStream(seed, ...path, name)));
      }),
    );
  });

  test("refuses to be split twice under one name, and under what is no name", () => {
    const stream = namedStream("s", "role", "Ann", 3);
    stream.split("a").split("a");
    const again = (): RandomStream => stream.split("a");
    expect(again).toThrow(expect.objectContaining({ code: "STREAM_TAKEN", message: expect.stringContaining('role Ann 3 once, got "a"') }));
    expect(() => stream.split(1 as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });

  const sequences: readonly [string, (place: number) => number][] = [
    ["the numbers of one stream", namedStream("even", "role", "Ann", 0)],
    ["the first numbers of one role's activations", (place) => namedStream("even", "role", "Ann", place).split("a")()],
    ["the first numbers of roles that are counted", (place) => namedStream("even", "role", `p${place}`, 3).split("a")()],
    ["the first numbers of seeds that are counted", (place) => namedStream(String(place), "role", "Ann", 3)()],
    ["the first numbers of names that are counted", (place) => namedStream("even", "role", "Ann", 3, String(place))()],
    ["the numbers of two parts by turns", byTurns(namedStream("even", "a"), namedStream("even", "b"))],
    ["the first numbers of a stream and of its part by turns", (place) => wholeOrPart(place)()],
  ];

  test.each(someOf(sequences, 2))(
    "%s fill the interval evenly, and do not follow from one another",
    { tags: "numbers" },
    (_what, numberAt) => {
      expectEven(Array.from({ length: 100_000 }, (_, place) => numberAt(place)));
    },
  );
});

function byTurns(one: RandomStream, other: RandomStream): (place: number) => number {
  return (place) => (place % 2 === 0 ? one() : other());
}

function wholeOrPart(place: number): RandomStream {
  const whole = namedStream("even", "role", "Ann", Math.floor(place / 2));
  return place % 2 === 0 ? whole : whole.split("a");
}
