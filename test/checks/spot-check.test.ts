import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inspectJavaScript, inspectPython, type Inspection } from "../../src/checks/inspection.ts";
import { findWeakTests, spotCheck } from "../../src/checks/spot-check.ts";
import { runSuites } from "../../src/checks/suites.ts";
import type { SuiteReport } from "../../src/checks/verification.ts";
import { projectOf, sandbox } from "./project.ts";

const use = `import { test, it, describe } from "node:test"; import assert, { equal } from "node:assert/strict";\n`;
const python = await sandbox.run({ root: projectOf({}), command: ["python3", "--version"] });
const hasPython = python.kind === "exited" && python.code === 0;
if (!hasPython) process.stderr.write("\nPython files are not read: the sandbox has no python3 (apt-get install python3)\n");

function passed(language: SuiteReport["language"], ...files: string[]): SuiteReport {
  return { language, kind: "passed", total: 1, passed: 1, failed: 0, skipped: 0, files, failures: [] };
}

/** The names of weak tests in a test file of JavaScript. */
async function weakIn(text: string): Promise<string[]> {
  const { weak } = await inspectJavaScript(projectOf({ "a.test.mjs": use + text }), ["a.test.mjs"]);
  return weak.map(({ name }) => name);
}

describe("weak tests in JavaScript", () => {
  it.each([
    ["an empty body", `test("a", () => {});`],
    ["a call without an assertion", `test("a", async () => { const x = await run(); console.log(x); });`],
    ["an assertion about constants", `test("a", () => { assert(true); equal(1, 1); assert.ok("yes"); });`],
    ["a named function", `function body() { run(); } test("a", body);`],
    ["a suite", `describe("s", () => { it("a", () => { run(); }); it("b", () => assert.equal(run(), 1)); });`],
    ["functions that call each other", `function b() { c(); } function c() { b(); } test("a", () => { b(); });`],
    ["a subtest", `test("outer", async (t) => { await t.test("a", () => {}); assert.ok(run()); });`],
  ])("TestFile.F1 are found: %s", async (_what, text) => {
    expect(await weakIn(text)).toEqual(["a"]);
  });

  it.each([
    ["an assertion", `test("a", () => assert.equal(run(), 1));`],
    ["an imported name", `test("a", () => { equal(run(), 1); });`],
    ["the context", `test("a", (t) => { t.assert.equal(run(), 1); });`],
    ["an expectation", `test("a", () => { expect(run()).toBe(1); });`],
    ["a throw", `test("a", () => { if (run() !== 1) throw new Error("no"); });`],
    ["a failure", `test("a", () => { if (run() !== 1) assert.fail("no"); assert.fail(); });`],
    ["an expected error", `test("a", async () => { await assert.rejects(run()); });`],
    ["a function of the file", `const same = (a, b) => { assert.equal(a, b); }; test("a", () => { [1].forEach((n) => same(run(), n)); });`],
    ["a function of a helper", `import { sees } from "./helpers.mjs"; test("a", () => { sees(run()); });`],
    ["a callback", `function done(x) { assert.ok(x); } test("a", () => { run(done); });`],
    ["functions that call each other", `function a() { b(); } function b() { a(); assert.ok(run()); } test("a", () => { a(); });`],
    [
      "a function that was met in the search of the one that it calls",
      `function a() { b(); assert.ok(run()); } function b() { a(); } test("a", () => { a(); }); test("b", () => { b(); });`,
    ],
    ["a test to do", `test("a"); test.todo("b"); test.skip("c", () => {});`],
  ])("TestFile.F2 are not suspected: %s", async (_what, text) => {
    expect(await weakIn(text)).toEqual([]);
  });

  it("never throw, whatever the text", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("test(", '"a"', ",", "()=>", "{", "}", ")", ";", "assert", ".", "equal(1)", "`", "${", "class A{", "x=")),
        async (parts) => {
          expect(Array.isArray(await weakIn(parts.join("")))).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
    expect(await weakIn(`test("a", () => ${"[".repeat(20_000)}`)).toEqual([]);
  });
});

