import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { TestReport } from "../../actions/index.ts";
import { waterfallCompany } from "../../roles/index.ts";
import { Environment, type Message, ROUTE_TO_ALL, ROUTE_TO_SELF, UsageError } from "../../src/index.ts";
import { chooseSandbox, fileWorkspace } from "../../src/workspace/index.ts";
import { brokenGreetJs, fence, greetJs, greetTest, indexHtml, prd, replies } from "../actions/greeter.ts";
import { endingSandbox, pretendSandbox } from "../actions/pretend-sandbox.ts";
import { taskModel, tasksOf } from "../actions/task-script.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { smallWorkspace, work } from "./waterfall-trial.ts";

const lbtm = JSON.stringify({ verdict: "LBTM", comments: ["The mark is missing."] });
const lgtm = JSON.stringify({ verdict: "LGTM", comments: [] });

/** A diagnosis and a repair for rounds 1 to `rounds`. */
function repairs(rounds: number): Record<string, string> {
  const all = Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) => [
    [`DebugError (round ${round})`, JSON.stringify({ analysis: "The mark is missing.", files: ["src/greet.js"] })],
    [`FixCode: src/greet.js (round ${round})`, fence(`${greetJs}// repaired ${round}\n`)],
  ]);
  return Object.fromEntries(all) as Record<string, string>;
}

function causes(messages: readonly Message[]): string[] {
  return messages.map(({ causeBy }) => causeBy);
}

function report(message: Message | undefined): TestReport {
  return message?.instructContent as TestReport;
}

describe("a company that makes no mistake", () => {
  test("sends each message to the roles that it concerns", async () => {
    const { result } = await work({});
    expect(result).toMatchObject({ status: "finished", deadLetters: [] });
    expect(result.messages.map(({ causeBy, sentFrom, sendTo }) => [causeBy, sentFrom, sendTo])).toEqual([
      ["UserRequirement", "", [ROUTE_TO_ALL]],
      ["WritePrd", "Alice", [ROUTE_TO_ALL]],
      ["WriteDesign", "Bob", [ROUTE_TO_ALL]],
      ["WriteTasks", "Eve", [ROUTE_TO_ALL]],
      ["WriteCode", "Alex", [ROUTE_TO_SELF]],
      ["WriteCodeReview", "Alex", [ROUTE_TO_ALL]],
      ["WriteTest", "Edward", [ROUTE_TO_SELF]],
      ["RunTests", "Edward", [ROUTE_TO_ALL]],
    ]);
    for (const [index, message] of result.messages.entries())
      if (index > 0) expect(message.parents).toEqual([result.messages[index - 1]?.id]);
  });

  test("asks the model once for each task in order, and its output is the last report of the tests", async () => {
    const { model, result } = await work({});
    expect(tasksOf(model)).toEqual(Object.keys(replies));
    const systems = model.calls.map((call) => call.messages[0]?.content ?? "");
    expect(systems[0]).toContain("You are a Product Manager, named Alice");
    expect(new Set(systems).size).toBe(5);
    expect(causes(result.outputs)).toEqual(["RunTests"]);
    expect(report(result.output)).toEqual({ tests: "passed", round: 0, total: 1, passed: 1, failed: 0, failures: [] });
  });
});

describe("a second idea in the same environment", () => {
  test("is written into documents of its own", async () => {
    const workspace = smallWorkspace();
    const model = taskModel({ ...replies, WritePrd: [JSON.stringify(prd), JSON.stringify({ ...prd, projectName: "welcome" })] });
    const environment = new Environment({ model, seed: 7 });
    environment.addRoles(waterfallCompany({ workspace, sandbox: pretendSandbox(() => "passed") }));
    for (const idea of ["Greet me", "Greet me again"]) {
      environment.publishMessage(idea);
      expect((await environment.run()).status).toBe("finished");
    }
    expect(tasksOf(model)).toEqual([...Object.keys(replies), ...Object.keys(replies)]);
    expect(await workspace.list("docs/prd")).toEqual(
      ["greeter", "welcome"].flatMap((name) => [`docs/prd/${name}.json`, `docs/prd/${name}.md`]),
    );
    expect(await workspace.read("docs/requirement.txt")).toBe("Greet me again\n");
    expect(causes([...environment.history]).filter((cause) => cause === "RunTests")).toHaveLength(2);
  });
});

