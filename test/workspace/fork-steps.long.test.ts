// @module-tag company
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { type FileWorkspace, fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { mergeFork, openFork, removeFork, updateFork } from "../../src/workspace/fork-steps.ts";
import { workspaceForks } from "../../src/workspace/forks.ts";
import { changesSince, forkIn, mayWrite, RecordedFiles, WRITE_STEP } from "../../src/workspace/recorded-files.ts";
import { restoreFiles } from "../../src/workspace/restore-files.ts";
import { cutsOf } from "../long.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { scratchFolder } from "./scratch.ts";
import { git, put } from "./user-project.ts";

function project(): FileWorkspace {
  const root = scratchFolder();
  put(root, "a.txt", "1\n2\n3\n");
  git(root, "init", "--quiet");
  git(root, "add", ".");
  git(root, "commit", "--quiet", "-m", "Begin");
  return fileWorkspace({ root });
}

/** An engineer that works in a fork, meets a conflict, and merges. */
function engineer(workspace: FileWorkspace): Role {
  const forked = { workspace, forks: workspaceForks({ workspace }) };
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      const write = async (where: FileWorkspace, path: string, content: string): Promise<void> => {
        const request = { path, content, ...forkIn(where) };
        await ctx.steps.step({ kind: "step", name: WRITE_STEP, request, again: true }, async ({ mode }) => {
          if (await mayWrite(where, mode)) await where.write(path, content);
          return null;
        });
      };
      const fork = await openFork(ctx.steps, forked, "t1");
      await write(fork, "a.txt", "fork\n2\n3\n");
      await write(fork, "b.txt", "new\n");
      await write(workspace, "a.txt", "project\n2\n3\n");
      const commit = { message: "Merge the work on t1", author: ctx.name, date: ctx.now() };
      const first = await mergeFork(ctx.steps, forked, "t1", commit);
      const update = await updateFork(ctx.steps, forked, "t1");
      await write(fork, "a.txt", "both\n2\n3\n");
      const second = await mergeFork(ctx.steps, forked, "t1", commit);
      await removeFork(ctx.steps, forked, "t1");
      return JSON.stringify([first, update, second]);
    },
  });
  return defineRole({ name: "Ann", actions: [work] });
}

const told = JSON.stringify([
  { kind: "conflict", paths: ["a.txt"] },
  { conflicts: ["a.txt"], updated: [] },
  { kind: "merged", paths: ["a.txt", "b.txt"] },
]);
const atTheEnd = { "a.txt": "both\n2\n3\n", "b.txt": "new\n" };

async function contents(workspace: FileWorkspace): Promise<Record<string, string | undefined>> {
  const paths = await workspace.list();
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await workspace.read(path)] as const)));
}

async function recorded() {
  const [workspace, journal] = [project(), memoryJournal()];
  const { output, status } = await new Team({ seed: "s", journal, roles: [engineer(workspace)] }).run("go", { id: "r" }).result;
  return { workspace, journal, status, said: output?.content, events: await eventsOf(journal, "r") };
}

describe("forks in a run", () => {
  it("are opened, merged in one commit, and removed", async () => {
    const { workspace, status, said } = await recorded();
    expect([status, said, await contents(workspace)]).toEqual(["finished", told, atTheEnd]);
    expect(git(workspace.root, "log", "--format=%s").split("\n")).toEqual(["Merge the work on t1", "Begin"]);
    expect(git(workspace.root, "status", "--porcelain")).toBe("");
  });

  it("leave a record that knows the project's files and none of the fork's", async () => {
    const { workspace, events } = await recorded();
    const files = new RecordedFiles();
    for (const event of events) files.add(event);
    expect([await changesSince(files, workspace), files.paths]).toEqual([[], ["a.txt", "b.txt"]]);
    const restored = fileWorkspace({ root: scratchFolder() });
    expect(await restoreFiles(restored, events)).toEqual({ files: 2, commits: 1 });
    expect(await contents(restored)).toEqual(atTheEnd);
  });

  it("merge only the paths that may be merged, and no conflict elsewhere counts", async () => {
    const workspace = project();
    const forked = { workspace, forks: workspaceForks({ workspace }) };
    const merge = defineAction({
      name: "Merge",
      async run(ctx) {
        const fork = await openFork(ctx.steps, forked, "t1");
        await fork.write("a.txt", "fork\n2\n3\n");
        await fork.write("b.txt", "new\n");
        await workspace.write("a.txt", "project\n2\n3\n");
        return JSON.stringify(await mergeFork(ctx.steps, forked, "t1", { message: "Merge", author: ctx.name, date: 1, paths: ["b.txt"] }));
      },
    });
    const { output } = await new Team({ roles: [defineRole({ name: "Ann", actions: [merge] })] }).run("go").result;
    expect([output?.content, await contents(workspace)]).toEqual([
      JSON.stringify({ kind: "merged", paths: ["b.txt"] }),
      { "a.txt": "project\n2\n3\n", "b.txt": "new\n" },
    ]);
  });

  it("that were open at a place of the record are restored with what was written in them", async () => {
    const { events } = await recorded();
    const isWrite = (event: RunEvent): boolean =>
      event.type === "step.started" && event.name === WRITE_STEP && !("fork" in (event.request as object));
    // As if the activation had ended after the work in the fork.
    const cut = events.findIndex(isWrite);
    const act = (events[cut] as RunEvent & { readonly act: string }).act;
    const ended = {
      ...events.at(-1)!,
      type: "act.ended",
      act,
      role: "Ann",
      round: 0,
      take: 1,
      said: [],
      memory: [],
      working: [],
    } as RunEvent;
    const workspace = project();
    expect(await restoreFiles(workspace, [...events.slice(0, cut), ended])).toEqual({ files: 0, commits: 0 });
    const forks = workspaceForks({ workspace });
    expect(await forks.compare("t1")).toMatchObject({ changes: [{ path: "a.txt", content: "fork\n2\n3\n" }, { path: "b.txt" }] });
    await restoreFiles(workspace, events);
    expect(existsSync(join(workspace.root, ".troupe/trees/t1"))).toBe(false);
  });

  it("end the same wherever the run was cut off", async () => {
    const { events } = await recorded();
    const end = events.findIndex((event) => event.type === "act.ended");
    for (const cut of cutsOf(end).filter((place) => place > 1 && place % 3 === 2)) {
      const workspace = project();
      const journal = await journalWith("r", events.slice(0, cut));
      const result = await new Team({ journal, roles: [engineer(workspace)] }).resume("r").result;
      expect([cut, result.output?.content, await contents(workspace)]).toEqual([cut, told, atTheEnd]);
      expect(existsSync(join(workspace.root, ".troupe/trees/t1"))).toBe(false);
    }
  });

  it("touch nothing in a replay", async () => {
    const { journal } = await recorded();
    const workspace = project();
    const replayed = await new Team({ journal, roles: [engineer(workspace)] }).replay("r").result;
    expect([replayed.status, replayed.output?.content]).toEqual(["finished", told]);
    expect([await contents(workspace), existsSync(join(workspace.root, ".troupe"))]).toEqual([{ "a.txt": "1\n2\n3\n" }, false]);
  });
});
