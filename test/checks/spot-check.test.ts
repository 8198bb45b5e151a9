import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { spotCheck } from "../../src/checks/spot-check.ts";
import { runSuites } from "../../src/checks/suites.ts";
import { hasPytest, projectOf, sandbox } from "./project.ts";

const use = `import { test } from "node:test"; import assert, { equal } from "node:assert/strict";\n`;
const source = `/* 🥬 */ export function add(a, b) {\n  return a + b;\n}\nexport const sub = (a, b) => a - b;\nfunction nothing() {}\n`;
const calc = `\ufeff# 🥬\r\ndef add(a, b):\r\n    """Adds."""\r\n    c = "ü"\r\n    return a + b\r\n\r\ndef empty():\r\n    """Does nothing."""\r\n`;

async function faultsOf(files: Readonly<Record<string, string>>): Promise<[string, readonly string[]]> {
  const root = projectOf(files);
  const suites = await runSuites({ root, sandbox });
  expect(suites.map(({ kind }) => kind)).toEqual(["passed"]);
  const faults = await spotCheck({ root, sandbox, suites });
  return [root, faults.map(({ message }) => message)];
}

describe("spotCheck", () => {
  it("accepts tests that notice an emptied function, and leaves the project as it is", async () => {
    const tests = `${use}import { add, sub } from "../src/sum.mjs"; test("adds", () => equal(add(1, 2), 3)); test("subtracts", () => equal(sub(3, 2), 1));`;
    const [root, messages] = await faultsOf({ "src/sum.mjs": source, "tests/sum.test.mjs": tests });
    expect(messages).toEqual([]);
    expect(readFileSync(join(root, "src/sum.mjs"), "utf8")).toBe(source);
  });

  it.each([
    ["that assert nothing", `import { add, sub } from "../src/sum.mjs"; test("runs", () => { add(1, 2); sub(1, 2); });`],
    ["that use nothing of the project", `const add = () => 3; const sub = 1; test("adds", () => equal(add(1, 2), 3));`],
  ])("names the functions that can break unnoticed by tests %s", async (_what, tests) => {
    expect((await faultsOf({ "src/sum.mjs": source, "tests/sum.test.mjs": use + tests }))[1]).toEqual([
      expect.stringMatching(/^All tests still pass when the body of each of these functions is emptied: (add|sub) .*\(src\/sum\.mjs\)\.$/),
    ]);
  });

  it.runIf(hasPytest)("empties functions of Python", async () => {
    const test = (assertion: string): string => `from calc import add\ndef test_add(): assert ${assertion}\n`;
    expect((await faultsOf({ "calc.py": calc, "test_calc.py": test("add(1, 2) == 3") }))[1]).toEqual([]);
    expect((await faultsOf({ "calc.py": calc, "test_calc.py": test("add(1, 2) is add(1, 2)") }))[1]).toEqual([
      "All tests still pass when the body of this function is emptied: add (calc.py).",
    ]);
  });

  it("tries one function of each file before a second of it", { tags: ["company", "long"] }, async () => {
    const bad = (name: string): string => `export function ${name}1() { return 1; }\nexport function ${name}2() { return 2; }\n`;
    const tests = `${use}import { a1, a2 } from "../a.mjs"; import { b1, b2 } from "../b.mjs"; import { c1, c2 } from "../c.mjs";
      test("all", () => assert.ok([a1, a2, b1, b2, c1, c2].every((each) => typeof each === "function")));`;
    const files = { "a.mjs": bad("a"), "b.mjs": bad("b"), "c.mjs": bad("c"), "tests/x.test.mjs": tests };
    const [message = ""] = (await faultsOf(files))[1];
    expect(new Set([...message.matchAll(/\((\w)\.mjs\)/g)].map(([, name]) => name))).toEqual(new Set(["a", "b", "c"]));
  });

  it("empties functions of the file that tests start, and none of files that they do not name", async () => {
    const tests = `${use}import { execFileSync } from "node:child_process";
      test("doubles", () => equal(execFileSync(process.execPath, ["src/to-do.mjs", "4"]).toString(), "8"));`;
    const program = "function answer(n) { return n * 2; }\nprocess.stdout.write(String(answer(process.argv[2])));\n";
    const others = ["a", "b", "c", "d", "e", "f"].map((name) => [
      `scripts/${name}-build.mjs`,
      `export function build_${name}() { return 1; }\n`,
    ]);
    const files = { ...Object.fromEntries(others), "src/to-do.mjs": program, "tests/todo.test.mjs": tests };
    expect((await faultsOf(files))[1]).toEqual([]);
  });

  it("accepts a project without functions", async () => {
    expect((await faultsOf({ "a.test.mjs": `${use}test("one", () => equal(JSON.parse("1"), 1));` }))[1]).toEqual([]);
  });
});
