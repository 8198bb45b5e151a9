import fc from "fast-check";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { heldState, stateChange, changedState } from "../../../src/runtime/record/state-change.ts";
import { canonicalJson, deepFreeze, type Json, type JsonObject } from "../../../src/kernel/json.ts";

const before: JsonObject = deepFreeze({ count: 1, list: [1, { deep: true }], pair: { left: "a", right: null } });

function after(given: object): JsonObject {
  const change = stateChange(before, given);
  return change === undefined ? before : changedState(before, change);
}

function isFrozenThroughout(value: unknown): boolean {
  return typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout));
}

/** As a record has it: nothing that it would write otherwise. */
const state: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 })
  .map((value) => JSON.stringify(value))
  .filter((text) => !text.includes("__proto__"))
  .map((text) => JSON.parse(text) as JsonObject);

describe("StepState.SS1 a state is plain JSON, and what is not is told with its place", () => {
  class Point {
    readonly x = 1;
  }
  const cycle: Record<string, unknown> = {};
  cycle["self"] = [cycle];
  const deep = Array.from({ length: 600 }).reduce<unknown>((inner) => [inner], 1);

  test.each<[string, object, string, RegExp]>([
    ["undefined", { ...before, count: undefined }, "state.count", /got undefined/],
    ["undefined at a new key", { ...before, fresh: undefined }, "state.fresh", /got undefined/],
    ["undefined in a list", { list: [undefined] }, "state.list[0]", /got undefined/],
    ["a hole", { list: Object.assign([1], { 2: 2 }) }, "state.list[1]", /got undefined/],
    ["NaN", { pair: { left: NaN } }, "state.pair.left", /got NaN/],
    ["Infinity", { count: Infinity }, "state.count", /got Infinity/],
    ["a big number", { count: 1n }, "state.count", /got bigint/],
    ["a function", { count: () => 1 }, "state.count", /got function/],
    ["a symbol", { count: Symbol("x") }, "state.count", /got symbol/],
    ["a date", { list: [1, { at: new Date(0) }] }, "state.list[1].at", /no plain object/],
    ["a map", { pair: new Map() }, "state.pair", /no plain object/],
    ["a set", { pair: new Set([1]) }, "state.pair", /no plain object/],
    ["an error", { pair: new Error("x") }, "state.pair", /no plain object/],
    ["bytes", { list: new Uint8Array(2) }, "state.list", /no plain object/],
    ["an object of a class", { pair: new Point() }, "state.pair", /no plain object/],
    ["a state of a class", new Point(), "state", /no plain object/],
    ["an object with things behind it", { pair: Object.create({ hidden: 1 }) as object }, "state.pair", /no plain object/],
    ["a symbol as a key of the state", { ...before, [Symbol("x")]: 1 }, "state", /symbol for a key/],
    ["a symbol as a key", { pair: { [Symbol("x")]: 1 } }, "state.pair", /symbol for a key/],
    ["a key that names the prototype", JSON.parse('{"__proto__":1}') as object, "state.__proto__", /names the prototype/],
    ["such a key below", { pair: JSON.parse('{"__proto__":1}') as object }, "state.pair.__proto__", /names the prototype/],
    ["what all objects have behind them", { toString: Object.prototype.toString }, "state.toString", /got function/],
    ["a cycle", { pair: cycle }, "state...", /more than 400 levels/],
    ["too much nesting", { list: deep }, "state...", /more than 400 levels/],
  ])("%s", (_what, given, place, why) => {
    expect(() => stateChange(before, given)).toThrow(expect.objectContaining({ code: "NOT_JSON" }));
    expect(() => stateChange(before, given)).toThrow(`at ${place}, `);
    expect(() => stateChange(before, given)).toThrow(why);
  });

  test.each<[string, object]>([
    ["without a prototype", Object.assign(Object.create(null) as object, { count: 2, pair: Object.create(null) as object })],
    ["of another realm", runInNewContext("({ count: 2, pair: {} })") as object],
  ])("an object %s is as plain as others", (_what, given) => {
    expect(after(given)).toEqual({ count: 2, pair: {} });
  });

  test("negative zero is zero, as JSON has it, wherever it stands", () => {
    const changed = after({ count: -0, list: [-0], pair: { left: -0 } });
    expect(JSON.stringify(changed)).toBe('{"count":0,"list":[0],"pair":{"left":0}}');
    expect(changed).toStrictEqual(JSON.parse(JSON.stringify(changed)));
    expect(stateChange({ count: 0 }, { count: -0 })).toBeUndefined();
  });

  test("property: a record gives back what a live run has, whatever was returned", () => {
    fc.assert(
      fc.property(state, state, (was, given) => {
        const change = stateChange(heldState(was), given);
        const live = change === undefined ? was : changedState(was, change);
        expect(live).toStrictEqual({ ...live, ...given });
        expect(canonicalJson(live)).toBe(canonicalJson(given));
        const recorded = change === undefined ? was : changedState(was, JSON.parse(JSON.stringify(change)) as typeof change);
        expect(JSON.stringify(recorded)).toBe(JSON.stringify(live));
      }),
      { numRuns: 300 },
    );
  });
});

