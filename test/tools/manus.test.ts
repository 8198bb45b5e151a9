import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ToolCall } from "../../src/model/chat-message.ts";
import type { ChatResponse } from "../../src/model/chat-model.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { manus, manusTools, softwareEngineer } from "../../src/tools/manus.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const sandbox = await chooseSandbox("none");

function project() {
  const root = scratchFolder();
  return { root, ports: { workspace: fileWorkspace({ root, git: false }), sandbox } };
}

function calls(...wanted: readonly (readonly [string, object])[]): Partial<ChatResponse> {
  const toolCalls: ToolCall[] = wanted.map(([name, args], place) => ({
    id: `c${place}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { toolCalls, finishReason: "tool_calls" };
}

const everything = { rules: [{ tool: "*", decide: "allow" as const }] };

describe("manus", () => {
  it("does a task with its tools: plans, writes, runs, answers", async () => {
    const { root, ports } = project();
    const model = scriptedModel([
      calls(["planning", { command: "create", plan_id: "p", title: "t", steps: ["write", "run"] }]),
      calls(["editor", { command: "create", path: "six.js", content: "console.log(6 * 7);\n" }]),
      calls(
        ["shell", { command: "node six.js > out.txt; cat out.txt" }],
        ["planning", { command: "mark_step", step: 1, status: "completed" }],
      ),
      calls(["terminate", { status: "success", answer: "It prints 42." }]),
    ]);
    const { status, answer, steps } = await manus({ ...ports, model, permissions: everything }).run("Compute six times seven").result;
    expect([status, answer, steps]).toEqual(["finished", "It prints 42.", 4]);
    expect(readFileSync(join(root, "out.txt"), "utf8")).toBe("42\n");
    const told = model.calls
      .at(-1)
      ?.messages.filter(({ role }) => role === "tool")
      .map(({ content }) => content);
    expect(told).toEqual([
      expect.stringContaining("Plan p (active)"),
      expect.stringContaining("Created six.js"),
      "42\nNote: The shell is new and is at the project's root.\nFiles written: out.txt.",
      expect.stringContaining("1 of 2 completed"),
    ]);
  });

  it("has the tools it says, and others given besides", () => {
    const names = (options: object): string[] => manusTools({ ...project().ports, ...options }).map(({ name }) => name);
    expect(names({})).toEqual(["shell", "code", "editor", "file_search", "look", "planning", "web_fetch", "web_search", "ask_human"]);
    expect(names({ web: false })).toEqual(["shell", "code", "editor", "file_search", "look", "planning", "ask_human"]);
    expect(names({ search: [] })).not.toContain("web_search");
    const own = defineTool({ name: "own", description: "", effect: "read", execute: () => "own" });
    const agent = manus({ ...project().ports, model: scriptedModel([]), tools: [own] });
    expect(agent.memory.tools.names).toEqual(expect.arrayContaining(["own", "shell", "terminate"]));
  });

  it("runs, writes and fetches nothing without somebody's permission, and looks at all it likes", async () => {
    const { root, ports } = project();
    writeFileSync(join(root, "a.txt"), "a");
    const model = scriptedModel([
      calls(
        ["web_fetch", { url: "https://example.com/?stolen=a" }],
        ["shell", { command: "echo x > x" }],
        ["code", { language: "javascript", code: "require('fs').writeFileSync('x', '')" }],
        ["editor", { command: "create", path: "x", content: "x" }],
        ["editor", { command: "view", path: "a.txt" }],
        ["file_search", { name: "*" }],
      ),
      "done",
    ]);
    const run = manus({ ...ports, model }).run("go");
    const outcomes: string[] = [];
    for await (const event of run) if (event.type === "call.ended") outcomes.push(event.outcome);
    expect(outcomes).toEqual(["denied", "denied", "denied", "denied", "ok", "ok"]);
    expect(await ports.workspace.list()).toEqual(["a.txt"]);
  });

  it("shares no plan, folder or edit between two agents", async () => {
    const { ports } = project();
    const tools = manusTools(ports);
    const script = () =>
      scriptedModel([
        calls(
          ["planning", { command: "create", plan_id: "p", title: "t", steps: ["s"] }],
          ["shell", { command: "mkdir -p d; cd d; echo in > in" }],
        ),
        calls(["planning", { command: "list" }], ["shell", { command: "basename $PWD" }]),
        "done",
      ]);
    const second = scriptedModel([calls(["planning", { command: "list" }], ["shell", { command: "ls" }]), "done"]);
    const { Agent } = await import("../../src/agent/agent.ts");
    const first = script();
    await new Agent({ name: "one", model: first, tools, permissions: everything }).run("go").result;
    await new Agent({ name: "two", model: second, tools, permissions: everything }).run("go").result;
    const told = (model: typeof first): (string | undefined)[] =>
      (model.calls.at(-1)?.messages ?? [])
        .filter(({ role }) => role === "tool")
        .slice(-2)
        .map(({ content }) => content);
    expect(told(first)).toEqual(["* p: t (0 of 1 completed)", "d"]);
    expect(told(second)).toEqual(["There are no plans.", "d\nNote: The shell is new and is at the project's root."]);
  });
});

describe("the software engineer", () => {
  it("finds, changes and tests a file", async () => {
    const { root, ports } = project();
    writeFileSync(join(root, "sum.js"), "export const sum = (a, b) => a - b;\n");
    writeFileSync(join(root, "sum.test.mjs"), `import { sum } from "./sum.js";\nif (sum(2, 3) !== 5) throw new Error("wrong");\n`);
    writeFileSync(join(root, "package.json"), `{"type":"module"}`);
    const model = scriptedModel([
      calls(["file_search", { text: "sum =" }], ["shell", { command: "node sum.test.mjs" }]),
      calls(["editor", { command: "replace", path: "sum.js", old: "a - b", new: "a + b" }]),
      calls(["shell", { command: "node sum.test.mjs" }]),
      "Fixed.",
    ]);
    const agent = softwareEngineer({ ...ports, model, permissions: everything });
    expect(agent.memory.tools.names).toEqual(["shell", "code", "editor", "file_search", "look", "terminate"]);
    expect(await agent.run("Mend sum").result).toMatchObject({ status: "finished", answer: "Fixed." });
    const told = (model.calls.at(-1)?.messages ?? []).filter(({ role }) => role === "tool").map(({ content }) => content ?? "");
    expect(told).toEqual([
      expect.stringContaining("sum.js:1:"),
      expect.stringMatching(/^Error: exit code 1\n[^]*wrong/),
      expect.stringContaining("a + b"),
      "(no output, exit code 0)",
    ]);
  });
});
