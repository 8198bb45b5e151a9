import { describe, expect, it } from "vitest";
import { runSuites } from "../../src/checks/suites.ts";
import type { SuiteReport } from "../../src/checks/verification.ts";
import { refusedSandbox, type Sandbox } from "../../src/workspace/sandbox.ts";
import { someOf } from "../long.ts";
import { hasPytest, hasPython, projectOf, sandbox } from "./project.ts";

async function reportsOf(files: Readonly<Record<string, string>>, timeout?: number, each: Sandbox = sandbox): Promise<SuiteReport[]> {
  return runSuites({ root: projectOf(files), sandbox: each, timeout });
}

const node = `import test from "node:test"; import assert from "node:assert"; `;

describe("runSuites", () => {
  it("has no report for a project without tests", async () => {
    expect(await reportsOf({ "a.mjs": "", "b.py": "" })).toEqual([]);
  });

  it.each([
    ["javascript", ".test.mjs", (n: number) => `${node} for (let n = 0; n < ${n}; n++) test("t" + n, () => assert.fail());`],
    ["python", "_test.py", (n: number) => `import pytest\n@pytest.mark.parametrize("n", range(${n}))\ndef test_n(n):\n    assert False\n`],
  ] as const)(
    "tells a failure of each file, however many tests of others have failed: %s",
    { tags: ["company", "long"] },
    async (language, ending, code) => {
      if (language === "python" && !hasPytest) return;
      const files = Object.fromEntries(["a", "b", "c"].map((name) => [`tests/${name}${ending}`, code(name === "a" ? 120 : 2)]));
      const [report] = await reportsOf(files);
      expect(report).toMatchObject({ language, failed: 124 });
      expect([...new Set(report?.failures.map(({ file }) => file))]).toEqual(Object.keys(files));
      expect(report?.failures.length).toBeLessThan(60);
    },
  );

  it.runIf(hasPytest)("runs the tests of each language", async () => {
    const reports = await reportsOf({
      "calc/__init__.py": "def add(a, b):\n    return a + b\n",
      "tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
      "src/sum_test.py": "import unittest\nclass SumTest(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n",
      "tests/a.test.mjs": `${node} test("one", () => assert.ok(true));`,
    });
    expect(reports).toEqual([
      { language: "javascript", kind: "passed", total: 1, passed: 1, failed: 0, skipped: 0, files: ["tests/a.test.mjs"], failures: [] },
      {
        language: "python",
        kind: "passed",
        total: 2,
        passed: 2,
        failed: 0,
        skipped: 0,
        files: ["src/sum_test.py", "tests/test_calc.py"],
        failures: [],
      },
    ]);
  });

  it("says what is not run, and why", async () => {
    const reports = await reportsOf({
      "package.json": `{ "scripts": { "test": "jest" } }`,
      "a.test.js": `test("jest's", () => { expect(1).toBe(1); });`,
      "b.test.mjs": `${node} test("node's", () => assert.ok(true));`,
      "c.test.tsx": ``,
    });
    expect(reports.map(({ kind, files, reason }) => [kind, files, reason])).toEqual([
      ["passed", ["b.test.mjs"], undefined],
      ["not run", ["package.json"], "jest is missing in the sandbox. Install the packages of the project: npm install"],
    ]);
    expect((await reportsOf({ "c.test.tsx": "" })).map(({ kind, reason }) => [kind, reason])).toEqual([
      ["not run", expect.stringContaining("package.json names no command for tests")],
    ]);
  });

  it("runs nothing in a sandbox that refuses", async () => {
    const files = { "a.test.mjs": node, "test_a.py": "" };
    const reports = await reportsOf(files, undefined, refusedSandbox("there is none", "Install it."));
    expect(reports.map(({ kind, reason }) => [kind, reason])).toEqual([
      ["not run", "there is none. Install it."],
      ["not run", "there is none. Install it."],
    ]);
  });
});

/** The report on one Python test file. */
async function pythonReport(text: string, timeout?: number, more: Readonly<Record<string, string>> = {}): Promise<SuiteReport> {
  const [report] = await reportsOf({ "tests/test_a.py": text, ...more }, timeout);
  if (report === undefined) throw new Error("expected a report");
  return report;
}

