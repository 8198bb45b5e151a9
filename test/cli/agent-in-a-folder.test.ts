import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StubReply } from "../../src/testing/index.ts";
import { calls, command, expectEnd, freshFolder, git, linesIn, reach, serving } from "./kept-run.ts";

const create = (path: string, content: string, more: object = {}): StubReply =>
  calls("editor", { command: "create", path, content, ...more });

/** A folder with a project in it, in a repository of its own. */
function repository(files: Readonly<Record<string, string>> = { "big.txt": "x".repeat(5_000), "small.txt": "small" }): string {
  const cwd = freshFolder();
  git(cwd, "init", "--quiet");
  for (const [path, content] of Object.entries(files)) writeFileSync(join(cwd, path), content);
  writeFileSync(join(cwd, ".gitignore"), ".troupe/\nbuild/\n");
  git(cwd, "add", "-A");
  git(cwd, "commit", "--quiet", "-m", "Begin");
  return cwd;
}

describe("an agent in a folder that is there", () => {
  it("finds what is in it, without --force, and makes no repository of it", async () => {
    await using stub = await serving(calls("file_search", { name: "*" }), { text: "big.txt is the largest." });
    const cwd = freshFolder();
    writeFileSync(join(cwd, "big.txt"), "x".repeat(5_000));
    const task = "find the largest file of this project and say why it is so large";
    const words = ["agent", task, "--tools", "shell,file_search", "--out", ".", ...reach(stub)];
    await expectEnd(cwd, words, 0, "Done.\n\nbig.txt is the largest.\n");
    expect(JSON.stringify(stub.requests.at(-1)?.messages.at(-1))).toContain("big.txt");
    expect(existsSync(join(cwd, ".git"))).toBe(false);
  });

  it("never writes over a file that it has not seen", async () => {
    const over = create("notes.txt", "mine now", { overwrite: true });
    await using stub = await serving(over, calls("editor", { command: "view", path: "notes.txt" }), over, { text: "written" });
    const cwd = freshFolder();
    writeFileSync(join(cwd, "notes.txt"), "the user's");
    await expectEnd(cwd, ["agent", "tidy up", "--allow", "editor", "--out", ".", ...reach(stub)], 0);
    expect(JSON.stringify(stub.requests[1]?.messages.at(-1))).toContain("have not seen what it holds");
    expect(readFileSync(join(cwd, "notes.txt"), "utf8")).toBe("mine now");
  });
});

describe("a call that was not allowed", () => {
  it("is told when it happens, and with the result", async () => {
    await using stub = await serving(create("a.txt", "a"), { text: "I could not." });
    const cwd = freshFolder();
    const waiting = await command(cwd, ["agent", "do it", "--out", "out", ...reach(stub)]);
    const [, id = ""] = /troupe answer (\S+)/.exec(waiting.stdout) ?? [];
    const { stdout, stderr } = await expectEnd(cwd, ["answer", id, "no", "--base-url", stub.url], 0);
    expect(stderr).toMatch(/The call of "editor" was not made/);
    expect(stdout).toMatch(/Denied +1 call not made: editor/);
    const shown = await command(cwd, ["runs", "events", id, "--json"]);
    expect(shown.stdout).toContain('"denied":[{"tool":"editor"');
  });
});

describe("an agent in a repository", () => {
  it("leaves its changes as one commit of its own files, under its name and the task's", async () => {
    const replace = calls("editor", { command: "replace", path: "small.txt", old: "small", new: "large" });
    await using stub = await serving(create("new.txt", "new\n"), replace, { text: "written" });
    const cwd = repository();
    const words = ["agent", "Write it down\nand more", "--allow", "editor", "--out", ".", ...reach(stub)];
    await expectEnd(cwd, words, 0, /Commit +[0-9a-f]{10} \(2 files\)\n/);
    expect(git(cwd, "log", "-1", "--format=%an|%s")).toBe("Agent via Troupe|Write it down");
    expect(git(cwd, "show", "--name-only", "--format=", "HEAD").split("\n")).toEqual(["new.txt", "small.txt"]);
    expect(git(cwd, "log", "-1", "--format=%(trailers:key=Troupe-Run)")).toMatch(/^Troupe-Run: \S+/);
    expect(git(cwd, "status", "--porcelain")).toBe("");
  });

  it("never commits what the user had not committed, nor what git ignores", async () => {
    const view = calls("editor", { command: "view", path: "small.txt" });
    const edit = calls("editor", { command: "replace", path: "small.txt", old: "draft", new: "text" });
    await using stub = await serving(view, edit, create("notes/theirs.txt", "x"), create("build/out.js", "x"), create("new.txt", "new"), {
      text: "done",
    });
    const cwd = repository();
    writeFileSync(join(cwd, "small.txt"), "the user's draft");
    mkdirSync(join(cwd, "notes"));
    writeFileSync(join(cwd, "notes", "own.txt"), "untracked");
    writeFileSync(join(cwd, "big.txt"), "staged");
    git(cwd, "add", "big.txt");
    const { stdout } = await command(cwd, ["agent", "Edit", "--allow", "editor", "--out", ".", ...reach(stub)]);
    expect(stdout).toMatch(/Commit +[0-9a-f]{10} \(1 file\); left out, for they had changes of yours: notes\/theirs\.txt, small\.txt/);
    expect(git(cwd, "show", "--name-only", "--format=", "HEAD")).toBe("new.txt");
    expect(readFileSync(join(cwd, "small.txt"), "utf8")).toBe("the user's text");
    expect(git(cwd, "diff", "--cached", "--name-only")).toBe("big.txt");
  });

  it("commits nothing in the middle of a merge, and says so", async () => {
    await using stub = await serving(create("new.txt", "new"), { text: "done" });
    const cwd = repository();
    writeFileSync(join(cwd, ".git", "MERGE_HEAD"), `${git(cwd, "rev-parse", "HEAD")}\n`);
    const words = ["agent", "Write", "--allow", "editor", "--out", ".", ...reach(stub)];
    await expectEnd(cwd, words, 0, /Commit +not made, for a merge is under way/);
    expect(git(cwd, "log", "--format=%s")).toBe("Begin");
  });

  it("leaves the commit to the user with --no-commit", async () => {
    await using stub = await serving(create("new.txt", "new"), { text: "done" });
    const cwd = repository();
    const { stdout } = await command(cwd, ["agent", "Write", "--allow", "editor", "--no-commit", "--out", ".", "--json", ...reach(stub)]);
    expect(linesIn(stdout).at(-1)).toMatchObject({ commit: { files: 0, note: expect.stringContaining("--no-commit") as string } });
    expect(git(cwd, "status", "--porcelain")).toBe("?? new.txt");
  });

  it("that is stopped and goes on commits what it wrote before and after", { tags: ["company", "long"] }, async () => {
    await using stub = await serving(create("one.txt", "1"), create("two.txt", "2"), { text: "done" });
    const cwd = repository();
    const priced = [...reach(stub), "--price", "1,1"];
    await expectEnd(cwd, ["agent", "Write", ...priced, "--allow", "editor", "--budget", "0.02", "--out", "."], 3);
    expect(git(cwd, "log", "--format=%s")).toBe("Begin");
    await expectEnd(cwd, ["resume", "--budget", "1", "--base-url", stub.url], 0);
    expect(git(cwd, "show", "--name-only", "--format=", "HEAD").split("\n")).toEqual(["one.txt", "two.txt"]);
  });
});
