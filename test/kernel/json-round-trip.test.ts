import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { NotJsonError } from "../../src/kernel/errors.ts";
import { canonicalJson, jsonRoundTrip } from "../../src/kernel/json.ts";
import { bytesKeptBy } from "./garbage.ts";
import { tries } from "../effort.ts";

/** What comes of it, or the words it is refused with. */
function outcome(work: () => unknown): unknown {
  try {
    const value = work();
    return { value, text: JSON.stringify(value) };
  } catch (error) {
    return error instanceof NotJsonError ? { refused: error.message } : { thrown: error };
  }
}

describe("jsonRoundTrip goes no way over text, and nobody can tell", () => {
  const read = (value: unknown): unknown => outcome(() => JSON.parse(canonicalJson(value)));

  test("property: it gives what reading the canonical text gives, keys in the same order, or refuses in the same words", () => {
    const anything = fc.anything({
      withDate: true,
      withMap: true,
      withSet: true,
      withBigInt: true,
      withBoxedValues: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        if (value !== undefined) expect(outcome(() => jsonRoundTrip(value))).toEqual(read(value));
      }),
      { numRuns: tries(300, 4_000) },
    );
  });

  test.each<[string, () => unknown]>([
    ["keys that are numbers", () => ({ b: 1, "10": 2, "9": 3, a: 4 })],
    ["a negative zero", () => [-0, { at: -0 }]],
    ["half a character", () => ["\ud800", { "\udc00": 1 }]],
    [
      "what an object says of itself",
      () => ({ at: { toJSON: () => ({ b: [new Date(1)], a: undefined }) }, self: { toJSON: () => "text" } }),
    ],
    ["an object that calls itself another kind", () => ({ [Symbol.toStringTag]: "Map", a: 1 })],
    ["members with names of what all objects have", () => ({ constructor: 1, toString: [2], valueOf: { hasOwnProperty: 3 } })],
    ["an array with members", () => Object.assign([1, undefined, 2], { more: 1 })],
    ["a promise deep below", () => ({ a: [{ b: Promise.resolve() }] })],
    ["a number that is none", () => ({ a: [1, Number.NaN] })],
    ["an object without a prototype", () => Object.assign(Object.create(null) as object, { b: 1, a: 2 })],
    [
      "a circle",
      () => {
        const circle: Record<string, unknown> = { a: 1 };
        circle["again"] = [circle];
        return circle;
      },
    ],
    ["a record of many members", () => Object.fromEntries(Array.from({ length: 40 }, (_, place) => [`k${place}`, [{ place }, undefined]]))],
    [
      "a record of many members, one of them none",
      () => ({ a: [Object.fromEntries(Array.from({ length: 20 }, (_, k) => [`k${k}`, k > 8 ? 1n : k]))] }),
    ],
    ["long texts", () => ["\u{1F600} and some more", "\ud800 and some more", "twelve chars", "thirteen char"]],
    ["a thing twice", () => ((twice) => [twice, twice])({ a: 1 })],
  ])("%s", (_what, made) => {
    expect(outcome(() => jsonRoundTrip(made()))).toEqual(read(made()));
  });

  test("whoever is asked is asked as often and in the same order", () => {
    const asked = (round: (value: unknown) => unknown): string[] => {
      const told: string[] = [];
      const traced = <T extends object>(name: string, target: T): T =>
        new Proxy(target, {
          get: (object, key, receiver): unknown => {
            told.push(`${name}.${String(key)}`);
            return Reflect.get(object, key, receiver);
          },
          ownKeys: (object) => {
            told.push(`${name}: keys`);
            return Reflect.ownKeys(object);
          },
        });
      const wide = traced("wide", Object.fromEntries(Array.from({ length: 20 }, (_, place) => [`k${place}`, place])));
      round({ wide, few: traced("few", { b: 1, a: traced("list", [1, undefined, traced("deep", { toJSON: () => 1 })]) }) });
      return told;
    };
    expect(asked(jsonRoundTrip)).toEqual(asked((value) => JSON.parse(canonicalJson(value))));
  });

  test("a list that shrinks while it is read", () => {
    const list: unknown[] = [1, 2, 3];
    Object.defineProperty(list, 1, { get: () => (list.length = 2) });
    expect(jsonRoundTrip(list)).toEqual([1, 2]);
  });

  test("members named like what all objects have, which nobody can set", () => {
    const { prototype } = Object;
    const set = vi.fn<(value: unknown) => void>();
    Object.defineProperty(prototype, "fixed", { value: 0, configurable: true });
    Object.defineProperty(prototype, "caught", { set, configurable: true });
    try {
      expect(outcome(() => jsonRoundTrip({ fixed: 1, caught: [2] }))).toEqual({
        value: { fixed: 1, caught: [2] },
        text: '{"caught":[2],"fixed":1}',
      });
    } finally {
      delete (prototype as { fixed?: unknown }).fixed;
      delete (prototype as { caught?: unknown }).caught;
    }
    expect(set).not.toHaveBeenCalled();
  });

  test.each<[string, (turn: number) => unknown]>([
    ["a record of many members", (turn) => Object.fromEntries(Array.from({ length: 20 }, (_, place) => [`k${place}`, turn]))],
    ["a short list", (turn) => [turn, turn]],
    ["an excerpt of a long text", (turn) => `${turn} ${"page ".repeat(500)}`.slice(0, 20)],
  ])("%s takes about the room that it takes when it is read", (_what, made) => {
    const many = (round: (value: unknown) => unknown) => () => Array.from({ length: 20_000 }, (_, turn) => round(made(turn)));
    expect(bytesKeptBy(many(jsonRoundTrip))).toBeLessThan(2 * bytesKeptBy(many((value) => JSON.parse(canonicalJson(value)))));
  });

  test("a nesting too deep is refused, one less is not", () => {
    const nested = (levels: number): unknown => (levels === 1 ? [] : [nested(levels - 1)]);
    expect(() => jsonRoundTrip(nested(500))).not.toThrow();
    expect(() => jsonRoundTrip(nested(501))).toThrow(NotJsonError);
  });
});
