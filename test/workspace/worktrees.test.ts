import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Worktrees } from "../../src/workspace/worktrees.ts";
import { errorOf, scratchFolder } from "./scratch.ts";
import { git, put, userProject } from "./user-project.ts";

async function treesOf(root: string): Promise<Worktrees> {
  const trees = await Worktrees.open(root);
  if (typeof trees === "string") throw new Error(trees);
  return trees;
}

describe("worktrees", () => {
  it("are made once for a name, listed, and removed with all that git knows of them", async () => {
    const root = userProject();
    const trees = await treesOf(root);
    const one = await trees.add("one");
    put(one.root, "src/app.js", "changed\n");
    expect(await trees.add("one")).toEqual(one);
    await trees.add("two");
    expect(git(one.root, "status", "--porcelain")).toBe(" M src/app.js");
    await trees.remove("one");
    await trees.remove("one");
    expect([await trees.find("one"), existsSync(one.root)]).toEqual([undefined, false]);
    expect(git(root, "branch", "--list", "troupe/*")).toBe("+ troupe/two");
    expect(git(root, "status", "--porcelain")).toBe("");
  });

  it("Worktrees.T1 are made anew when their making was cut off", async () => {
    const root = userProject();
    const trees = await treesOf(root);
    const { root: place } = await trees.add("one");
    git(root, "update-ref", "-d", "refs/troupe/base/one");
    git(root, "worktree", "lock", place);
    put(place, "half.txt", "half");
    const again = await trees.add("one");
    expect(again).toMatchObject({ root: place, branch: "troupe/one" });
    expect([existsSync(join(place, "half.txt")), existsSync(join(place, "src/app.js"))]).toEqual([false, true]);
  });

  it("Worktrees.T2 delete no branch with commits of its own, unless told to", async () => {
    const root = userProject();
    const trees = await treesOf(root);
    const commit = async (): Promise<string> => {
      const tree = await trees.add("one");
      put(tree.root, "new.txt", "new");
      git(tree.root, "add", ".");
      git(tree.root, "commit", "--quiet", "-m", "Work");
      return tree.branch;
    };
    expect(await commit()).toBe("troupe/one");
    await trees.remove("one");
    expect(await commit()).toBe("troupe/one-2");
    await trees.remove("one", { drop: true });
    expect(git(root, "branch", "--list", "troupe/*").trim()).toBe("troupe/one");
  });

  it("run no program of the repository: no hook, no filter", async () => {
    const root = userProject();
    const witness = join(scratchFolder(), "ran");
    put(root, ".git/hooks/post-checkout", `#!/bin/sh\necho hook >> ${witness}\n`);
    git(root, "config", "core.hooksPath", join(root, ".git/hooks"));
    git(root, "config", "filter.evil.smudge", `sh -c 'echo filter >> ${witness}; cat'`);
    put(root, ".gitattributes", "*.js filter=evil\n");
    git(root, "add", ".gitattributes");
    git(root, "commit", "--quiet", "-m", "Attributes");
    await (await treesOf(root)).add("one");
    expect(existsSync(witness)).toBe(false);
  });

  it("are not made, and delete nothing, where .troupe is a link out of the project", async () => {
    const root = userProject();
    const outside = scratchFolder();
    mkdirSync(join(outside, "trees/one"), { recursive: true });
    symlinkSync(outside, join(root, ".troupe"));
    const trees = await treesOf(root);
    expect((await errorOf(() => trees.add("one"))).code).toBe("WORKSPACE_PATH");
    await trees.remove("one");
    expect(existsSync(join(outside, "trees/one"))).toBe(true);
  });
});
