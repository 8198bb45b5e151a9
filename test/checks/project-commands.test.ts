import { describe, expect, it } from "vitest";
import { countsIn, projectCommands } from "../../src/checks/project-commands.ts";
import { runSuites } from "../../src/checks/suites.ts";
import { isProven, type SuiteReport } from "../../src/checks/verification.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import { refusedSandbox } from "../../src/workspace/sandbox.ts";
import { criterionOf, hasPython, projectOf, sandbox } from "./project.ts";

type Files = Readonly<Record<string, string>>;
const scripts = (all: object): Files => ({ "package.json": JSON.stringify({ scripts: all }) });

describe("the commands that a project names for its tests", () => {
  it.each<readonly [string, Files, readonly string[]]>([
    ["no file names one", { "README.md": "make test" }, []],
    ["npm's own words", scripts({ test: 'echo "Error: no test specified" && exit 1' }), []],
    ["node --test", scripts({ test: "node --test", build: "tsc" }), []],
    ["node --test with tests that are found anyway", scripts({ test: "node --test --test-reporter=tap 'tests/**/*.test.mjs' test/" }), []],
    ["node --test of other files", scripts({ test: "node --test spec/all.mjs" }), ["npm test"]],
    ["node --test by way of a compiler", scripts({ test: "node --import tsx --test" }), ["npm test"]],
    ["another runner after a build", scripts({ build: "tsc", test: "vitest run" }), ["npm run build", "npm test"]],
    ["go.mod", { "go.mod": "module a" }, ["go build ./...", "go test ./..."]],
    ["Cargo.toml", { "Cargo.toml": "[package]" }, ["cargo build", "cargo test"]],
    ["a Makefile", { Makefile: "build:\n\tcc a.c\ntest: build\n\t./a\n" }, ["make build", "make test"]],
    ["a Makefile with the name of GNU", { GNUmakefile: "check:\n\t./a\n" }, ["make check"]],
    ["a Makefile that only sets a variable", { Makefile: "test := a\n.PHONY: test\nall:\n\techo test:\n" }, []],
    ["a justfile", { justfile: "@test *args:\n  ./a\nbuild := 'x'\n" }, ["just test"]],
    [
      "pyproject.toml",
      { "pyproject.toml": '[tool.pdm.scripts]\nrun = "x"\ntest = "nox -s unit"\n\n[tool.poe.tasks]\ntest = { cmd = "pytest -q" }\n' },
      ["pdm run test"],
    ],
  ])("are found: %s", async (_what, files, commands) => {
    const found = await projectCommands(projectOf(files));
    expect(found.flatMap(({ steps }) => steps.map((step) => step.join(" ")))).toEqual(commands);
  });
});

