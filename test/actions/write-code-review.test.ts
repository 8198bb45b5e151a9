import { describe, expect, test } from "vitest";
import { type ReviewReport, WriteCodeReview, WriteDesign, WritePrd, WriteTasks } from "../../actions/index.ts";
import { UsageError } from "../../src/index.ts";
import { memoryWorkspace } from "../../src/workspace/index.ts";
import { runAlone } from "./alone.ts";
import { brokenGreetJs, design, fence, greetJs, indexHtml, prd, replies, tasks } from "./greeter.ts";
import { questionIn, type TaskReplies, taskModel, tasksOf } from "./task-script.ts";

const lbtm = JSON.stringify({ verdict: "LBTM", comments: ["The exclamation mark is missing."] });
const lgtm = JSON.stringify({ verdict: "LGTM", comments: ["Good now."] });

function review(given: TaskReplies, rounds?: number) {
  const workspace = memoryWorkspace({ files: { "src/greet.js": brokenGreetJs, "index.html": indexHtml } });
  const model = taskModel({ ...replies, ...given });
  const action = new WriteCodeReview({ workspace, ...(rounds === undefined ? {} : { rounds }) });
  const said = [
    [WritePrd, prd],
    [WriteDesign, design],
    [WriteTasks, tasks],
  ] as const;
  return { workspace, model, result: runAlone({ action, model, said }) };
}

describe("WriteCodeReview", () => {
  test("good files are told as good; nothing is written or committed", async () => {
    const { workspace, model, result } = review({});
    const report = (await result).output?.instructContent as ReviewReport;
    expect(report.files).toEqual([
      { path: "src/greet.js", verdict: "LGTM", comments: [], rounds: 1, rewrites: 0 },
      { path: "index.html", verdict: "LGTM", comments: ["Short."], rounds: 1, rewrites: 0 },
    ]);
    expect(tasksOf(model)).toEqual(["WriteCodeReview: src/greet.js (round 1)", "WriteCodeReview: index.html (round 1)"]);
    expect(workspace.commits).toEqual([]);
  });

  test("a refused file is written again with the comments, reviewed again, and committed", async () => {
    const { workspace, model, result } = review({
      "WriteCodeReview: src/greet.js (round 1)": lbtm,
      "RewriteCode: src/greet.js (round 1)": fence(greetJs),
      "WriteCodeReview: src/greet.js (round 2)": lgtm,
    });
    const report = (await result).output?.instructContent as ReviewReport;
    expect(report.files[0]).toEqual({ path: "src/greet.js", verdict: "LGTM", comments: ["Good now."], rounds: 2, rewrites: 1 });
    expect(tasksOf(model).slice(0, 3)).toEqual([
      "WriteCodeReview: src/greet.js (round 1)",
      "RewriteCode: src/greet.js (round 1)",
      "WriteCodeReview: src/greet.js (round 2)",
    ]);
    expect(questionIn(model.calls[1])).toContain("## Review\n- The exclamation mark is missing.");
    expect(questionIn(model.calls[1])).toContain(brokenGreetJs);
    expect(questionIn(model.calls[2])).toContain(greetJs);
    expect(questionIn(model.calls[2])).not.toContain(brokenGreetJs);
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
    expect(workspace.commits.map(({ message, paths }) => [message, paths])).toEqual([
      ["Change the code of greeter after review", ["src/greet.js"]],
    ]);
  });

  test.each([1, 2, 3])("after %i rounds the last rewrite stands, whatever the verdict", async (rounds) => {
    const given = Object.fromEntries(
      [1, 2, 3].flatMap((round) => [
        [`WriteCodeReview: src/greet.js (round ${round})`, lbtm],
        [`RewriteCode: src/greet.js (round ${round})`, fence(`// version ${round}\n`)],
      ]),
    );
    const { workspace, model, result } = review(given, rounds);
    const report = (await result).output?.instructContent as ReviewReport;
    expect(report.files[0]).toMatchObject({ verdict: "LBTM", rounds, rewrites: rounds });
    expect(await workspace.read("src/greet.js")).toBe(`// version ${rounds}\n`);
    expect(tasksOf(model)).toHaveLength(2 * rounds + 1);
  });

  test.each([0, -1, 1.5, Number.NaN])("%d rounds are no number of rounds", (rounds) => {
    expect(() => new WriteCodeReview({ workspace: memoryWorkspace(), rounds })).toThrow(UsageError);
  });
});
