import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { LeftFolders } from "../../src/fleet/left-folders.ts";
import { fileWorkspace, type FileWorkspace } from "../../src/workspace/index.ts";
import { runProcess } from "../../src/workspace/process.ts";
import { onlyHere } from "../../src/workspace/only-here.ts";

import { scratchFolder } from "../workspace/scratch.ts";

interface Machine {
  readonly folder: string;
  readonly root: string;
  readonly left: LeftFolders;
  /** What its log says, with what only an old folder has. */
  readonly told: [text: string, only: unknown][];
}

function machine(most = 8): Machine {
  const folder = scratchFolder();
  const told: Machine["told"] = [];
  const warn = (text: string, data: { readonly only?: unknown } = {}): void => void told.push([text, data.only]);
  const logger = { debug() {}, info() {}, warn, error() {} };
  return { folder, root: join(folder, "a"), told, left: new LeftFolders({ folder, runId: "a", name: "a", most, logger }) };
}

async function put(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function committed(root: string, files: Readonly<Record<string, string>>): Promise<FileWorkspace> {
  const workspace = fileWorkspace({ root });
  for (const [path, content] of Object.entries(files)) await workspace.write(path, content);
  await workspace.commit({ message: "Files", author: "Ada", date: 0 });
  return workspace;
}

const leftIn = async ({ folder }: Machine): Promise<readonly string[]> => (await readdir(join(folder, ".left"))).sort();

describe("the old folders of a run", () => {
  it("LeftFolders.L2 LeftFolders.L3 the newest of those with something of their own stay, and the log tells of each", async () => {
    const one = machine(2);
    for (const text of ["1", "2", "3"]) {
      await put(one.root, { "notes.txt": text });
      await one.left.setAside(one.root);
      await put(one.root, { "notes.txt": "0" });
      await one.left.sweep(one.root, undefined);
    }
    expect(await leftIn(one)).toEqual(["a.2", "a.3"]);
    expect(await readFile(join(one.folder, ".left", "a.3", "notes.txt"), "utf8")).toBe("3");
    expect(one.told.filter(([, only]) => only === "notes.txt").length).toBe(1 + 2 + 3);
    expect(one.told.at(-1)?.[0]).toContain("is removed");
  });

  it("LeftFolders.L1 one is removed if all its contents are in the restored folder or in its history, whatever the names", async () => {
    const one = machine();
    await put(one.root, { "old.txt": "first", "same.bin": "made", "node_modules/x/index.js": "a package" });
    await one.left.setAside(one.root);
    const workspace = await committed(one.root, { "new.txt": "first" });
    await workspace.write("new.txt", "second");
    await put(one.root, { "same.bin": "made" });
    await one.left.sweep(one.root, undefined);
    expect([await leftIn(one), one.told]).toEqual([[], []]);
  });

  it(
    "a commit, a tag, a nested repository and a file of no repository are only here until the other folder has them",
    { tags: ["fleet", "long"] },
    async () => {
      const [here, there] = [join(scratchFolder(), "here"), join(scratchFolder(), "there")];
      const git = (root: string, ...args: readonly string[]) =>
        runProcess({ file: "git", args: ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], cwd: root });
      await committed(here, { "a.txt": "a" });
      await committed(there, { "a.txt": "a" });
      expect(await onlyHere(here, there)).toBe(undefined);
      await git(here, "tag", "-a", "-m", "mine", "v1");
      expect(await onlyHere(here, there)).toMatch(/^[0-9a-f]{40}$/);
      await git(there, "fetch", "--quiet", here, "tag", "v1");
      expect(await onlyHere(here, there)).toBe(undefined);
      await put(here, { ".troupe/kept/b.txt": "of the user" });
      expect(await onlyHere(here, there)).toBe(".troupe/kept/b.txt");
      await committed(there, { "c.txt": "of the user" });
      expect(await onlyHere(here, there)).toBe(undefined);
      await put(here, { "inner/.git/HEAD": "ref: refs/heads/main" });
      expect(await onlyHere(here, there)).toBe("inner");
      expect(await onlyHere(join(here, "missing"), there)).toBe(undefined);
      expect(await onlyHere(here, join(there, "missing"))).toBe("inner");
    },
  );

  it("one that cannot be read stays, and an abort ends the comparison", { tags: ["fleet", "long"] }, async () => {
    const one = machine();
    await put(one.root, { "a.txt": "a" });
    await put(one.root, { ".git/HEAD": "no repository" });
    await one.left.setAside(one.root);
    await put(one.root, { "a.txt": "a" });
    await one.left.sweep(one.root, undefined);
    expect([await leftIn(one), one.told[0]?.[0]]).toEqual([["a.1"], expect.stringContaining("cannot be compared")]);
    await expect(one.left.sweep(one.root, AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
    expect(await leftIn(one)).toEqual(["a.1"]);
  });
});
