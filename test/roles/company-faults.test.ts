import { describe, expect, test } from "vitest";
import type { Message } from "../../src/index.ts";
import { design, fence, greetJs, tasks } from "../actions/greeter.ts";
import { pretendSandbox } from "../actions/pretend-sandbox.ts";
import type { TaskReplies } from "../actions/task-script.ts";
import { smallWorkspace, work } from "./waterfall-trial.ts";

const requirements = ["docs/prd/greeter.json", "docs/prd/greeter.md", "docs/requirement.txt"];
const designed = ["docs/system_design/greeter.json", "docs/system_design/greeter.md"];
const planned = ["README.md", "docs/task/greeter.json", "docs/task/greeter.md", "package.json"];

/** The same bad reply, as often as it is asked for. */
function thrice(reply: string): readonly string[] {
  return [reply, reply, reply];
}

interface Case {
  readonly what: string;
  readonly replies: TaskReplies;
  readonly error: object;
  /** The files that must be in the workspace all the same. */
  readonly kept: readonly string[];
  /** The last who spoke before the failure. */
  readonly last: string;
}

const lbtm = JSON.stringify({ verdict: "LBTM", comments: ["No."] });
const invalid = { name: "OutputError", code: "OUTPUT_INVALID" };
const missing = { name: "OutputError", code: "CODE_MISSING" };

const cases: readonly Case[] = [
  {
    what: "requirements in prose",
    replies: { WritePrd: thrice("A greeter would be nice.") },
    error: invalid,
    kept: [],
    last: "UserRequirement",
  },
  { what: "requirements of a wrong shape", replies: { WritePrd: thrice("[1, 2]") }, error: invalid, kept: [], last: "UserRequirement" },
  {
    what: "a design that leaves the project",
    replies: { WriteDesign: thrice(JSON.stringify({ ...design, fileList: ["../../.bashrc"] })) },
    error: { ...invalid, message: expect.stringContaining("fileList[0]") },
    kept: requirements,
    last: "WritePrd",
  },
  {
    what: "a plan that hooks into git",
    replies: { WriteTasks: thrice(JSON.stringify({ ...tasks, taskList: [".git/hooks/post-commit"] })) },
    error: { ...invalid, message: expect.stringContaining("taskList[0]") },
    kept: [...requirements, ...designed],
    last: "WriteDesign",
  },
  {
    what: "a plan of ten thousand files",
    replies: { WriteTasks: thrice(JSON.stringify({ ...tasks, taskList: Array.from({ length: 10_000 }, (_, n) => `src/${n}.js`) })) },
    error: { ...invalid, message: expect.stringContaining("10000 files") },
    kept: [...requirements, ...designed],
    last: "WriteDesign",
  },
  {
    what: "no code in the second file",
    replies: { "WriteCode: index.html": thrice("Open your editor and write it yourself.") },
    error: { ...missing, data: { path: "index.html" } },
    kept: [...requirements, ...designed, ...planned, "src/greet.js"],
    last: "WriteTasks",
  },
  {
    what: "a review that is none",
    replies: { "WriteCodeReview: index.html (round 1)": thrice('{"verdict":"MAYBE"}') },
    error: invalid,
    kept: [...requirements, ...designed, ...planned, "src/greet.js", "index.html"],
    last: "WriteCode",
  },
  {
    what: "no code after a review",
    replies: { "WriteCodeReview: src/greet.js (round 1)": lbtm, "RewriteCode: src/greet.js (round 1)": thrice("```\n```") },
    error: missing,
    kept: [...requirements, ...designed, ...planned, "src/greet.js", "index.html"],
    last: "WriteCode",
  },
  {
    what: "no test",
    replies: { "WriteTest: tests/greet.test.mjs": thrice("```js\ntest(") },
    error: missing,
    kept: [...requirements, ...designed, ...planned, "src/greet.js", "index.html"],
    last: "WriteCodeReview",
  },
  {
    what: "a diagnosis that blames a file of the machine",
    replies: { "DebugError (round 1)": thrice('{"analysis":"x","files":["/etc/passwd"]}') },
    error: invalid,
    kept: [...requirements, ...designed, ...planned, "src/greet.js", "index.html", "tests/greet.test.mjs"],
    last: "RunTests",
  },
  {
    what: "no code in a repair",
    replies: { "DebugError (round 1)": '{"analysis":"x","files":["src/greet.js"]}', "FixCode: src/greet.js (round 1)": thrice("done") },
    error: missing,
    kept: [...requirements, ...designed, ...planned, "src/greet.js", "index.html", "tests/greet.test.mjs"],
    last: "RunTests",
  },
];

describe("wrong answers of a model", () => {
  test.each(cases)("$what: a typed error, and everything written before is there", async ({ replies, error, kept, last }) => {
    const workspace = smallWorkspace();
    const { result } = await work({ workspace, replies, sandbox: pretendSandbox(() => ({ failing: "no" })) });
    expect(result).toMatchObject({ status: "failed", error });
    expect(await workspace.list()).toEqual([...kept].sort());
    expect(result.messages.at(-1)?.causeBy).toBe(last);
    const committed = new Set(workspace.commits.flatMap((commit) => commit.paths));
    for (const message of result.messages) for (const path of pathsIn(message)) expect(committed).toContain(path);
  });
});

describe("going on after a failure", () => {
  test("a run that failed pays only for what is left", async () => {
    const workspace = smallWorkspace();
    const failed = await work({
      workspace,
      replies: { "WriteCode: index.html": ["no", "no", "no", fence("<p>late</p>\n"), fence("<p>late</p>\n")] },
      run: { id: "greeter-1" },
    });
    expect(failed.result).toMatchObject({ status: "failed", error: missing });
    const asked = failed.model.calls.length;
    const resumed = await failed.team.resume("greeter-1").result;
    expect(resumed.status).toBe("finished");
    expect(await workspace.read("index.html")).toBe("<p>late</p>\n");
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
    expect(failed.model.calls.slice(asked).map((call) => call.messages[1]?.content?.split("\n")[0])).not.toContain("# WritePrd");
  });
});

/** Paths a message says were written. */
function pathsIn({ instructContent }: Message): readonly string[] {
  const { files } = (instructContent ?? {}) as { readonly files?: unknown };
  if (!Array.isArray(files)) return [];
  return (files as readonly unknown[]).flatMap((file) =>
    typeof file === "object" && file !== null && "sha256" in file ? [(file as unknown as { path: string }).path] : [],
  );
}
