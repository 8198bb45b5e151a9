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

test("one that was frozen before somebody looked keeps its members as well", () => {
  const frozen = Object.freeze(counted().object);
  expect(frozen.parts).toBe(frozen.parts);
});
