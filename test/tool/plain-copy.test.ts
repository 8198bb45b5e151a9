import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/kernel/json.ts";
import { plainCopy } from "../../src/tool/plain-value.ts";

/** What the copy stands for: the value written as canonical JSON and read again. */
function longWay(value: unknown): string {
  return JSON.stringify(JSON.parse(canonicalJson(value)));
}

describe("a copy of plain JSON", () => {
  it("is what writing it as canonical JSON and reading it back gives, key by key", () => {
    const value = fc.jsonValue({ maxDepth: 6 }).filter((one) => !JSON.stringify(one).includes('"__proto__":'));
    fc.assert(
      fc.property(value, (one) => {
        expect(JSON.stringify(plainCopy(one))).toBe(longWay(one));
      }),
      { numRuns: 500 },
    );
    const mixed = { b: -0, a: [1, { d: undefined, c: "\ud800" }], 10: true, 9: null };
    expect(JSON.stringify(plainCopy(mixed))).toBe(longWay(mixed));
    expect(plainCopy({ b: -0 })).toStrictEqual({ b: 0 });
  });

  it("shares nothing with the value", () => {
    const value = { list: [{ a: 1 }] };
    const copy = plainCopy(value) as typeof value;
    copy.list[0] = { a: 2 };
    expect(value).toEqual({ list: [{ a: 1 }] });
  });

  const deep = JSON.parse(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`) as unknown;
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a number that JSON has not", { a: [Number.NaN] }],
    ["a function", { a: () => 1 }],
    ["a big number", { a: 1n }],
    ["a date", { at: new Date(0) }],
    ["an object that tells its own form", { toJSON: () => 1 }],
    ["a list that tells its own form", Object.assign([1], { toJSON: () => 1 })],
    ["a hole", { list: [undefined] }],
    ["an object of a kind of its own", { map: new Map() }],
    ["an object that says it is another", { [Symbol.toStringTag]: "Map" }],
    ["an object without a prototype", Object.create(null)],
    ["a key that names the prototype", JSON.parse('{"__proto__":{"a":1}}')],
    ["a very deep value", deep],
    ["a cycle", cycle],
  ])("is not made of %s", (_, value) => {
    expect(plainCopy(value)).toBeUndefined();
  });
});
