import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { ToolCall } from "../../src/model/chat-message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { closeTool } from "../../src/tool/run-tool.ts";
import { callTool } from "../../src/tool/call-tools.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { resultText } from "../../src/tool/tool-result.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { editorTool } from "../../src/tools/editor.ts";
import { planningTool } from "../../src/tools/planning.ts";
import { readFilesTool } from "../../src/tools/read-files.ts";
import { shellTool } from "../../src/tools/shell.ts";
import { writeFilesTool } from "../../src/tools/write-files.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { RecordedFiles, changesSince } from "../../src/workspace/recorded-files.ts";
import type { Sandbox, SandboxProcess, SandboxStart } from "../../src/workspace/sandbox.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { cutsOf } from "../long.ts";

const plain = await chooseSandbox("none");

/** A sandbox that counts what it runs, and the orders to its programs that stay. */
function counted(): Sandbox & { readonly ran: string[] } {
  const ran: string[] = [];
  return {
    ...plain,
    ran,
    run: (request) => (ran.push(request.command.at(-1) ?? ""), plain.run(request)),
    start: (request) => {
      const program = staying(plain, request);
      return { ...program, write: (text) => (ran.push(text), program.write(text)) };
    },
  };
}

function staying(sandbox: Sandbox, request: SandboxStart): SandboxProcess {
  if (sandbox.start === undefined) throw new Error("expected a sandbox that keeps a program");
  return sandbox.start(request);
}

/** The note on the first shell of a process, in a run and after a resume. */
const NEW = /^(Note: )?The shell is new.*\n?/gm;

const calls: Calls = [
  ["planning", { command: "create", plan_id: "p", title: "t", steps: ["one", "two"] }],
  ["shell", { command: "mkdir src; cd src; export WHO=me; printf 'a\\n\\tb\\n' > file.txt; echo gone > gone.txt" }],
  ["editor", { command: "replace", path: "src/file.txt", old: "b", new: "c" }],
  ["planning", { command: "mark_step", step: 1, status: "completed" }],
  ["shell", { command: 'rm gone.txt; cat file.txt; echo "$WHO"' }],
  ["editor", { command: "create", path: "new.txt", content: "new" }],
  ["editor", { command: "undo", path: "src/file.txt" }],
  ["write_files", { files: [{ path: "more.txt", content: "1" }] }],
  ["read_files", { files: [{ path: "src/file.txt" }, { path: "new.txt" }] }],
  [
    "write_files",
    {
      files: [
        { path: "more.txt", content: "2" },
        { path: "src/file.txt", content: "a\n\tb" },
        { path: "new.txt", content: "newer" },
      ],
    },
  ],
  ["planning", { command: "list" }],
];

type Calls = readonly (readonly [string, object])[];

function fileTools(workspace: Workspace): Tool[] {
  return [editorTool({ workspace }), writeFilesTool({ workspace }), readFilesTool({ workspace })];
}

/** Makes the calls as one session, and says what came of them. */
function worker(workspace: Workspace, sandbox: Sandbox, wanted: Calls = calls): Role {
  const tools = new ToolCollection([planningTool(), shellTool({ workspace, sandbox }), ...fileTools(workspace)]);
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      const session = {};
      const answers: string[] = [];
      for (const [place, [name, args]] of wanted.entries()) {
        const call: ToolCall = { id: String(place), type: "function", function: { name, arguments: JSON.stringify(args) } };
        const policy = { rules: [{ tool: "*", decide: "allow" as const }] };
        const { result, outcome } = await callTool(call, {
          tools,
          steps: ctx.steps,
          signal: ctx.signal,
          clock: systemClock,
          policy,
          session,
        });
        answers.push(`${outcome}: ${resultText(result)}`.replace(NEW, "$1"));
      }
      for (const tool of tools) await closeTool(tool, session, systemClock);
      return answers.join("\n===\n");
    },
  });
  return defineRole({ name: "Ann", actions: [work] });
}

async function recorded() {
  const root = scratchFolder();
  const workspace = fileWorkspace({ root, git: false });
  const sandbox = counted();
  const journal = memoryJournal();
  const { output, status } = await new Team({ seed: "s", journal, roles: [worker(workspace, sandbox)] }).run("go", { id: "r" }).result;
  return { root, workspace, sandbox, journal, status, said: output?.content ?? "", events: await eventsOf(journal, "r") };
}

async function filesIn(workspace: Workspace): Promise<Record<string, string | undefined>> {
  const paths = await workspace.list();
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await workspace.read(path)] as const)));
}

const atTheEnd = { "more.txt": "2\n", "new.txt": "newer", "src/file.txt": "a\n\tb\n" };