describe("StepState.SS2 nobody can change a state", () => {
  test("property: nor anything in it, nor through what was returned", () => {
    fc.assert(
      fc.property(state, state, (was, given) => {
        const change = stateChange(heldState(was), given);
        const live = heldState(change === undefined ? was : changedState(was, change));
        expect(isFrozenThroughout(live)).toBe(true);
      }),
    );
  });

  test("a returned state stays the caller's: it is neither frozen nor read again", () => {
    const mine = { count: 5, list: [1, { deep: false }] };
    const live = after(mine);
    mine.list.push(2);
    mine.count = 6;
    expect(live).toEqual({ count: 5, list: [1, { deep: false }] });
  });
});

describe("StepState.SS3 a change names exactly the keys that say something else", () => {
  test.each<[string, object, ReturnType<typeof stateChange>]>([
    ["the same again", { ...before }, undefined],
    ["the same, made anew", { pair: { right: null, left: "a" }, list: [1, { deep: true }], count: 1 }, undefined],
    ["one key", { ...before, count: 2 }, { set: { count: 2 }, unset: [] }],
    ["one below", { ...before, list: [1, { deep: false }] }, { set: { list: [1, { deep: false }] }, unset: [] }],
    ["a shorter list", { ...before, list: [1] }, { set: { list: [1] }, unset: [] }],
    ["a key less below", { ...before, pair: { left: "a" } }, { set: { pair: { left: "a" } }, unset: [] }],
    ["a list for an object", { ...before, pair: [] }, { set: { pair: [] }, unset: [] }],
    ["an object for a list", { ...before, list: { 0: 1, 1: { deep: true } } }, { set: { list: { 0: 1, 1: { deep: true } } }, unset: [] }],
    ["a key more", { ...before, more: null }, { set: { more: null }, unset: [] }],
    ["a key of a name that all objects have behind them", { ...before, valueOf: 1 }, { set: { valueOf: 1 }, unset: [] }],
    ["a key less", { count: 1, list: before["list"] }, { set: {}, unset: ["pair"] }],
    ["one for another", { count: 1, list: before["list"], other: 1 }, { set: { other: 1 }, unset: ["pair"] }],
    ["nothing left", {}, { set: {}, unset: ["count", "list", "pair"] }],
    ["one that is hidden", Object.defineProperty({ ...before }, "pair", { enumerable: false }), { set: {}, unset: ["pair"] }],
  ])("%s", (_what, given, change) => {
    expect(stateChange(before, given)).toEqual(change);
  });

  test("an unchanged nested value is the same object, and is not read", () => {
    const items = Array.from({ length: 1_000 }, (_, item) => ({ item }));
    const was = deepFreeze({ items, last: 0 }) as unknown as JsonObject;
    const change = stateChange(was, { items: [...items.slice(0, 999), { item: -1 }], last: 1 });
    const now = (change === undefined ? was : changedState(was, change))["items"] as readonly Json[];
    expect(now.slice(0, 999).every((item, place) => item === items[place])).toBe(true);
    expect(now[999]).toEqual({ item: -1 });
  });

  test("property: no key more, and no key less", () => {
    fc.assert(
      fc.property(state, state, (was, given) => {
        const both = new Set([...Object.keys(was), ...Object.keys(given)]);
        const text = (of: JsonObject, key: string): string => (Object.hasOwn(of, key) ? canonicalJson(of[key]) : "");
        const differing = [...both].filter((key) => text(was, key) !== text(given, key));
        const change = stateChange(heldState(was), given);
        expect(new Set([...Object.keys(change?.set ?? {}), ...(change?.unset ?? [])])).toEqual(new Set(differing));
      }),
      { numRuns: 300 },
    );
  });
});
