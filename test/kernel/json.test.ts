import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NotJsonError } from "../../src/kernel/errors.ts";
import { canonicalJson, contentHash, deepFreeze, jsonRoundTrip } from "../../src/kernel/json.ts";

/** The same value with the keys of every object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, shuffled(member)]),
  );
}

/** Every JSON value that is let in. */
const anyJson = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__":'));

describe("canonicalJson", () => {
  test("sorts keys by code unit, at every depth", () => {
    expect(canonicalJson({ b: 1, a: { Z: 1, z: 2, "10": 3, "9": 4 }, é: 5 })).toBe('{"a":{"10":3,"9":4,"Z":1,"z":2},"b":1,"é":5}');
  });

  test("dates and other values with a JSON form are written in it, once", () => {
    class Money {
      readonly cents = 5;
      toJSON(): unknown {
        return { cents: this.cents };
      }
    }
    class Self {
      readonly kept = true;
      toJSON(): this {
        return this;
      }
    }
    expect(canonicalJson([new Date(0), new Money(), new Self()])).toBe('["1970-01-01T00:00:00.000Z",{"cents":5},{"kept":true}]');
  });

  test("property: it is what JSON.stringify writes, up to the order of keys", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(text.length).toBe(JSON.stringify(value).length);
      }),
    );
  });

  test("property: equal values give equal text and equal hashes, in whatever order their keys were made", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
        expect(contentHash(shuffled(value))).toBe(contentHash(value));
      }),
    );
  });

  test.each([
    ["a function", { f: () => 1 }, "$.f"],
    ["a symbol", [Symbol("s")], "$[0]"],
    ["a bigint", { n: { big: 1n } }, "$.n.big"],
    ["NaN", { n: Number.NaN }, "$.n"],
    ["Infinity", [[Number.POSITIVE_INFINITY]], "$[0][0]"],
    ["a map", { m: new Map() }, "$.m"],
    ["a set", new Set([1]), "$"],
    ["a promise nobody awaited", { answer: Promise.resolve(1) }, "$.answer"],
    ["an error", { cause: new Error("x") }, "$.cause"],
    ["a pattern", [/x/], "$[0]"],
    ["bytes", new Uint8Array(2), "$"],
    ["undefined alone", undefined, "$"],
  ])("refuses %s and names its path", (_what, value, path) => {
    expect(() => canonicalJson(value)).toThrow(NotJsonError);
    expect(() => canonicalJson(value)).toThrow(`at ${path},`);
  });

  test("refuses cycles, also those a toJSON hides, but not the same object twice", () => {
    const own: Record<string, unknown> = {};
    own["self"] = own;
    expect(() => canonicalJson(own)).toThrow("a cycle");
    class Endless {
      toJSON(): unknown {
        return { again: new Endless() };
      }
    }
    expect(() => canonicalJson(new Endless())).toThrow(NotJsonError);
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  test("very deep values are refused by a typed error, not by a stack overflow", () => {
    const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect(canonicalJson(nested(500))).toHaveLength(1000);
    for (const levels of [501, 100_000]) {
      expect(() => canonicalJson(nested(levels))).toThrow(NotJsonError);
      expect(() => canonicalJson(nested(levels))).toThrow("more than 500 levels");
    }
  });

  test("a member named __proto__ is refused, at any depth, and reaches no prototype", () => {
    const hostile: unknown = JSON.parse('{"a":[{"__proto__":{"polluted":true}}]}');
    expect(() => canonicalJson(hostile)).toThrow("$.a[0].__proto__");
    expect(() => jsonRoundTrip(hostile)).toThrow(NotJsonError);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("jsonRoundTrip", () => {
  test("gives what a journal would give back", () => {
    expect(jsonRoundTrip({ at: new Date(0), nothing: undefined, list: [undefined] })).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      list: [null],
    });
    expect(jsonRoundTrip(undefined)).toBeNull();
    expect(jsonRoundTrip(-0)).toBe(0);
  });

  test("property: a second trip changes nothing, and the copy shares nothing", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const once = jsonRoundTrip(value);
        expect(jsonRoundTrip(once)).toEqual(once);
        if (typeof value === "object" && value !== null) expect(once).not.toBe(value);
      }),
    );
  });
});

describe("deepFreeze", () => {
  function isFrozenThrough(value: unknown): boolean {
    return typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));
  }

  test("property: freezes a value through and through and gives the same object", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(deepFreeze(value)).toBe(value);
        expect(isFrozenThrough(value)).toBe(true);
      }),
    );
  });

  test("ends on cycles and on very deep values", () => {
    const own: Record<string, unknown> = { list: [{}] };
    own["self"] = own;
    deepFreeze(own);
    expect(Object.isFrozen((own["list"] as unknown[])[0])).toBe(true);
    const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    expect(Object.isFrozen(deepFreeze(deep))).toBe(true);
  });
});
