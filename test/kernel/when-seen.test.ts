import { inspect } from "node:util";
import { expect, test } from "vitest";
import { whenSeen } from "../../src/kernel/when-seen.ts";

interface Named {
  readonly name: string;
  readonly parts: readonly number[];
}

function counted(): { readonly object: Named; readonly made: () => number } {
  let made = 0;
  return { object: whenSeen<Named>({ name: "one", parts: [] }, { parts: () => [(made += 1)] }), made: () => made };
}

test("a member is worked out when somebody first looks at it, and once", () => {
  const { object, made } = counted();
  expect([Object.keys(object), made()]).toEqual([["name", "parts"], 0]);
  expect(object.parts).toBe(object.parts);
  expect(made()).toBe(1);
});

test("who copies, compares, writes or shows the object sees values", () => {
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
