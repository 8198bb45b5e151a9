import assert from "node:assert/strict";
import { test } from "node:test";
import { renderTable } from "../src/index.js";

test("cells are quoted where they need it", () => {
  assert.equal(renderTable([{ a: 'x,"y"', b: "z" }], { format: "csv" }), 'a,b\n"x,""y""",z\n');
});

test("objects are JSON, nothing is empty", () => {
  assert.equal(renderTable([{ a: { b: 1 }, c: null }], { format: "csv" }), 'a,c\n"{""b"":1}",\n');
});
