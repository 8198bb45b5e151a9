import { rmSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import type { RoleContext } from "../../src/role/context.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import {
  commitFiles,
  type FileWorkspace,
  fileWorkspace,
  mergeFork,
  memoryWorkspace,
  openFork,
  removeFork,
  type Workspace,
  workspaceForks,
  WRITE_STEP,
} from "../../src/workspace/index.ts";
import { bundleWorkspace, restoreBundle } from "../../src/workspace/bundle.ts";
import { restoreFiles } from "../../src/workspace/restore-files.ts";
import { someOf } from "../long.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { scratchFolder } from "./scratch.ts";
import { git } from "./user-project.ts";

/** A file is written, as a step. */
async function write(ctx: RoleContext, workspace: Workspace, path: string, content: string): Promise<void> {
  await ctx.step(WRITE_STEP, { path, content }, () => workspace.write(path, content), { again: true });
}

/** One activation that commits the same file three times, twice with equal words, and ends with the content that it had first. */
function author(workspace: Workspace, o: { readonly texts?: readonly string[]; readonly fails?: () => boolean } = {}): Role {
  const { texts = ["1", "2", "1"], fails = () => false } = o;
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      for (const [n, text] of texts.entries()) {
        await write(ctx, workspace, "a.txt", text);
        await commitFiles(ctx.steps, workspace, {
          message: n === 2 ? "Write b" : "Write a",
          author: ctx.name,
          date: ctx.now(),
          paths: ["a.txt"],
        });
      }
      if (fails()) throw new Error("the activation fails");
      return "done";
    },
  });
  return defineRole({ name: "Ann", actions: [work] });
}

/** One activation that merges two forks, which change the same file. */
function integrator(workspace: FileWorkspace): Role {
  const project = { workspace, forks: workspaceForks({ workspace }) };
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      await write(ctx, workspace, "a.txt", "0\n");
      await commitFiles(ctx.steps, workspace, { message: "Begin", author: ctx.name, date: ctx.now(), paths: ["a.txt"] });
      for (const name of ["t1", "t2"]) {
        const fork = await openFork(ctx.steps, project, name);
        await ctx.step(WRITE_STEP, { path: "a.txt", content: name, fork: name }, () => fork.write("a.txt", name), { again: true });
        await mergeFork(ctx.steps, project, name, { message: "Merge", author: name, date: ctx.now() });
        await removeFork(ctx.steps, project, name);
      }
      return "done";
    },
  });
  return defineRole({ name: "Ann", actions: [work] });
}

const ROLES: readonly (readonly [name: string, make: (workspace: FileWorkspace) => Role])[] = [
  ["merges of forks", integrator],
  ["commits", (workspace) => author(workspace)],
];

function team(role: Role, journal: Journal): Team {
  return new Team({ roles: [role], journal, seed: 1 });
}

/** The places of a record directly before and after the end of each commit. */
function cutsOf(events: readonly RunEvent[]): readonly number[] {
  const commits = new Set(events.flatMap((event) => (event.type === "step.started" && event.name === "commit" ? [event.key] : [])));
  return events.flatMap((event) => (event.type === "step.ended" && commits.has(event.key) ? [event.seq, event.seq + 1] : []));
}

/** The history, with the ids of its commits, and what is not committed. */
function historyAt(root: string): readonly string[] {
  return [git(root, "log", "--format=%H %an %at %s"), git(root, "status", "--porcelain")];
}

describe.each(someOf(ROLES, 1))("each of the %s of an activation is made once", (_name, make) => {
  const root = scratchFolder();
  let events: readonly RunEvent[] = [];
  let history: readonly string[] = [];

  beforeAll(async () => {
    const journal = memoryJournal();
    await team(make(fileWorkspace({ root })), journal).run("go", { id: "r" }).result;
    [history, events] = [historyAt(root), await eventsOf(journal, "r")];
  });

  it("Git.G4 wherever the process dies before the activation has ended", async () => {
    for (const cut of someOf(cutsOf(events), 2)) {
      // The folder has all effects, also those whose ends the journal did not get.
      const { status } = await team(make(fileWorkspace({ root })), await journalWith("r", events.slice(0, cut))).resume("r").result;
      expect([cut, status, historyAt(root)]).toEqual([cut, "finished", history]);
    }
  });

  it("when the project moves with a bundle that has more than its number says", async () => {
    const bundle = await bundleWorkspace({ root });
    const to = scratchFolder();
    for (const after of [-1, ...someOf(cutsOf(events), 1)]) {
      rmSync(to, { recursive: true });
      await restoreBundle({ root: to, bundle });
      const { commits } = await restoreFiles(fileWorkspace({ root: to }), events, { after });
      expect([after, commits, historyAt(to)]).toEqual([after, 0, history]);
    }
  });

  it("and a project that is rebuilt from the record alone has the same trees", async () => {
    const to = scratchFolder();
    await restoreFiles(fileWorkspace({ root: to }), events);
    const trees = (folder: string): readonly string[] => [git(folder, "log", "--format=%T %an %B"), git(folder, "status", "--porcelain")];
    expect(trees(to)).toEqual(trees(root));
  });
});

describe("a commit is another one", () => {
  const committed = (root: string): number => Number(git(root, "rev-list", "--count", "HEAD"));

  it("in a second run, which may have the same words, and in a fork of the run", async () => {
    const [root, journal] = [scratchFolder(), memoryJournal()];
    const workspace = fileWorkspace({ root });
    await team(author(workspace), journal).run("go", { id: "r" }).result;
    expect(committed(root)).toBe(3);
    await team(author(workspace, { texts: ["3", "2", "1"] }), journal).run("go", { id: "s" }).result;
    expect(committed(root)).toBe(6);
    const at = (await eventsOf(journal, "r")).findLast(({ type }) => type === "step.ended")?.seq ?? 0;
    const fork = await team(author(fileWorkspace({ root })), journal).fork("r", { id: "f", at }).result;
    expect([fork.status, git(root, "status", "--porcelain"), git(root, "show", "HEAD:a.txt")]).toEqual(["finished", "", "1"]);
  });

  it("in a run with the id of one whose record is gone, where it has other contents", async () => {
    const root = scratchFolder();
    await team(author(fileWorkspace({ root })), memoryJournal()).run("go", { id: "r" }).result;
    await team(author(fileWorkspace({ root }), { texts: ["3", "4", "5"] }), memoryJournal()).run("go", { id: "r" }).result;
    expect([committed(root), git(root, "status", "--porcelain"), git(root, "show", "HEAD:a.txt")]).toEqual([6, "", "5"]);
  });
});

it("commits of a failed attempt are not made again by the next one", async () => {
  for (const workspace of [fileWorkspace({ root: scratchFolder() }), memoryWorkspace()]) {
    const left = [true, false];
    const role = author(workspace, { fails: () => left.shift() === true });
    const roles = [role];
    const result = await new Team({ roles, journal: memoryJournal(), onFailure: retry(1) }).run("go", { id: "r" }).result;
    const count = "commits" in workspace ? workspace.commits.length : Number(git(workspace.root, "rev-list", "--count", "HEAD"));
    expect([result.status, left, count]).toEqual(["finished", [], 3]);
  }
});
