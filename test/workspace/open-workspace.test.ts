import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openWorkspace } from "../../src/workspace/open-workspace.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

describe("openWorkspace", () => {
  it("makes a missing folder and those above it", async () => {
    const root = join(scratchFolder(), "a", "b", "c");
    const workspace = await openWorkspace({ root });
    expect(workspace.root).toBe(root);
    expect(readdirSync(root)).toEqual([".git"]);
  });

  it("takes a folder that holds only .git and .troupe", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, ".troupe"));
    writeFileSync(join(root, ".troupe", "runs.db"), "runs");
    const workspace = await openWorkspace({ root });
    expect(await (await openWorkspace({ root })).list()).toEqual([]);
    expect(readFileSync(join(workspace.root, ".troupe", "runs.db"), "utf8")).toBe("runs");
  });

  it("refuses a folder that holds anything else, names some of it, and changes nothing", async () => {
    const root = scratchFolder();
    for (const name of ["d.txt", "a\u001b[2J.txt", "b.txt", "c.txt", ".hidden"]) writeFileSync(join(root, name), name);
    const error = await errorOf(() => openWorkspace({ root }));
    expect(error).toMatchObject({ code: "WORKSPACE_NOT_EMPTY", data: { path: root, entries: 5 } });
    expect(error.message).toContain("holds .hidden, a\\u{1b}[2J.txt, b.txt and 2 more");
    expect(error.message).toMatch(/Choose another folder, or say --force \(`force: true` in a program\)/);
    expect(readdirSync(root).length).toBe(5);
    expect(existsSync(join(root, ".git"))).toBe(false);
  });

  it("with force keeps every file that the company does not write", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, "src", "mine.js"), "mine");
    writeFileSync(join(root, "README.md"), "old");
    const workspace = await openWorkspace({ root, force: true });
    await workspace.write("README.md", "new");
    expect(await workspace.list()).toEqual(["README.md", "src/mine.js"]);
    expect(await workspace.read("src/mine.js")).toBe("mine");
    expect(await workspace.read("README.md")).toBe("new");
  });

  it("refuses a file in the folder's place or above it", async () => {
    const base = scratchFolder();
    writeFileSync(join(base, "file"), "x");
    for (const root of [join(base, "file"), join(base, "file", "project")]) {
      for (const force of [false, true]) {
        expect(await errorOf(() => openWorkspace({ root, force }))).toMatchObject({ code: "WORKSPACE_NOT_A_FOLDER" });
      }
    }
    expect(readFileSync(join(base, "file"), "utf8")).toBe("x");
  });

  it("refuses a link that leads nowhere", async () => {
    const base = scratchFolder();
    symlinkSync(join(base, "missing"), join(base, "link"));
    expect(await errorOf(() => openWorkspace({ root: join(base, "link") }))).toMatchObject({ code: "WORKSPACE_NOT_A_FOLDER" });
  });

  it("refuses a folder it cannot write to, missing or present", async () => {
    for (const root of ["/proc/troupe/project", "/proc/troupe", "/proc/sys"]) {
      const error = await errorOf(() => openWorkspace({ root, force: true }));
      expect(error).toMatchObject({ name: "WorkspaceError", code: "WORKSPACE_UNWRITABLE" });
      expect(error.message).toContain("Choose a folder you may write to");
    }
  });

  it("refuses names no folder can have", async () => {
    for (const root of ["", "a\0b"]) expect(await errorOf(() => openWorkspace({ root }))).toMatchObject({ code: "WORKSPACE_ROOT" });
    expect(await errorOf(() => openWorkspace({ root: join(scratchFolder(), "x".repeat(300)) }))).toMatchObject({ code: "WORKSPACE_IO" });
  });

  it("tells what became of git", async () => {
    expect((await openWorkspace({ root: scratchFolder() })).git).toEqual({ kind: "repository", isNew: true });
    expect((await openWorkspace({ root: scratchFolder(), git: false })).git).toEqual({ kind: "none", reason: "git is switched off" });
    vi.stubEnv("PATH", "");
    const workspace = await openWorkspace({ root: scratchFolder() });
    expect(workspace.git).toEqual({ kind: "none", reason: "git is not on the PATH" });
    await workspace.write("a.txt", "1");
    expect(await workspace.commit({ message: "m", author: "Engineer", date: 0 })).toBeUndefined();
    expect(await errorOf(() => openWorkspace({ root: scratchFolder(), git: true }))).toMatchObject({ code: "WORKSPACE_GIT" });
  });
});