describe.runIf(hasPytest)("the report on Python tests", () => {
  it("names each failure with its file and its message", async () => {
    const report = await pythonReport(`
import pytest, unittest

class Thing:
    pass

def test_passes(): assert 1 == 1
def test_fails():
    assert [1, 2] == [1, 3], "the lists differ"
def test_raises(): raise ValueError(Thing())
@pytest.mark.skip(reason="later")
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.fixture
def broken(): raise RuntimeError("no fixture")
def test_setup(broken): pass
@pytest.mark.parametrize("n", [1, 2])
def test_many(n): assert n == 1
`);
    expect(report).toMatchObject({ kind: "failed", total: 8, passed: 2, failed: 4, skipped: 2 });
    expect(report.failures.map(({ name, file }) => [name, file])).toEqual(
      ["test_fails", "test_raises", "test_setup", "test_many[2]"].map((name) => [`tests/test_a.py::${name}`, "tests/test_a.py"]),
    );
    expect(report.failures[0]?.message).toContain("the lists differ");
    expect(report.failures[1]?.message).toContain("object at 0x...");
    expect(report.failures[2]?.message).toContain("no fixture");
  });

  it("tells what is wrong with each file that cannot be used", { tags: ["company", "long"] }, async () => {
    const [report] = await reportsOf({
      "test_a.py": "import gone",
      "test_b.py": "def (",
      "test_c.py": "x = 1",
      "test_d.py": "import sys\nsys.exit(0)",
      "test_e.py": "import sys\nprint('{\"type\":\"passed\"}')\ndef test_e(): assert False, 'e'",
    });
    expect(report).toMatchObject({ kind: "failed", passed: 0 });
    const messages = new Map(report?.failures.map(({ file, message }) => [file, message]));
    expect(messages.get("test_a.py")).toContain("No module named 'gone'");
    expect(messages.get("test_b.py")).toContain("SyntaxError");
    expect(messages.get("test_c.py")).toContain("It ran no test");
    expect(messages.get("test_d.py")).toContain("SystemExit");
  });

  it.each(
    someOf(
      [
        ["ends itself", "import os, signal\ndef test_a(): os.kill(os.getpid(), signal.SIGKILL)", "by SIGKILL in tests/test_a.py::test_a"],
        ["has no tests", "x = 1", "It ran no test"],
        ["skips all", "import pytest\n@pytest.mark.skip\ndef test_a(): pass", "all of them are skipped"],
        ["leaves", "import os\ndef test_a(): os._exit(0)", "ended with exit code 0"],
        [
          "prints results",
          `import os\nprint('{"type":"end","code":0}')\nos.write(1, b'{"type":"passed"}')\ndef test_a(): assert False`,
          "assert False",
        ],
      ] as const,
      2,
    ),
  )("is not fooled by a file that %s", { tags: "company" }, async (_what, text, message) => {
    const report = await pythonReport(text);
    expect(report.kind).toBe("failed");
    expect(report.failures.map((failure) => failure.message).join()).toContain(message);
  });

  it.each(
    someOf(
      [
        ["addopts = --collect-only", { kind: "failed" }],
        ["addopts = -k two", { kind: "passed", passed: 1, skipped: 1 }],
        ["addopts = --deselect tests/test_a.py::test_one", { kind: "passed", passed: 1, skipped: 1 }],
        ["python_functions = test_two", { kind: "failed", passed: 1, failed: 1 }],
      ] as const,
      2,
    ),
  )("has every test of a project whose settings leave some out: %s", { tags: "company" }, async (settings, expected) => {
    const text = "def test_one(): assert 1 == 2\ndef test_two(): assert 1 + 1 == 2\n";
    const [report] = await reportsOf({ "pytest.ini": `[pytest]\n${settings}\n`, "tests/test_a.py": text });
    expect(report).toMatchObject(expected);
  });

  it("names the test that hangs", { tags: ["company", "long"] }, async () => {
    const report = await pythonReport("import time\ndef test_good(): assert True\ndef test_hangs(): time.sleep(1000)", 2_500);
    expect(report).toMatchObject({ kind: "timeout", passed: 1, failed: 1, failures: [{ name: "tests/test_a.py::test_hangs" }] });
  });
});

describe.runIf(hasPython)("the report on Python tests where pytest is missing", () => {
  /** A module that hides pytest from the programs of a project. */
  const WITHOUT_PYTEST = { "pytest.py": "raise ModuleNotFoundError('No module named pytest', name='pytest')" };

  it("has the results of unittest", async () => {
    const text = `
import unittest
class A(unittest.TestCase):
    def test_one(self): self.assertEqual(1, 1)
    def test_two(self): self.assertEqual(1, 2)
    @unittest.skip("later")
    def test_three(self): pass
    @unittest.expectedFailure
    def test_four(self): self.fail()
    def test_five(self):
        for n in range(3):
            with self.subTest(n=n): self.assertLess(n, 2)
`;
    const report = await pythonReport(text, undefined, WITHOUT_PYTEST);
    expect(report).toMatchObject({ kind: "failed", total: 5, passed: 1, failed: 2, skipped: 2 });
    expect(report.failures.map(({ name, file }) => [name, file])).toEqual(
      ["A.test_five", "A.test_two"].map((name) => [`tests.test_a.${name}`, "tests/test_a.py"]),
    );
    expect(report.failures[1]?.message).toContain("1 != 2");
  });

  it.each([
    ["cannot be loaded", "import unittest\nraise KeyError('x')", "KeyError: 'x'"],
    ["has no tests", "import unittest", "It ran no test"],
    [
      "leaves",
      "import os, unittest\nclass A(unittest.TestCase):\n    def test_a(self): os._exit(0)",
      "ended with exit code 0 in tests.test_a.A.test_a",
    ],
  ])("is not fooled by a file that %s", async (_what, text, message) => {
    const report = await pythonReport(text, undefined, WITHOUT_PYTEST);
    expect(report).toMatchObject({
      kind: "failed",
      passed: 0,
      failures: [{ file: expect.any(String), message: expect.stringContaining(message) }],
    });
  });

  it.each([
    ["import pytest", "import pytest\ndef test_a(): assert 1"],
    ["take a fixture", "def test_a(tmp_path): assert tmp_path.exists()"],
    ["are functions", "def test_a(): assert True"],
  ])("says what to install for tests that %s", async (_what, text) => {
    const report = await pythonReport(text, undefined, WITHOUT_PYTEST);
    expect(report).toMatchObject({ kind: "not run", total: 0, reason: expect.stringContaining("apt-get install python3-pytest") });
  });
});
