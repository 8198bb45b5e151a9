import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { inCopy, type ProjectCopy, temporaryFolder } from "../../src/workspace/project-copy.ts";
import type { ProcessResult } from "../../src/workspace/process.ts";
import { scratchFolder } from "./scratch.ts";

const done: ProcessResult = { kind: "exited", code: 0, stdout: "", stderr: "", isCut: false };

/** The files in the copy of the project. */
async function copied(root: string): Promise<string[]> {
  let names: string[] = [];
  const result = await inCopy(root, {}, async (copy) => {
    names = (readdirSync(copy.project, { recursive: true }) as string[]).sort();
    return done;
  });
  expect(result).toBe(done);
  return names;
}

describe("inCopy", () => {
  it("copies files, folders and the right to run them", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, "a", "b"), { recursive: true });
    mkdirSync(join(root, "empty"));
    writeFileSync(join(root, "a", "b", "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    await inCopy(root, {}, async ({ project, bytes }) => {
      expect(readFileSync(join(project, "a", "b", "run.sh"), "utf8")).toBe("#!/bin/sh\n");
      expect(lstatSync(join(project, "a", "b", "run.sh")).mode & 0o100).toBe(0o100);
      expect(existsSync(join(project, "empty"))).toBe(true);
      expect(bytes).toBe(10);
      return done;
    });
  });

  it("leaves out history, runs, links and files being written, in any folder and case", async () => {
    const root = scratchFolder();
    for (const folder of [".git", ".TROUPE", "sub", "sub/.git", "node_modules"]) {
      mkdirSync(join(root, folder));
      writeFileSync(join(root, folder, "file"), "1");
    }
    symlinkSync("/etc", join(root, "link"));
    symlinkSync("sub/file", join(root, "sub.txt"));
    writeFileSync(join(root, ".a.0123456789ab.troupe-tmp"), "1");
    expect(await copied(root)).toEqual(["node_modules", "node_modules/file", "sub", "sub/file"]);
  });

  it("lets nobody else into the copy", async () => {
    await inCopy(scratchFolder(), {}, async ({ scratch }) => {
      expect(lstatSync(scratch).mode & 0o077).toBe(0);
      return done;
    });
  });

  it("removes the copy after the work, after a failure, and from under locked folders", async () => {
    const root = scratchFolder();
    const made: ProjectCopy[] = [];
    await inCopy(root, {}, async (copy) => {
      made.push(copy);
      mkdirSync(join(copy.project, "locked", "deep"), { recursive: true });
      writeFileSync(join(copy.project, "locked", "deep", "file"), "");
      chmodSync(join(copy.project, "locked", "deep"), 0);
      chmodSync(join(copy.project, "locked"), 0);
      return done;
    });
    const failure = inCopy(root, {}, (copy) => {
      made.push(copy);
      return Promise.reject(new Error("the work broke"));
    });
    await expect(failure).rejects.toThrow("the work broke");
    expect(made.length).toBe(2);
    expect(made.filter((copy) => existsSync(copy.scratch))).toEqual([]);
  });

  it("refuses what is too large before any work", async () => {
    const root = scratchFolder();
    writeFileSync(join(root, "a"), "");
    writeFileSync(join(root, "b"), "");
    truncateSync(join(root, "a"), 300 * 1024 * 1024);
    truncateSync(join(root, "b"), 300 * 1024 * 1024);
    const work = (): Promise<ProcessResult> => Promise.reject(new Error("must not run"));
    // Both are measured at once, and either may be the one too many.
    expect(await inCopy(root, {}, work)).toMatchObject({ kind: "refused", reason: expect.stringMatching(/got more with "[ab]"/) });
  });
});

describe("temporaryFolder", () => {
  it("is new each time, named as asked, and gone when it is removed", async () => {
    const [one, two] = [temporaryFolder("troupe-test-"), temporaryFolder("troupe-test-")];
    writeFileSync(join(one.path, "file"), "");
    expect(one.path).not.toBe(two.path);
    expect(basename(one.path)).toMatch(/^troupe-test-/);
    expect(await Promise.all([one.remove(), two.remove()])).toEqual([undefined, undefined]);
    expect([one, two].filter(({ path }) => existsSync(path))).toEqual([]);
  });

  it("is gone when the process ends, with what it holds", async () => {
    const before = process.listeners("exit");
    const { path, remove } = temporaryFolder("troupe-test-");
    writeFileSync(join(path, "file"), "");
    for (const listener of process.listeners("exit").filter((one) => !before.includes(one))) listener(0);
    expect(existsSync(path)).toBe(false);
    await remove();
    expect(process.listeners("exit")).toEqual(before);
  });
});
