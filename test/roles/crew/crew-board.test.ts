import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCrew, readCrew } from "../../../roles/index.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { Team } from "../../../src/index.ts";
import { type ScriptedReply, scriptedModel } from "../../../src/testing/scripted-model.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { fileWorkspace, memoryWorkspace, refusedSandbox, type Sandbox } from "../../../src/workspace/index.ts";
import { eventsOf } from "../../team/recorded.ts";
import { scratchFolder } from "../../workspace/scratch.ts";
import { git, put } from "../../workspace/user-project.ts";

const nowhere = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs in this test", "Choose a sandbox.") };

function call(name: string, args: object): ScriptedReply {
  return { toolCalls: [{ id: "1", type: "function", function: { name, arguments: JSON.stringify(args) } }] };
}

/** A sandbox whose check is green for a file without the word BAD and without marks of conflicts. */
const checking: Sandbox = {
  kind: "none",
  describe: "pretends",
  run: ({ root }) => {
    const isRed = /BAD|<<<<<<</.test(readFileSync(join(root, "a.txt"), "utf8"));
    return Promise.resolve({ kind: "exited", code: isRed ? 1 : 0, stdout: isRed ? "a.txt is bad" : "", stderr: "", isCut: false });
  },
};

function project() {
  const root = scratchFolder();
  put(root, "a.txt", "one\ntwo\n");
  git(root, "init", "--quiet");
  git(root, "add", ".");
  git(root, "commit", "--quiet", "-m", "Begin");
  return { root, ports: { workspace: fileWorkspace({ root }), sandbox: checking } };
}

type Script = readonly (ScriptedReply | (() => ScriptedReply | Promise<ScriptedReply>))[];

/** Answers each role from its own list, and keeps what each was asked last. */
function modelOf(scripts: Readonly<Record<string, Script>>) {
  const asked: Record<string, string[]> = {};
  const model = scriptedModel(({ messages }) => {
    const name =
      Object.keys(scripts).find(
        (one) => messages[0]?.content?.includes(`named ${one}`) || messages[0]?.content?.includes(`You are ${one}`),
      ) ?? "";
    const own = (asked[name] ??= []);
    own.push(messages.at(-1)?.content ?? "");
    const reply = scripts[name]?.[own.length - 1] ?? "nothing more";
    return typeof reply === "function" ? reply() : reply;
  });
  return { model, asked };
}

describe("a crew with a board and notes", () => {
  it("gives agents both as tools, and shows them in prompts by name", async () => {
    const crew = await readCrew(`
board: { claims: 1 }
notes: true
roles:
  - name: Ann
  - name: Ben
    actions: [{ name: Report, on: Ann, prompt: "Report. {{board}} {{notes}}" }]
`);
    const { model, asked } = modelOf({
      Ann: [
        call("board", { action: "add", tasks: [{ title: "Paint the door" }] }),
        call("notes", { action: "write", name: "colour", text: "Red" }),
        "done",
      ],
      Ben: ["reported"],
    });
    const { status } = await new Team({ roles: openCrew(crew, nowhere).roles, model }).run("paint").result;
    expect(status).toBe("finished");
    expect(asked["Ann"]?.[0]).toContain('"you":"Ann"');
    expect(asked["Ben"]?.[0]).toMatch(/Paint the door[^]*"note":"colour"/);
  });

  it.each([
    ["roles: [{ name: A, isolation: worktree }]", /isolation|checks/],
    ["roles: [{ name: A, isolation: worktree, checks: [[x]], mode: react, actions: [{ name: X }] }]", /mode agent/],
    ["board: { claims: 0 }\nroles: [{ name: A }]", /board/],
    ["roles: [{ name: A, actions: [{ name: X, on: UserRequirement, prompt: '{{board}}' }] }]", /board/],
  ])("refuses %s", async (file, why) => {
    await expect(readCrew(file)).rejects.toThrow(why);
  });

  it("refuses a fork of a workspace that is not on disk before the first call", async () => {
    const crew = await readCrew("roles: [{ name: Ann, isolation: worktree, checks: [[check]] }]");
    const { model } = modelOf({ Ann: [] });
    const { status, error } = await new Team({ roles: openCrew(crew, nowhere).roles, model }).run("go").result;
    expect([status, error?.message.includes("on disk"), model.calls.length]).toEqual(["failed", true, 0]);
  });
});

describe("roles in forks of their own", () => {
  it("merge what is green, and get conflicts and red checks back with the evidence", async () => {
    const { root, ports } = project();
    const crew = await readCrew(`
board: { checks: { whole: [check] } }
roles:
  - { name: Ann, tools: [editor], allow: [editor], isolation: worktree }
  - { name: Ben, tools: [editor], allow: [editor], isolation: worktree }
`);
    let merged = (): void => {};
    const afterAnn = new Promise<void>((resolve) => (merged = resolve));
    const edit = (old: string, now: string): ScriptedReply => call("editor", { command: "replace", path: "a.txt", old, new: now });
    const view = call("editor", { command: "view", path: "a.txt" });
    const whole = (content: string): ScriptedReply => call("editor", { command: "create", path: "a.txt", content, overwrite: true });
    const add = (id: string): ScriptedReply => call("board", { action: "add", tasks: [{ id, title: `Change a.txt for ${id}` }] });
    const claim = (id: string): ScriptedReply => call("board", { action: "claim", id });
    const done = (id: string): ScriptedReply => call("board", { action: "done", id });
    const { model, asked } = modelOf({
      Ann: [edit("one", "ONE"), add("ann"), claim("ann"), done("ann"), () => (merged(), "done")],
      Ben: [
        ...[edit("one", "1"), add("ben"), claim("ben"), () => afterAnn.then(() => done("ben"))],
        ...[done("ben"), view, whole("BAD\n"), done("ben"), whole("ONE 1\n"), done("ben"), "done"],
      ],
    });
    const journal = memoryJournal();
    const team = new Team({ journal, roles: openCrew(crew, ports).roles, model });
    const { status } = await team.run("change it", { id: "r" }).result;
    expect([status, readFileSync(join(root, "a.txt"), "utf8")]).toEqual(["finished", "ONE 1\n"]);
    const { board } = fold(await eventsOf(journal, "r"));
    expect([...board.tasks("done")].map(({ id, owner }) => [id, owner])).toEqual([
      ["ann", "Ann"],
      ["ben", "Ben"],
    ]);
    for (const nth of [4, 5]) expect(asked["Ben"]?.[nth]).toMatch(/conflicts in a\.txt[^]*"state":"claimed"/);
    expect(asked["Ben"]?.[8]).toContain("a.txt is bad");
    expect(git(root, "log", "--format=%an %s").split("\n")).toEqual([
      "Ben via Troupe Change a.txt for ben",
      "Ann via Troupe Change a.txt for ann",
      expect.anything(),
    ]);
    expect((await team.replay("r").result).error).toBeUndefined();
  });
});
