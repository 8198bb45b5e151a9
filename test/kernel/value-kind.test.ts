import { expect, test } from "vitest";
import { isAlive, isMissing, systemCode } from "../../src/kernel/system-error.ts";
import { isCount, isList, isObject, isPlainObject, isRecord, isText, isThenable } from "../../src/kernel/value-kind.ts";

class Made {}

const VALUES: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  text: "a",
  zero: 0,
  fraction: 0.5,
  negative: -1,
  infinite: Infinity,
  record: {},
  list: [],
  date: new Date(0),
  promise: Promise.resolve(),
  function: () => {},
};

test.each([
  [isObject, ["record", "list", "date", "promise"]],
  [isRecord, ["record", "date", "promise"]],
  [isList, ["list"]],
  [isText, ["text"]],
  [isCount, ["zero"]],
  [isThenable, ["promise"]],
] as const)("%o accepts its kind alone", (check, names) => {
  expect(Object.keys(VALUES).filter((name) => check(VALUES[name]))).toEqual(names);
});

test("a plain object has no prototype of its own kind", () => {
  expect([{}, Object.create(null) as object, new Made(), [], new Date(0)].map(isPlainObject)).toEqual([true, true, false, false, false]);
});

test("a system error is known by its code", () => {
  expect([Object.assign(new Error(), { code: "ENOENT" }), { code: 1 }, null, undefined].map(systemCode)).toEqual(["ENOENT", "", "", ""]);
  expect(["ENOENT", "ENOTDIR", "EACCES"].map((code) => isMissing({ code }))).toEqual([true, true, false]);
});

test("a process is alive until it has ended", () => {
  expect([process.pid, 2 ** 30, 0, -1, NaN].map(isAlive)).toEqual([true, false, false, false, false]);
});