describe.runIf(hasPython)("weak tests in Python", () => {
  it("are found, and others are not suspected", async () => {
    const text = `
import pytest, unittest
from helpers import check_thing
def same(a, b): assert a == b
def test_weak_empty(): pass
def test_weak_call(): print(run())
def test_weak_constant(): assert True
def test_assert(): assert run() == 1
def test_raises():
    with pytest.raises(ValueError): run()
def test_helper(): same(run(), 1)
def test_other(): check_thing(run())
def test_fail():
    if run(): pytest.fail("no")
class TestA(unittest.TestCase):
    def test_weak_method(self): run()
    def test_weak_equal(self): self.assertEqual(1, 1)
    def test_equal(self): self.assertEqual(run(), 1)
    def helper(self): pass
`;
    const { weak } = await inspectPython(projectOf({ "tests/test_a.py": text }), ["tests/test_a.py"], { sandbox });
    expect(weak.map(({ name }) => name)).toEqual([
      "test_weak_empty",
      "test_weak_call",
      "test_weak_constant",
      "test_weak_method",
      "test_weak_equal",
    ]);
  });
});

describe("findWeakTests", () => {
  it("names them by file", async () => {
    const root = projectOf({ "a.test.mjs": `${use}test("one", () => {}); test("two\u001b", () => {});`, "b.test.mjs": use });
    expect(await findWeakTests({ root, sandbox, suites: [passed("javascript", "a.test.mjs", "b.test.mjs", "gone.test.mjs")] })).toEqual([
      { kind: "weak tests", file: "a.test.mjs", message: String.raw`These tests assert nothing: "one", "two\u{1b}".` },
    ]);
  });
});

/** The functions of an inspection, each with the text that would be replaced. */
function bodies(root: string, { functions }: Inspection): string[] {
  return functions.map(({ file, name, start, end, isNamed }) => {
    return `${file} ${name}${isNamed ? "!" : ""} ${readFileSync(join(root, file), "utf8").slice(start, end).replace(/\s+/g, " ")}`;
  });
}

describe("the functions that tests lead to", () => {
  it("are those of imported and named files, in JavaScript", async () => {
    const root = projectOf({
      "tests/a.test.mjs": `${use}import { add } from "../src/sum.mjs"; spawn("src/cli.cjs"); import("./gone.mjs"); new Thing().show();`,
      "src/sum.mjs": `/* 🥬 */ import "./deep.mjs"; export function add(a, b) { return a + b; } export const half = (a) => a / 2; function nothing() {}`,
      "src/deep.mjs": `import "./sum.mjs"; class Thing { constructor() { this.a = 1; } show() { return 1; } #own() { return 2; } }\nobj.late = async function () { await 1; };`,
      "src/cli.cjs": `const x = { run() { go(); }, "quoted": () => 1 }; require("./lib");`,
      "src/lib.js": `module.exports.lib = () => { go(); };`,
      "src/other.mjs": `export function other() { return 1; }`,
    });
    expect(bodies(root, await inspectJavaScript(root, ["tests/a.test.mjs"]))).toEqual([
      "src/sum.mjs add! { return a + b; }",
      "src/sum.mjs half a / 2",
      "src/cli.cjs run { go(); }",
      "src/deep.mjs show! { return 1; }",
      "src/deep.mjs late { await 1; }",
      "src/lib.js lib { go(); }",
    ]);
  });

  it.runIf(hasPython)("are those of imported and named modules, in Python", async () => {
    const root = projectOf({
      "tests/test_a.py": `from calc.sums import add\nimport subprocess\nsubprocess.run(["python3", "-m", "other"])\n`,
      "calc/__init__.py": `from . import deep\n`,
      "calc/sums.py": `# 🥬\r\ndef add(a, b):\r\n    """Adds."""\r\n    c = "ü"\r\n    return a + b\r\n\r\ndef empty():\r\n    """Does nothing."""\r\n`,
      "calc/deep.py": `\ufeffclass A:\n    def __init__(self): self.a = 1\n    async def show(self): return 1\n`,
      "other/__main__.py": `def main():\n  x = "🥬"; return x\n`,
      "calc/unused.py": `def unused(): return 1`,
    });
    const found = bodies(root, await inspectPython(root, ["tests/test_a.py"], { sandbox }));
    expect(found.sort()).toEqual([
      "calc/deep.py show return 1",
      `calc/sums.py add! """Adds.""" c = "ü" return a + b`,
      `other/__main__.py main x = "🥬"; return x`,
    ]);
  });
});

