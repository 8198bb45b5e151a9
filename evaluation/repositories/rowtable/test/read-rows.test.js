import assert from "node:assert/strict";
import { test } from "node:test";
import { readRows } from "../src/index.js";

test("lines of JSON and arrays are read", () => {
  assert.deepEqual(readRows('{"a":1}\n\n{"a":2}\n'), [{ a: 1 }, { a: 2 }]);
  assert.deepEqual(readRows('[{"a":1}]'), [{ a: 1 }]);
  assert.deepEqual(readRows(" \n"), []);
});

test("a bad line is told with its number", () => {
  assert.throws(() => readRows('{"a":1}\n{', "x.jsonl"), /x\.jsonl:2: no JSON/);
  assert.throws(() => readRows("[1]", "x.json"), /row 1: expected an object/);
});