describe("tools in a run", () => {
  it(
    "go on with folder, variables, plans and history wherever the run was cut off, and run no command twice",
    { tags: "numbers" },
    async () => {
      const { said, events } = await recorded();
      const end = events.findIndex((event) => event.type === "act.ended");
      for (const cut of cutsOf(end).filter((place) => place > 1)) {
        const kept = events.slice(0, cut);
        const begun = kept.filter((event) => event.type === "step.started");
        const ended = new Set<string>(kept.flatMap((event) => (event.type === "step.ended" ? [event.key] : [])));
        const isRun = (name: string): number => begun.filter((event) => event.name === name && ended.has(event.key)).length;
        const workspace = fileWorkspace({ root: scratchFolder(), git: false });
        const sandbox = counted();
        const result = await new Team({ journal: await journalWith("r", kept), roles: [worker(workspace, sandbox)] }).resume("r").result;
        if (begun.some((event) => event.name === "shell" && !ended.has(event.key))) {
          expect([cut, result.status, result.error?.code, sandbox.ran.length]).toEqual([cut, "failed", "STEP_UNCERTAIN", 0]);
        } else {
          expect([cut, result.output?.content, sandbox.ran.length]).toEqual([cut, said, 2 - isRun("run in sandbox")]);
          expect(await filesIn(workspace)).toEqual(atTheEnd);
        }
      }
    },
  );

  it("touch nothing in a replay but an empty folder, which gets the files", async () => {
    const { journal, events } = await recorded();
    const full = fileWorkspace({ root: scratchFolder(), git: false });
    await full.write("src/file.txt", "somebody's");
    const empty = fileWorkspace({ root: scratchFolder(), git: false });
    const sandbox = counted();
    for (const workspace of [full, empty]) {
      const replayed = await new Team({ journal, roles: [worker(workspace, sandbox)] }).replay("r").result;
      expect(replayed.status).toBe("finished");
    }
    expect(sandbox.ran).toEqual([]);
    expect(await filesIn(full)).toEqual({ "src/file.txt": "somebody's" });
    expect(await filesIn(empty)).toEqual(atTheEnd);
    expect((await eventsOf(journal, "r")).length).toBe(events.length);
  });

  it("are taken over by a fork, with their files, and run no command again", async () => {
    const { journal, said, events } = await recorded();
    const workspace = fileWorkspace({ root: scratchFolder(), git: false });
    const sandbox = counted();
    const at = events.findIndex((event) => event.type === "act.started");
    const forked = await new Team({ journal, roles: [worker(workspace, sandbox)] }).fork("r", { at, id: "f" }).result;
    expect([forked.status, forked.output?.content, sandbox.ran]).toEqual(["finished", said, []]);
    expect(await filesIn(workspace)).toEqual(atTheEnd);
  });

  it("leave a record that tells what is in the folder", async () => {
    const { root, workspace, events } = await recorded();
    const files = new RecordedFiles();
    for (const event of events) files.add(event);
    expect(await changesSince(files, workspace)).toEqual([]);
    writeFileSync(join(root, "src", "gone.txt"), "back");
    expect(await changesSince(files, workspace)).toEqual([{ path: "src/gone.txt", change: "changed" }]);
  });
});

describe("a secret in a file", () => {
  const key = "sk-abcdefghijklmnopqrstuvwxyz012345";
  const edits: Calls = [
    ["editor", { command: "replace", path: ".env", old: "MODE=a", new: "MODE=b" }],
    ["shell", { command: "echo MORE=* >> .env; cp .env copy.env" }],
    ["editor", { command: "view", path: ".env" }],
    ["editor", { command: "replace", path: ".env", old: "MODE=b", new: "MODE=c" }],
    ["editor", { command: "undo", path: ".env" }],
  ];
  const before = `MODE=a\nKEY=${key}\n`;
  const after = `MODE=b\nKEY=${key}\nMORE=*\n`;

  it("stays in the file and out of the record and of what a model reads, wherever the run was cut off", async () => {
    const run = async (journal: Journal, workspace: Workspace) =>
      new Team({ seed: "s", journal, roles: [worker(workspace, plain, edits)] }).run("go", { id: "r" }).result;
    const journal = memoryJournal();
    const first = fileWorkspace({ root: scratchFolder(), git: false });
    await first.write(".env", before);
    const { output } = await run(journal, first);
    expect(await filesIn(first)).toEqual({ ".env": after, "copy.env": after });
    expect(output?.content.match(/^ok: /gm)).toHaveLength(edits.length);
    const events = await eventsOf(journal, "r");
    expect(JSON.stringify(events)).not.toContain(key);
    // All is recorded but the end: the folder is as the work left it, and what the record has lost, the files still have.
    const end = events.findIndex((event) => event.type === "act.ended");
    expect((await run(await journalWith("r", events.slice(0, end)), first)).output?.content).toBe(output?.content);
    expect(await filesIn(first)).toEqual({ ".env": after, "copy.env": after });
    // The first write was never made: the folder is as the work found it.
    const write = events.findIndex((event) => event.type === "step.started" && event.name === "write file");
    for (const cut of [write, write + 1]) {
      const second = fileWorkspace({ root: scratchFolder(), git: false });
      await second.write(".env", before);
      expect((await run(await journalWith("r", events.slice(0, cut)), second)).output?.content).toBe(output?.content);
      expect([cut, await filesIn(second)]).toEqual([cut, { ".env": after, "copy.env": after }]);
    }
  });
});
