import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { columnsOf } from "../src/columns.js";
import { parseCsv, writeCsv } from "../src/csv.js";

test("CSV is read and written", () => {
  const text = 'a,b\n"x,y","say ""hi"""\n';
  assert.deepEqual(parseCsv(text), [["a", "b"], ["x,y", 'say "hi"']]);
  assert.equal(writeCsv(parseCsv(text)), text);
});

test("columns are picked, dropped and renamed", () => {
  const rows = [["a", "b"], ["1", "2"]];
  assert.deepEqual(columnsOf(rows, "pick", "b"), [["b"], ["2"]]);
  assert.deepEqual(columnsOf(rows, "drop", "b"), [["a"], ["1"]]);
  assert.deepEqual(columnsOf(rows, "rename", "a=z"), [["z", "b"], ["1", "2"]]);
});

test("an unknown column is exit code 2", () => {
  const bin = fileURLToPath(new URL("../bin/csvcol.js", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [bin, "pick", "x"], { input: "a\n1\n", encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(stderr, /x/);
});
