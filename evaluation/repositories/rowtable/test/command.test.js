import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../bin/rowtable.js", import.meta.url));
const run = (words, input = "") => spawnSync(process.execPath, [bin, ...words], { input, encoding: "utf8" });

test("rows come from standard input", () => {
  const { status, stdout } = run(["--format", "csv"], '{"a":1}\n');
  assert.equal(status, 0);
  assert.equal(stdout, "a\n1\n");
});

test("an unknown option is exit code 2", () => {
  const { status, stderr } = run(["--blue"]);
  assert.equal(status, 2);
  assert.match(stderr, /unknown option --blue/);
});

test("a file that is missing is exit code 1", () => {
  const { status, stderr } = run(["nowhere.jsonl"]);
  assert.equal(status, 1);
  assert.match(stderr, /nowhere\.jsonl/);
});