describe("a project on disk", () => {
  test(
    "has MetaGPT's layout, tests that pass, and a commit for each action that names its message",
    { tags: ["company", "long"] },
    async () => {
      const root = scratchFolder();
      const workspace = fileWorkspace({ root, git: true });
      const { result } = await work({
        workspace,
        sandbox: await chooseSandbox("none"),
        replies: { ...repairs(1), "WriteCode: src/greet.js": fence(brokenGreetJs) },
      });
      expect(result.status).toBe("finished");
      expect(report(result.output)).toMatchObject({ tests: "passed", round: 1, total: 1, passed: 1 });
      expect(await workspace.list()).toEqual([
        "README.md",
        "docs/prd/greeter.json",
        "docs/prd/greeter.md",
        "docs/requirement.txt",
        "docs/system_design/greeter.json",
        "docs/system_design/greeter.md",
        "docs/task/greeter.json",
        "docs/task/greeter.md",
        "index.html",
        "package.json",
        "src/greet.js",
        "tests/greet.test.mjs",
      ]);
      expect(await workspace.read("src/greet.js")).toBe(`${greetJs}// repaired 1\n`);
      expect(await workspace.read("index.html")).toBe(indexHtml);
      expect(await workspace.read("tests/greet.test.mjs")).toBe(greetTest);
      const log = execFileSync("git", ["log", "--reverse", "--format=%an|%s|%(trailers:key=Troupe-Message,valueonly,separator=)"], {
        cwd: root,
        encoding: "utf8",
      });
      const said = (cause: string): string | undefined => result.messages.find(({ causeBy }) => causeBy === cause)?.id;
      expect(
        log
          .trim()
          .split("\n")
          .map((line) => line.replace(" via Troupe", "").split("|")),
      ).toEqual([
        ["Alice", "Write the requirements of greeter", said("WritePrd")],
        ["Bob", "Design greeter", said("WriteDesign")],
        ["Eve", "Plan the files of greeter", said("WriteTasks")],
        ["Alex", "Write the code of greeter", said("WriteCode")],
        ["Edward", "Write the tests of greeter", said("WriteTest")],
        ["Alex", "Repair what the tests found (round 1)", said("DebugError")],
      ]);
      expect(execFileSync("git", ["status", "--short"], { cwd: root, encoding: "utf8" })).toBe("");
    },
  );
});

describe("review", () => {
  test("a refused file is written again before the tests", async () => {
    const workspace = smallWorkspace();
    const { model, result } = await work({
      workspace,
      replies: {
        "WriteCode: src/greet.js": fence(brokenGreetJs),
        "WriteCodeReview: src/greet.js (round 1)": lbtm,
        "RewriteCode: src/greet.js (round 1)": fence(greetJs),
        "WriteCodeReview: src/greet.js (round 2)": lgtm,
      },
    });
    expect(report(result.output).tests).toBe("passed");
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
    expect(model.calls.at(-1)?.messages.at(-1)?.content).toContain(greetJs);
    expect(workspace.commits.map(({ message }) => message)).toContain("Change the code of greeter after review");
  });

  test("can be left out", async () => {
    const { model, result } = await work({ codeReview: false });
    expect(report(result.output).tests).toBe("passed");
    expect(causes(result.messages).slice(4)).toEqual(["WriteCode", "WriteTest", "RunTests"]);
    expect(tasksOf(model).filter((task) => task.includes("Review"))).toEqual([]);
  });
});

describe("failing tests", () => {
  test("go to the engineer until they pass", async () => {
    const sandbox = pretendSandbox((run) => (run < 3 ? { failing: "no mark" } : "passed"));
    const workspace = smallWorkspace();
    const { model, result } = await work({ workspace, sandbox, replies: repairs(2) });
    expect(report(result.output)).toMatchObject({ tests: "passed", round: 2 });
    expect(causes(result.messages).slice(6)).toEqual(["WriteTest", "RunTests", "DebugError", "RunTests", "DebugError", "RunTests"]);
    expect(result.messages.filter(({ causeBy }) => causeBy === "RunTests").map(({ sendTo }) => sendTo[0])).toEqual([
      "Engineer",
      "Engineer",
      ROUTE_TO_ALL,
    ]);
    expect(tasksOf(model).slice(-4)).toEqual(Object.keys(repairs(2)));
    expect(await workspace.read("src/greet.js")).toBe(`${greetJs}// repaired 2\n`);
    expect(causes(result.outputs)).toEqual(["RunTests"]);
  });

  test.each([0, 1, 3])("after %i rounds the failed report is the result", async (debugRounds) => {
    const sandbox = pretendSandbox(() => ({ failing: "no mark" }));
    const { result } = await work({ sandbox, debugRounds, replies: repairs(debugRounds) });
    expect(result).toMatchObject({ status: "finished", deadLetters: [] });
    expect(report(result.output)).toMatchObject({
      tests: "failed",
      round: debugRounds,
      failed: 1,
      failures: [{ message: expect.stringContaining("no mark") }],
    });
    expect(sandbox.runs).toBe(debugRounds + 1);
  });
});

describe("tests that are not run", () => {
  test("because the sandbox refuses: the result has the reason and a hint", async () => {
    const sandbox = endingSandbox({ kind: "refused", reason: "bubblewrap is missing", hint: "Say --sandbox none." }, "refused");
    const { result } = await work({ sandbox });
    expect(result.status).toBe("finished");
    expect(report(result.output)).toMatchObject({ tests: "not run", hint: "bubblewrap is missing. Say --sandbox none." });
  });

  test("because they are switched off: they are written nevertheless", async () => {
    const workspace = smallWorkspace();
    const sandbox = pretendSandbox(() => "passed");
    const { result } = await work({ workspace, sandbox, runTests: false });
    expect(report(result.output)).toMatchObject({ tests: "not run", hint: expect.stringContaining("node --test") });
    expect(sandbox.runs).toBe(0);
    expect(await workspace.list("tests")).toEqual(["tests/greet.test.mjs"]);
  });
});

describe("the roles", () => {
  test.each([{ debugRounds: -1 }, { reviewRounds: 0 }])("%j is refused before anything runs", (options) => {
    expect(() =>
      waterfallCompany({ workspace: smallWorkspace(), sandbox: endingSandbox({ kind: "refused", reason: "", hint: "" }), ...options }),
    ).toThrow(UsageError);
  });
});