describe("spotCheck", () => {
  const source = `export function add(a, b) {\n  return a + b;\n}\nexport function sub(a, b) {\n  return a - b;\n}\n`;

  async function faultsOf(files: Readonly<Record<string, string>>): Promise<[string, readonly string[]]> {
    const root = projectOf(files);
    const suites = await runSuites({ root, sandbox });
    expect(suites.map(({ kind }) => kind)).toEqual(["passed"]);
    const faults = await spotCheck({ root, sandbox, suites });
    expect(await spotCheck({ root, sandbox, suites: [{ ...suites[0]!, kind: "failed" }] })).toEqual([]);
    return [root, faults.map(({ message }) => message)];
  }

  it("is content with tests that notice, and leaves the project as it is", async () => {
    const tests = `${use}import { add, sub } from "../src/sum.mjs"; test("adds", () => equal(add(1, 2), 3)); test("subtracts", () => equal(sub(3, 2), 1));`;
    const [root, messages] = await faultsOf({ "src/sum.mjs": source, "tests/sum.test.mjs": tests });
    expect(messages).toEqual([]);
    expect(readFileSync(join(root, "src/sum.mjs"), "utf8")).toBe(source);
  });

  it("names the functions that can break unnoticed", async () => {
    const tests = `${use}import { add, sub } from "../src/sum.mjs"; test("adds", () => { assert.equal(typeof add(1, 2) + sub.name, typeof add(2, 2) + "sub"); });`;
    const [, messages] = await faultsOf({ "src/sum.mjs": source, "tests/sum.test.mjs": tests });
    expect(messages).toEqual([
      expect.stringMatching(/^All tests still pass when the body of each of these functions is emptied: (add|sub) .*\(src\/sum\.mjs\)\.$/),
    ]);
  });

  it.runIf(hasPython)("breaks functions in Python", { tags: ["company", "long"] }, async () => {
    const calc = "def add(a, b):\n    return a + b\n";
    const strong =
      "import unittest\nfrom calc import add\nclass A(unittest.TestCase):\n    def test_add(self): self.assertEqual(add(1, 2), 3)\n";
    const weak =
      "import unittest\nfrom calc import add\nclass A(unittest.TestCase):\n    def test_add(self): self.assertIs(add(1, 2), add(1, 2))\n";
    expect((await faultsOf({ "calc.py": calc, "test_calc.py": strong }))[1]).toEqual([]);
    expect((await faultsOf({ "calc.py": calc, "test_calc.py": weak }))[1]).toEqual([
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

  it("refuses tests that use nothing of the project", async () => {
    const message = "The tests in JavaScript use no file of the project, so they cannot fail when it is wrong.";
    const mock = `${use}const add = () => 3; test("adds", () => equal(add(1, 2), 3));`;
    expect((await faultsOf({ "src/sum.mjs": source, "tests/sum.test.mjs": mock }))[1]).toEqual([message]);
    const named = `${use}const name = "sum"; const { add } = await import("../src/" + name + ".mjs"); test("adds", () => equal(add(1, 2), 3));`;
    expect((await faultsOf({ "src/sum.mjs": source, "tests/sum.test.mjs": named }))[1]).toEqual([]);
  });

  it.runIf(hasPython)("refuses tests in Python that use nothing of the project", { tags: ["company", "long"] }, async () => {
    const text = "import unittest\nclass A(unittest.TestCase):\n    def test_add(self): self.assertEqual(sum([1, 2]), 3)\n";
    expect((await faultsOf({ "calc.py": "def add(a, b):\n    return a + b\n", "test_calc.py": text }))[1]).toEqual([
      "The tests in Python use no file of the project, so they cannot fail when it is wrong.",
    ]);
  });

  it("is content with a project without functions to break", async () => {
    expect((await faultsOf({ "a.test.mjs": `${use}test("one", () => equal(JSON.parse("1"), 1));` }))[1]).toEqual([]);
  });
});
