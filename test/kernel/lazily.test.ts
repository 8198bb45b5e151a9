import { inspect } from "node:util";
import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { lazily, lazyMembers } from "../../src/kernel/lazily.ts";
import { collectGarbage } from "./garbage.ts";

test("a value is made when it is first asked for, and only then", () => {
  let made = 0;
  const value = lazily(() => ({ nth: ++made }));
  expect(made).toBe(0);
  expect(value()).toBe(value());
  expect(made).toBe(1);
});

test("an undefined value is computed once too", () => {
  let made = 0;
  const value = lazily(() => void (made += 1));
  expect([value(), value(), made]).toEqual([undefined, undefined, 1]);
});

test("a failed computation is tried again", () => {
  let tries = 0;
  const value = lazily(() => {
    tries += 1;
    if (tries === 1) throw new Error("not yet");
    return tries;
  });
  expect(value).toThrow("not yet");
  expect([value(), value()]).toEqual([2, 2]);
});

test("the inputs of a value are released once it is computed", async () => {
  const { value, parts } = heavy();
  await nextMacrotask();
  collectGarbage();
  expect(parts.deref()).toBeDefined();
  expect(value()).toBe(1);
  await nextMacrotask();
  collectGarbage();
  expect(parts.deref()).toBeUndefined();
  expect(value()).toBe(1);
});

function heavy(): { readonly value: () => number; readonly parts: WeakRef<{ readonly size: number }> } {
  const parts = { size: 1 };
  return { value: lazily(() => parts.size), parts: new WeakRef(parts) };
}

interface Named {
  readonly name: string;
  readonly parts: readonly number[];
}

function counted(): { readonly object: Named; readonly made: () => number } {
  let made = 0;
  return { object: lazyMembers<Named>({ name: "one", parts: [] }, { parts: () => [(made += 1)] }), made: () => made };
}

test("a member is worked out when somebody first looks at it, and once", () => {
  const { object, made } = counted();
  expect([Object.keys(object), made()]).toEqual([["name", "parts"], 0]);
  expect(object.parts).toBe(object.parts);
  expect(made()).toBe(1);
});

test("copies, comparisons, JSON and inspection show values", () => {
  const seen = { name: "one", parts: [1] };
  expect({ ...counted().object }).toStrictEqual(seen);
  expect(counted().object).toStrictEqual(seen);
  expect(JSON.stringify(counted().object)).toBe(JSON.stringify(seen));
  expect(inspect(counted().object)).toBe(inspect(seen));
});

test("a member is written as in any object, and one that inherits it keeps its own", () => {
  const { object, made } = counted();
  const heir = Object.assign(Object.create(object) as Named, { parts: [8] });
  expect([heir.parts, object.parts]).toEqual([[8], [1]]);
  Object.assign(object, { parts: [9] });
  expect([Object.entries(object), made()]).toEqual([Object.entries({ name: "one", parts: [9] }), 1]);
  expect(() => Object.assign(Object.freeze(counted().object), { parts: [] })).toThrow(TypeError);
});

test("one that was frozen before somebody looked keeps its members as well", () => {
  const frozen = Object.freeze(counted().object);
  expect(frozen.parts).toBe(frozen.parts);
});