describe("the counts of tests", () => {
  const counts = (passed: number, failed: number, skipped: number) => ({ total: passed + failed + skipped, passed, failed, skipped });

  it.each([
    ["TAP with its summary", "ok 1 - a\nnot ok 2 - b\n# tests 2\n# pass 1\n# fail 1\n# skipped 0", counts(1, 1, 0)],
    ["TAP without one", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later", counts(1, 1, 1)],
    ["node --test", "✖ b (1.2ms)\nℹ tests 3\nℹ pass 2\nℹ fail 1\nℹ duration_ms 12", counts(2, 1, 0)],
    [
      "JUnit",
      '<testsuites tests="5" failures="1"><testsuite name="a" tests="3" failures="1" errors="0" skipped="1"><testsuite tests="2">',
      counts(3, 1, 1),
    ],
    ["pytest", "=== 1 failed, 2 passed, 1 skipped in 0.12s ===", counts(2, 1, 1)],
    ["vitest", " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 4 passed (5)", counts(4, 1, 0)],
    ["jest", "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 3 passed, 5 total", counts(3, 1, 1)],
    ["mocha", "  3 passing (12ms)\n  1 pending\n  1 failing", counts(3, 1, 1)],
    [
      "cargo, one line for each target",
      "test result: FAILED. 2 passed; 1 failed; 1 ignored;\ntest result: ok. 3 passed; 0 failed; 0 ignored;",
      counts(5, 1, 1),
    ],
    ["go", "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\nexit status 1", counts(1, 1, 0)],
    ["nothing that is known", "it broke", counts(0, 1, 0)],
  ])("are read: %s", (_what, output, expected) => expect(countsIn(output, false)).toEqual(expected));

  it("of a silent command that succeeds are one test", () => expect(countsIn("done", true)).toEqual(counts(1, 0, 0)));
});

describe("a command of the project", () => {
  const reports = async (files: Files): Promise<SuiteReport[]> => runSuites({ root: projectOf(files), sandbox });
  const make = (recipe: string, more: Files = {}): Files => ({ Makefile: `test:\n\t${recipe}\n`, ...more });
  /** A shell on this machine says what is missing in its own words. */
  const MISSING = /is missing in the sandbox\. Install it/;

  it("passes and fails by its exit code, with what it counts and names", async () => {
    expect(await reports(make("@printf '2 passed, 1 skipped\\n'"))).toEqual([
      { language: "make test", kind: "passed", total: 3, passed: 2, failed: 0, skipped: 1, files: ["Makefile"], failures: [] },
    ]);
    const [red] = await reports(make("@printf -- '--- FAIL: TestSum (0.01s)\\n--- PASS: TestDiff\\n'; exit 3"));
    expect(red).toMatchObject({
      language: "make test",
      kind: "failed",
      passed: 1,
      failed: 1,
      failures: [{ name: "TestSum", file: "Makefile" }],
    });
    expect(red?.failures[0]?.message).toContain("--- FAIL: TestSum");
  });

  it("builds first, in the same copy, and a build that fails is a failure", async () => {
    const files = { Makefile: "build:\n\t@echo 5 > made\ntest:\n\t@grep -q 5 made\n" };
    expect(await reports(files)).toMatchObject([{ kind: "passed", total: 1, passed: 1 }]);
    expect(await reports({ Makefile: files.Makefile.replace("echo 5", "false") })).toMatchObject([
      { kind: "failed", failures: [{ name: "make build, 1 failed" }] },
    ]);
  });

  it("of a script runs without npm's shell where it needs none", async () => {
    const [report] = await reports({ ...scripts({ test: "node run.mjs" }), "run.mjs": "console.log('4 passing')" });
    expect(report).toMatchObject({ language: "npm test", kind: "passed", passed: 4 });
  });

  it.each<readonly [string, Files, RegExp]>([
    [
      "the program itself",
      { justfile: "test:\n  ./a\n" },
      /^just is missing in the sandbox\. Install it, on Debian and Ubuntu with: apt-get install just$/,
    ],
    ["one that it starts", make("no-such-runner --all"), MISSING],
    ["one that its shell starts", make("true && no-such-runner"), MISSING],
    ["a module of Python", make("@echo '/usr/bin/python3: No module named pytest' >&2; exit 1"), /^pytest is missing/],
  ])("is not run, and neither passed nor failed, where a program is missing: %s", async (_what, files, reason) => {
    expect(await reports(files)).toEqual([expect.objectContaining({ kind: "not run", total: 0, reason: expect.stringMatching(reason) })]);
  });

  it("that hangs is a timeout", async () => {
    const [report] = await runSuites({ root: projectOf(make("sleep 100")), sandbox, timeout: 1_500 });
    expect(report).toMatchObject({ kind: "timeout", reason: "They did not end within 1500 ms." });
  });

  it("is not run in a sandbox that refuses", async () => {
    const found = await runSuites({ root: projectOf(make("true")), sandbox: refusedSandbox("there is none", "Install it.") });
    expect(found).toMatchObject([{ kind: "not run", reason: "there is none. Install it." }]);
  });
});

describe("a project whose own tests were not run", () => {
  const criteria = [criterionOf("A1", [{ run: ["node", "-p", "1 + 1"], stdout: { equals: "2" } }])];
  const unittest = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n";

  it.each<readonly [string, Files]>([
    ["a recipe without its program", { justfile: "test:\n  ./a\n" }],
    ["tests in TypeScript that nothing compiles", { "a.test.tsx": "" }],
    ["a runner that is not installed", scripts({ test: "no-such-runner" })],
  ])("is not proven: %s", async (_what, files) => {
    const found = await verifyProject({
      root: projectOf({ ...files, "ok.test.mjs": 'import { test } from "node:test"; test("a", () => {});' }),
      sandbox,
      criteria,
      depth: "quick",
    });
    expect(found.verdicts).toMatchObject([{ outcome: "proven" }]);
    expect(isProven(found)).toBe(false);
  });

  it.runIf(hasPython)("is not proven by unittest where it is made for pytest, and says so", async () => {
    // A module of the project hides the runner from Python.
    const files = { "pytest/__init__.py": "raise ImportError('no pytest')\n", "tests/test_a.py": unittest };
    const of = (more: Files): Promise<SuiteReport[]> => runSuites({ root: projectOf({ ...files, ...more }), sandbox });
    expect(await of({})).toMatchObject([{ language: "python", kind: "passed" }]);
    for (const more of [
      { "conftest.py": "" },
      { "requirements-dev.txt": "pytest>=8\n" },
      { "pyproject.toml": "[tool.pytest.ini_options]\n" },
    ])
      expect(await of(more)).toMatchObject([
        { kind: "not run", reason: expect.stringMatching(/no pytest.*apt-get install python3-pytest/) },
      ]);
  });

  it.runIf(hasPython)("has those files run whose names it gives to pytest", async () => {
    const config = "[tool.pytest.ini_options]\npython_files = ['check_*.py', 'spec.py']\n";
    const [report] = await runSuites({
      root: projectOf({
        "pyproject.toml": config,
        "check_a.py": "def test_a():\n    assert 1 == 2\n",
        "spec.py": "def test_b():\n    assert 1\n",
      }),
      sandbox,
    });
    expect(report?.files).toEqual(["check_a.py", "spec.py"]);
    expect(report?.kind).not.toBe("passed");
  });
});
