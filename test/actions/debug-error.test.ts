import { describe, expect, test } from "vitest";
import { DebugError, RunTests, type TestReport, WriteDesign, WritePrd, WriteTasks } from "../../actions/index.ts";
import { memoryWorkspace } from "../../src/workspace/index.ts";
import { runAlone } from "./alone.ts";
import { brokenGreetJs, design, fence, greetJs, greetTest, indexHtml, prd, tasks } from "./greeter.ts";
import { questionIn, type TaskReplies, taskModel, tasksOf } from "./task-script.ts";

const report: TestReport = {
  tests: "failed",
  round: 0,
  total: 1,
  passed: 0,
  failed: 1,
  failures: [{ name: "greets by name", file: "tests/greet.test.mjs", message: "'Hello, Ada' !== 'Hello, Ada!'" }],
};

const files = {
  "src/greet.js": brokenGreetJs,
  "index.html": indexHtml,
  "tests/greet.test.mjs": greetTest,
  "package.json": "{}\n",
  "notes.txt": "mine",
};

function debug(replies: TaskReplies, round = 0) {
  const workspace = memoryWorkspace({ files });
  const model = taskModel(replies);
  const said = [
    [WritePrd, prd],
    [WriteDesign, design],
    [WriteTasks, tasks],
    [RunTests, { ...report, round }],
  ] as const;
  return { workspace, model, result: runAlone({ action: new DebugError({ workspace }), model, said }) };
}

function diagnosis(...paths: string[]): string {
  return JSON.stringify({ analysis: "The mark is missing.", files: paths });
}

describe("DebugError", () => {
  test("asks for the reason, then for each file to blame, and commits the repair", async () => {
    const { workspace, model, result } = debug({
      "DebugError (round 1)": diagnosis("src/greet.js"),
      "FixCode: src/greet.js (round 1)": fence(greetJs),
    });
    expect((await result).output).toMatchObject({
      causeBy: "DebugError",
      instructContent: { round: 1, analysis: "The mark is missing.", files: ["src/greet.js"] },
    });
    expect(tasksOf(model)).toEqual(["DebugError (round 1)", "FixCode: src/greet.js (round 1)"]);
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
    expect(workspace.commits.map(({ message, paths }) => [message, paths])).toEqual([
      ["Repair what the tests found (round 1)", ["src/greet.js"]],
    ]);
  });

  test("both questions hold what failed and the files as they are; the second holds the reason", async () => {
    const { model, result } = debug({
      "DebugError (round 1)": diagnosis("src/greet.js"),
      "FixCode: src/greet.js (round 1)": fence(greetJs),
    });
    await result;
    const [why, fix] = model.calls.map((call) => questionIn(call));
    for (const question of [why, fix])
      for (const part of ["'Hello, Ada' !== 'Hello, Ada!'", brokenGreetJs, greetTest]) expect(question).toContain(part);
    expect(fix).toContain("## Analysis\nThe mark is missing.");
    expect(why).not.toContain("notes.txt");
  });

  test.each(["../secret.js", "/etc/passwd", ".git/hooks/pre-commit", "notes.txt", "docs/prd/greeter.json", "src/new.js"])(
    "%s is no file that may be repaired",
    async (path) => {
      const { workspace, result } = debug({ "DebugError (round 1)": [diagnosis("src/greet.js", path), diagnosis(path), diagnosis(path)] });
      expect(await result).toMatchObject({ status: "failed", error: { code: "OUTPUT_INVALID" } });
      expect(await workspace.read("src/greet.js")).toBe(brokenGreetJs);
      expect(workspace.commits).toEqual([]);
    },
  );

  test("a fix without code ends the action; the fixes before it stay on disk", async () => {
    const { workspace, result } = debug({
      "DebugError (round 1)": diagnosis("src/greet.js", "index.html"),
      "FixCode: src/greet.js (round 1)": fence(greetJs),
      "FixCode: index.html (round 1)": ["no", "no", "no"],
    });
    expect(await result).toMatchObject({ status: "failed", error: { code: "CODE_MISSING", data: { path: "index.html" } } });
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
  });
});
