import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { DebugError, RunTests, type TestReport, WriteTasks } from "../../actions/index.ts";
import { renderTestReport, type RunTestsOptions } from "../../actions/waterfall/run-tests.ts";
import { type Message, ROUTE_TO_ALL, type RunResult, UsageError } from "../../src/index.ts";
import { chooseSandbox, fileWorkspace, memoryWorkspace, type Sandbox } from "../../src/workspace/index.ts";
import { hasPytest, sandbox as isolated } from "../checks/project.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { runAlone } from "./alone.ts";
import { brokenGreetJs, greetJs, greetTest, tasks } from "./greeter.ts";
import { endingSandbox, pretendSandbox } from "./pretend-sandbox.ts";

/** A folder with a project in it. */
function project(files: Readonly<Record<string, string>>): string {
  const root = scratchFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

interface Tried {
  readonly report: TestReport;
  readonly message: Message | undefined;
  readonly result: RunResult;
}

async function runTests(
  sandbox: Sandbox,
  o: Partial<RunTestsOptions> & { root?: string; round?: number; plan?: object } = {},
): Promise<Tried> {
  const { root = project({ "tests/greet.test.mjs": greetTest }), round, plan = tasks, ...options } = o;
  const action = new RunTests({ workspace: fileWorkspace({ root, git: false }), sandbox, ...options });
  const debugged = round === undefined ? [] : [[DebugError, { round, analysis: "", files: [] }] as const];
  const result = await runAlone({ action, said: [[WriteTasks, plan], ...debugged] });
  const message = result.messages.findLast(({ causeBy }) => causeBy === "RunTests");
  return { result, message, report: message?.instructContent as TestReport };
}

describe("RunTests, for real", () => {
  test("tells tests that pass, to everyone", async () => {
    const root = project({ "tests/greet.test.mjs": greetTest, "src/greet.js": greetJs });
    const { report, message, result } = await runTests(await chooseSandbox("none"), { root });
    expect(report).toEqual({ tests: "passed", round: 0, total: 1, passed: 1, failed: 0, failures: [] });
    expect(message?.sendTo).toEqual([ROUTE_TO_ALL]);
    expect(result.output).toBe(message);
  });

  test("tells tests that fail, with what they said and without a place of the machine", async () => {
    const root = project({ "tests/greet.test.mjs": `${greetTest}console.log("printed");\n`, "src/greet.js": brokenGreetJs });
    const { report, message } = await runTests(await chooseSandbox("none"), { root });
    expect(report).toMatchObject({
      tests: "failed",
      total: 1,
      passed: 0,
      failed: 1,
      failures: [{ name: "greets by name", file: "tests/greet.test.mjs" }],
    });
    expect(report.failures[0]?.message).toContain("Hello, Ada!");
    expect(report.output).toContain("printed");
    expect(JSON.stringify(message)).not.toContain(root);
    expect(JSON.stringify(message)).not.toMatch(/\/tmp\/|troupe-sandbox/);
  });
});

describe.runIf(hasPytest)("tests in Python", () => {
  const plan = { ...tasks, taskList: ["greet.py"], testList: ["tests/test_greet.py"] };
  const test_greet =
    "import pytest\nfrom greet import greet\n\n\n@pytest.mark.parametrize('name', ['Ada', 'Bob'])\ndef test_greet(name):\n    assert greet(name) == f'Hello, {name}!'\n";
  const tried = (greet: string): Promise<Tried> =>
    runTests(isolated, { root: project({ "greet.py": greet, "tests/test_greet.py": test_greet }), plan });

  test("run with pytest", async () => {
    const { report } = await tried("def greet(name):\n    return f'Hello, {name}!'\n");
    expect(report).toEqual({ tests: "passed", round: 0, total: 2, passed: 2, failed: 0, failures: [] });
  });

  test("go back to the engineer with what failed", async () => {
    const { report, message } = await tried("def greet(name):\n    return 'Hello, Ada!'\n");
    expect(report).toMatchObject({ tests: "failed", total: 2, passed: 1, failed: 1, failures: [{ file: "tests/test_greet.py" }] });
    expect(message?.sendTo).toEqual(["Engineer"]);
  });

  test("are not run without pytest, and say what to install", async () => {
    const root = project({
      "pytest/__init__.py": "raise ImportError('no pytest', name='pytest')\n",
      "greet.py": "",
      "tests/test_greet.py": "import pytest\n",
    });
    const { report } = await runTests(isolated, { root, plan });
    expect(report).toMatchObject({ tests: "not run", hint: expect.stringContaining("apt-get install python3-pytest") });
  });
});

describe("the recipients of the report", () => {
  const failing = pretendSandbox(() => ({ failing: "no" }));

  test("failing tests go to the engineer while rounds are left, then to everyone", async () => {
    expect((await runTests(failing)).message?.sendTo).toEqual(["Engineer"]);
    expect((await runTests(failing, { round: 2 })).message?.sendTo).toEqual(["Engineer"]);
    expect((await runTests(failing, { round: 3 })).message?.sendTo).toEqual([ROUTE_TO_ALL]);
    expect((await runTests(failing, { round: 1, debugRounds: 1 })).message?.sendTo).toEqual([ROUTE_TO_ALL]);
    expect((await runTests(failing, { debugRounds: 0 })).message?.sendTo).toEqual([ROUTE_TO_ALL]);
  });

  test.each([-1, 1.5, Number.NaN])("%d rounds of debugging are no number of rounds", (debugRounds) => {
    expect(() => new RunTests({ workspace: memoryWorkspace(), sandbox: failing, debugRounds })).toThrow(UsageError);
  });
});

describe("tests that do not run to their end", () => {
  test("a sandbox that refuses: not run, with what to do about it, to everyone", async () => {
    const refused = endingSandbox({ kind: "refused", reason: "bubblewrap is missing", hint: "Install it." }, "refused");
    const { report, message, result } = await runTests(refused);
    expect(report).toEqual({
      tests: "not run",
      round: 0,
      total: 0,
      passed: 0,
      failed: 0,
      failures: [],
      hint: "bubblewrap is missing. Install it.",
    });
    expect(message?.sendTo).toEqual([ROUTE_TO_ALL]);
    expect(message?.content).toContain("The tests were not run.\n\nbubblewrap is missing. Install it.");
    expect(result.status).toBe("finished");
  });

  test("time that is up counts as a failure", async () => {
    const { report } = await runTests(endingSandbox({ kind: "timeout", ms: 500, stdout: "", stderr: "", isCut: false }), { timeout: 500 });
    expect(report.tests).toBe("failed");
    expect(report.failed).toBe(report.failures.length);
    expect(report.total).toBe(report.failed);
    expect(report.failures.at(-1)).toEqual({ name: "node --test", message: expect.stringContaining("500 ms") });
  });
});

describe("the report as text", () => {
  const failures = Array.from({ length: 30 }, (_, index) => ({
    name: `test ${index}`,
    file: "tests/a.test.mjs",
    message: "x".repeat(5_000),
  }));
  const report: TestReport = { tests: "failed", round: 0, total: 31, passed: 1, failed: 30, failures, output: "y".repeat(50_000) };

  test("is bounded, however much failed and was printed", () => {
    const text = renderTestReport(report);
    expect(text.length).toBeLessThan(40_000);
    expect(text).toContain("30 of 31 tests failed.");
    expect(text).toContain("- 10 more failures");
    expect(text).toContain("test 0 in tests/a.test.mjs");
  });
});
