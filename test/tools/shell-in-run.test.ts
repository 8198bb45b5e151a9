import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { type ScriptedAnswer, scriptedModel, type ScriptedModel, type ScriptedReply } from "../../src/testing/scripted-model.ts";
import { shellTool } from "../../src/tools/shell.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import type { Sandbox } from "../../src/workspace/sandbox.ts";
import { call, calls } from "../agent/setup.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { someOf } from "../long.ts";
import { scratchFolder, sleepersWith, until } from "../workspace/scratch.ts";

const plain = await chooseSandbox("none");
const isolated = await chooseSandbox("auto");
const permissions = { rules: [{ tool: "*", decide: "allow" as const }] };
const run = (command: string, id = command) => call("shell", { command }, id);

function shell() {
  const begun: string[] = [];
  const start: Sandbox["start"] = (request) => {
    begun.push(request.root);
    if (plain.start === undefined) throw new Error("expected a sandbox that keeps a program");
    return plain.start(request);
  };
  const tool = shellTool({ workspace: fileWorkspace({ root: scratchFolder(), git: false }), sandbox: { ...plain, start } });
  return { tool, begun };
}

/** Returns the results that a model had read before its nth call. */
function seenBy(model: ScriptedModel, n: number): string {
  return model.calls[n]?.messages.flatMap(({ role, content }) => (role === "tool" ? [String(content)] : [])).at(-1) ?? "";
}

/** A role whose model begins a process, uses what it left, and answers. */
function team(replies: readonly (ScriptedReply | ScriptedAnswer)[], journal = memoryJournal()) {
  const { tool, begun } = shell();
  const model = scriptedModel([...replies], { id: "m" });
  const roles = [defineRole({ name: "Ann", reactMode: "agent", tools: [tool], agent: { permissions } })];
  return { begun, model, journal, team: new Team({ seed: "s", journal, model, roles }) };
}

const first = calls(run("mkdir a; cd a; echo x > x; export E=1; f() { echo f; }"));
const second = calls(run('basename "$PWD"; echo "$E"; f'));
const NEW = "The shell is new: the one before has ended.";

describe("a shell in an agent's run", () => {
  it("stays for the run and ends with it, and the next run of the agent begins a new one", async () => {
    const mark = `4901.${process.pid}`;
    const { tool, begun } = shell();
    const replies = [first, second, calls(run(`sleep ${mark} &`)), "done", second, second, "done"];
    const model = scriptedModel(replies);
    const agent = new Agent({ name: "ann", model, tools: [tool], permissions });
    await agent.run("go").result;
    expect([seenBy(model, 1), seenBy(model, 2), begun.length]).toEqual([
      expect.stringContaining("The shell is new and is at the project's root."),
      "a\n1\nf",
      1,
    ]);
    await until(() => sleepersWith(mark).length === 0);
    await agent.run("go on").result;
    expect([seenBy(model, 5), begun.length]).toEqual([expect.stringContaining(NEW), 2]);
    expect(seenBy(model, 6)).not.toContain(NEW);
  });

  it("ends when the run is stopped in the middle of a command", async () => {
    const mark = `4902.${process.pid}`;
    const { tool } = shell();
    const agent = new Agent({
      name: "ann",
      model: scriptedModel([calls(run(`sleep ${mark} & sleep ${mark}`))]),
      tools: [tool],
      permissions,
    });
    const running = agent.run("go");
    await until(() => sleepersWith(mark).length === 2);
    running.stop();
    expect((await running.result).status).toBe("stopped");
    await until(() => sleepersWith(mark).length === 0);
  });

  it("is new after a resume, in the same folder with the same exported variables, and one note says so", async () => {
    const whole = team([first, second, second, "done"]);
    expect((await whole.team.run("go", { id: "r" }).result).status).toBe("finished");
    const events = await eventsOf(whole.journal, "r");
    const asked = events.flatMap((event, n) => (event.type === "step.started" && event.kind === "model" ? [n] : []));
    const resumed = team([second, second, "done"], await journalWith("r", events.slice(0, asked[1])));
    expect((await resumed.team.resume("r").result).status).toBe("finished");
    const [told, untold] = [1, 2].map((n) => seenBy(resumed.model, n));
    expect(told).toMatch(/^Error: exit code 127\na\n1\n/);
    expect([told, resumed.begun.length]).toEqual([expect.stringContaining(NEW), 1]);
    expect(untold).not.toContain(NEW);
  });

  it("does not begin in a replay, which has the same answer", async () => {
    const whole = team([first, calls(run("exit 3")), second, "done"]);
    const { output } = await whole.team.run("go", { id: "r" }).result;
    const again = team([], whole.journal);
    expect([(await again.team.replay("r").result).output?.content, again.begun]).toEqual([output?.content, []]);
  });
});

const modes: readonly (readonly [string, string])[] = [
  ["no isolation", "none"],
  ...(isolated.kind === "bubblewrap" ? [["bubblewrap", "auto"] as const] : []),
];

describe.each(someOf(modes, 1))("the end of the process around it, with %s", (_name, mode) => {
  it.each(someOf(["a signal", "exit", "an error"], 1))(
    "ShellDriver.D2 is the end of all that the shell started: %s",
    { tags: "company" },
    async (end) => {
      const mark = `4903.${process.pid}${mode.length}${end.length}`;
      const order = JSON.stringify({ mode, end, mark, root: scratchFolder() });
      const child = spawn(process.execPath, [fileURLToPath(new URL("shell-child.mjs", import.meta.url)), order], { stdio: "pipe" });
      let said = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += String(chunk)));
      const ended = once(child, "close");
      await until(() => sleepersWith(mark).length === 2 || child.exitCode !== null);
      child.stdin.end("end");
      await ended;
      expect(said).toMatch(/^begun/);
      await until(() => sleepersWith(mark).length === 0);
    },
  );
});
