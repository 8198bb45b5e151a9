import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { AbortedError, UsageError } from "../../src/kernel/errors.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import type { CommitRequest } from "../../src/workspace/workspace.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

const request: CommitRequest = {
  message: "Write the code",
  author: "Product Manager",
  date: 1_700_000_000_999,
  trailers: { "Troupe-Message": "m1" },
};

/** The user's own git: no configuration of the machine, so that the tests mean the same everywhere. */
function git(root: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", HOME: "/nonexistent" };
  const settings = [
    "-c",
    "user.name=User",
    "-c",
    "user.email=user@example.test",
    "-c",
    "safe.directory=*",
    "-c",
    "init.defaultBranch=trunk",
  ];
  return execFileSync("git", [...settings, "-C", root, ...args], { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

/** Returns the name that git gives an object. */
function objectId(kind: string, content: Buffer): string {
  return createHash("sha1").update(`${kind} ${content.length}\0`).update(content).digest("hex");
}

/** A repository of the user's with one commit, one staged and one unstaged change, and one file git does not know. */
function userRepository(): string {
  const root = scratchFolder();
  git(root, "init");
  for (const name of ["committed.txt", "staged.txt", "unstaged.txt"]) writeFileSync(join(root, name), "1");
  git(root, "add", ".");
  git(root, "commit", "-m", "user's");
  writeFileSync(join(root, "staged.txt"), "2");
  git(root, "add", "staged.txt");
  writeFileSync(join(root, "unstaged.txt"), "2");
  writeFileSync(join(root, "unknown.txt"), "1");
  return root;
}

describe("git in a workspace", () => {
  it("makes a repository with the branch main and a commit by the role", async () => {
    const root = scratchFolder();
    const workspace = fileWorkspace({ root });
    expect(workspace.git).toEqual({ kind: "untried" });
    await workspace.write("src/app.js", "1");
    const id = await workspace.commit(request);
    expect(workspace.git).toEqual({ kind: "repository", isNew: true });
    expect(git(root, "rev-parse", "main")).toBe(id);
    expect(git(root, "log", "--format=%an|%ae|%cn|%ce|%at|%ct|%s|%(trailers:key=Troupe-Message,valueonly)")).toBe(
      "Product Manager via Troupe|product-manager@troupe.invalid|Troupe|troupe@troupe.invalid|1700000000|1700000000|Write the code|m1",
    );
    expect(git(root, "show", "HEAD:src/app.js")).toBe("1");
    expect(git(root, "status", "--porcelain")).toBe("");
    expect(git(root, "fsck", "--strict")).toBe("");
  });

  it("Git.G3 makes ids of nothing but the request and the files", async () => {
    const workspace = fileWorkspace({ root: scratchFolder() });
    await workspace.write("a.txt", "1");
    const tree = Buffer.concat([Buffer.from("100644 a.txt\0"), Buffer.from(objectId("blob", Buffer.from("1")), "hex")]);
    const lines = [
      `tree ${objectId("tree", tree)}`,
      "author Product Manager via Troupe <product-manager@troupe.invalid> 1700000000 +0000",
      "committer Troupe <troupe@troupe.invalid> 1700000000 +0000",
      "",
      "Write the code",
      "",
      "Troupe-Message: m1",
      "",
    ];
    expect(await workspace.commit(request)).toBe(objectId("commit", Buffer.from(lines.join("\n"))));
  });

  it("Git.G1 makes its own repository below another and leaves that one alone", async () => {
    const outer = userRepository();
    const before = [git(outer, "rev-parse", "HEAD"), git(outer, "diff", "--cached"), git(outer, "status", "--porcelain")];
    const root = join(outer, "out", "project");
    const workspace = fileWorkspace({ root });
    await workspace.write("a.txt", "1");
    expect(await workspace.commit(request)).toMatch(/^[0-9a-f]{40}$/);
    expect(git(root, "rev-parse", "--show-toplevel")).toBe(root);
    expect([git(outer, "rev-parse", "HEAD"), git(outer, "diff", "--cached")]).toEqual(before.slice(0, 2));
    expect(git(outer, "status", "--porcelain", "--", ":!out")).toBe(before[2]);
  });

  it("Git.G1 works in a linked worktree, on its branch", { tags: ["company", "long"] }, async () => {
    const main = userRepository();
    const root = join(scratchFolder(), "tree");
    git(main, "worktree", "add", "-b", "side", root);
    const workspace = fileWorkspace({ root });
    await workspace.write("a.txt", "1");
    const id = await workspace.commit(request);
    expect(git(main, "rev-parse", "side")).toBe(id);
    expect(git(root, "status", "--porcelain")).toBe("");
    expect(git(main, "status", "--porcelain").split("\n")).toContain("?? unknown.txt");
  });

  it("Git.G2 Workspace.W4 commits what it wrote; staged, unstaged and unknown changes of the user stay as they are", async () => {
    const root = userRepository();
    const workspace = fileWorkspace({ root });
    await workspace.write("src/new.js", "1");
    await workspace.write("committed.txt", "2");
    await workspace.commit(request);
    expect(git(root, "show", "--format=", "--name-only", "HEAD").split("\n")).toEqual(["committed.txt", "src/new.js"]);
    expect(git(root, "status", "--porcelain")).toBe(["M  staged.txt", " M unstaged.txt", "?? unknown.txt"].join("\n"));
    expect(git(root, "branch", "--show-current")).toBe("trunk");
    expect(workspace.git).toEqual({ kind: "repository", isNew: false });
  });

  it("Workspace.W4 commits what ignore rules hide and leaves files it did not write", async () => {
    const root = scratchFolder();
    writeFileSync(join(root, "unknown.txt"), "1");
    const workspace = fileWorkspace({ root });
    await workspace.write(".gitignore", "*.log\n");
    await workspace.write("kept.log", "1");
    await workspace.commit(request);
    expect(git(root, "ls-files").split("\n")).toEqual([".gitignore", "kept.log"]);
  });

  it("commits removals, also of what became a folder", async () => {
    const root = scratchFolder();
    const workspace = fileWorkspace({ root });
    await workspace.write("a", "1");
    await workspace.write("b.txt", "1");
    await workspace.commit(request);
    await workspace.remove("a");
    await workspace.write("a/b", "2");
    await workspace.remove("b.txt");
    await workspace.commit(request);
    expect(git(root, "ls-tree", "-r", "--name-only", "HEAD")).toBe("a/b");
    expect(git(root, "status", "--porcelain")).toBe("");
  });

  it.each([
    ["attributes ask for an encoding that a file does not have", { ".gitattributes": "*.txt text working-tree-encoding=UTF-16\n" }, []],
    ["settings refuse line ends", {}, ["core.autocrlf=true", "core.safecrlf=true"]],
  ])("commits a file as it is where %s", async (_where, files, settings) => {
    const root = userRepository();
    for (const setting of settings) git(root, "config", ...setting.split("="));
    const workspace = fileWorkspace({ root });
    for (const [path, content] of Object.entries({ ...files, "new.txt": "one\ntwo\n" })) await workspace.write(path, content);
    expect(await workspace.commit(request)).toMatch(/^[0-9a-f]{40}$/);
    expect(git(root, "cat-file", "blob", "HEAD:new.txt")).toBe("one\ntwo");
  });

  it.each(["--skip-worktree", "--assume-unchanged"])("Git.G2 leaves no undoing of it in an index with %s", async (flag) => {
    const root = userRepository();
    git(root, "update-index", flag, "committed.txt");
    const workspace = fileWorkspace({ root });
    await workspace.write("committed.txt", "by the role");
    await workspace.commit(request);
    expect(git(root, "show", "HEAD:committed.txt")).toBe("by the role");
    expect(git(root, "diff", "--cached", "--name-only")).toBe("staged.txt");
  });

  it("commits names that need care, and executable files as such", async () => {
    const root = scratchFolder();
    const workspace = fileWorkspace({ root });
    const names = ["-rf", "--help", "Größe.md", "[id].js", "a b.txt", "x;rm -rf $HOME.txt", "'quoted'.txt", "__proto__"];
    for (const name of names) await workspace.write(name, name);
    chmodSync(join(root, "-rf"), 0o755);
    await workspace.commit(request);
    expect(git(root, "-c", "core.quotePath=false", "ls-files").split("\n").sort()).toEqual([...names].sort());
    expect(git(root, "ls-tree", "HEAD", "--", "./-rf")).toContain("100755 blob");
    expect(git(root, "status", "--porcelain")).toBe("");
  });

  it("goes on from the history of a workspace object that is gone, without committing twice", async () => {
    const root = scratchFolder();
    const ids: (string | undefined)[] = [];
    for (let n = 0; n < 3; n++) {
      const workspace = fileWorkspace({ root });
      await workspace.write("a.txt", "1");
      ids.push(await workspace.commit(request));
    }
    expect(ids.slice(1)).toEqual([undefined, undefined]);
    expect(git(root, "rev-list", "--count", "HEAD")).toBe("1");
  });

  it("keeps what is not committed when git fails, and commits it next time", async () => {
    const root = scratchFolder();
    const workspace = fileWorkspace({ root });
    await workspace.write("a.txt", "1");
    await workspace.commit(request);
    await workspace.write("b.txt", "1");
    writeFileSync(join(root, ".git", "index.lock"), "");
    const error = await errorOf(() => workspace.commit(request));
    expect(error).toMatchObject({ name: "WorkspaceError", code: "WORKSPACE_GIT" });
    expect(error.message).toMatch(/code 128:\nfatal: .*index\.lock.*\n(?:.+\n)*Mend that, then resume: the files are written/);
    expect(error.message).not.toContain("\\u{a}");
    execFileSync("rm", [join(root, ".git", "index.lock")]);
    expect(await workspace.commit(request)).toMatch(/^[0-9a-f]{40}$/);
    expect(git(root, "ls-files").split("\n")).toEqual(["a.txt", "b.txt"]);
  });

  it("stops when the signal aborts, and can go on later", async () => {
    const workspace = fileWorkspace({ root: scratchFolder() });
    await workspace.write("a.txt", "1");
    const stopped = AbortSignal.abort(new AbortedError("enough"));
    expect(await workspace.prepareGit()).toEqual({ kind: "repository", isNew: true });
    expect(await errorOf(() => workspace.commit({ ...request, signal: stopped }))).toBe(stopped.reason);
    expect(await workspace.commit(request)).toMatch(/^[0-9a-f]{40}$/);
  });

  it("refuses dates git cannot keep", async () => {
    const workspace = fileWorkspace({ root: scratchFolder() });
    await workspace.write("a.txt", "1");
    for (const date of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      expect(await errorOf(() => workspace.commit({ ...request, date }))).toBeInstanceOf(UsageError);
    }
    expect(await workspace.commit({ ...request, date: 0 })).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("hostile git", () => {
  /** A program that leaves a mark when anybody runs it. */
  function trap(folder: string, name: string): string {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho ${name} >> "${folder}/sprung"\ncat\n`, { mode: 0o755 });
    return file;
  }

  it("runs no hook, filter, monitor or signer of a repository", async () => {
    const root = userRepository();
    const traps = scratchFolder();
    for (const hook of ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "prepare-commit-msg"]) {
      trap(traps, hook);
    }
    for (const [key, value] of [
      ["core.hooksPath", traps],
      ["core.fsmonitor", trap(traps, "monitor")],
      ["filter.evil.clean", trap(traps, "clean")],
      ["filter.evil.smudge", trap(traps, "smudge")],
      ["filter.evil.process", trap(traps, "process")],
      ["gpg.program", trap(traps, "sign")],
      ["commit.gpgSign", "true"],
      ["core.worktree", traps],
      ["core.autocrlf", "true"],
    ]) {
      git(root, "config", key ?? "", value ?? "");
    }
    const workspace = fileWorkspace({ root });
    await workspace.write(".gitattributes", "* filter=evil text eol=crlf\n");
    await workspace.write("a.txt", "line\n");
    expect(await workspace.commit(request)).toMatch(/^[0-9a-f]{40}$/);
    expect(existsSync(join(traps, "sprung")) ? readFileSync(join(traps, "sprung"), "utf8") : "").toBe("");
    expect(existsSync(join(traps, "a.txt"))).toBe(false);
    const shown = execFileSync("git", ["--git-dir", join(root, ".git"), "-c", "safe.directory=*", "show", "HEAD:a.txt"], {
      encoding: "utf8",
    });
    expect(shown).toBe("line\n");
  });

  it("heeds no variable of the environment", async () => {
    const root = scratchFolder();
    const elsewhere = userRepository();
    const head = git(elsewhere, "rev-parse", "HEAD");
    const traps = scratchFolder();
    writeFileSync(join(traps, "config"), `[user]\n\tname = Mallory\n[core]\n\thooksPath = ${traps}\n`);
    trap(traps, "post-commit");
    trap(traps, "reference-transaction");
    vi.stubEnv("GIT_DIR", join(elsewhere, ".git"));
    vi.stubEnv("GIT_WORK_TREE", elsewhere);
    vi.stubEnv("GIT_INDEX_FILE", join(elsewhere, ".git", "index"));
    vi.stubEnv("GIT_CONFIG_GLOBAL", join(traps, "config"));
    vi.stubEnv("GIT_AUTHOR_NAME", "Mallory");
    vi.stubEnv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z");
    vi.stubEnv("GIT_CONFIG_COUNT", "1");
    vi.stubEnv("GIT_CONFIG_KEY_0", "core.hooksPath");
    vi.stubEnv("GIT_CONFIG_VALUE_0", traps);
    vi.stubEnv("GIT_TEMPLATE_DIR", traps);
    const workspace = fileWorkspace({ root });
    await workspace.write("a.txt", "1");
    await workspace.commit(request);
    vi.unstubAllEnvs();
    expect(git(root, "log", "--format=%an %at")).toBe("Product Manager via Troupe 1700000000");
    expect(git(elsewhere, "rev-parse", "HEAD")).toBe(head);
    expect(existsSync(join(traps, "sprung"))).toBe(false);
    expect(existsSync(join(root, ".git", "config.bak"))).toBe(false);
  });

  it("works without history when .git is a link or no repository, and says why", async () => {
    const linked = scratchFolder();
    symlinkSync(join(userRepository(), ".git"), join(linked, ".git"));
    const broken = scratchFolder();
    mkdirSync(join(broken, ".git"));
    for (const [root, reason] of [
      [linked, /symbolic link/],
      [broken, /not a git repository/],
    ] as const) {
      const workspace = fileWorkspace({ root });
      await workspace.write("a.txt", "1");
      expect(await workspace.commit(request)).toBeUndefined();
      expect(workspace.git).toMatchObject({ kind: "none", reason: expect.stringMatching(reason) });
      expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("1");
    }
  });
});
