import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type FileWorkspace, fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { workspaceForks, type WorkspaceForks } from "../../src/workspace/forks.ts";
import { errorOf, scratchFolder } from "./scratch.ts";
import { fingerprint, git, put } from "./user-project.ts";

interface Forked {
  readonly root: string;
  readonly project: FileWorkspace;
  readonly forks: WorkspaceForks;
}

const files = { "src/a.js": "one\ntwo\nthree\nfour\nfive\n", "src/b.js": "b\n", "c.txt": "c" };

function inRepository(): Forked {
  const root = scratchFolder();
  for (const [path, content] of Object.entries(files)) put(root, path, content);
  git(root, "init", "--quiet");
  git(root, "add", ".");
  git(root, "commit", "--quiet", "-m", "Begin");
  const project = fileWorkspace({ root });
  return { root, project, forks: workspaceForks({ workspace: project }) };
}

describe("forks", () => {
  const make = inRepository;

  it("need a repository with a commit, and say so", async () => {
    const root = scratchFolder();
    const open = (): Promise<void> => workspaceForks({ workspace: fileWorkspace({ root, git: false }) }).open("t1");
    for (const reason of ["it is no git repository", "its repository has no commit yet"]) {
      expect(await errorOf(open)).toMatchObject({ code: "WORKSPACE_GIT", message: expect.stringContaining(reason) as string });
      git(root, "init", "--quiet");
    }
  });

  it("are the project's present files, seen by nobody but who opens them", async () => {
    const { root, project, forks } = make();
    await project.write("new.txt", "not committed");
    const before = fingerprint(root);
    await forks.open("t1");
    await forks.open("t1");
    const fork = forks.workspace("t1");
    expect(forks.workspace("t1")).toBe(fork);
    expect(await fork.list()).toEqual(["c.txt", "new.txt", "src/a.js", "src/b.js"]);
    await fork.write("src/a.js", "changed\n");
    expect([await project.read("src/a.js"), await project.list()]).toEqual([files["src/a.js"], await fork.list()]);
    expect(fingerprint(root)).toEqual(before);
  });

  it("tell their changes, and nothing when there are none", async () => {
    const { project, forks } = make();
    await forks.open("t1");
    const fork = forks.workspace("t1");
    expect(await forks.compare("t1")).toEqual({ kind: "fits", changes: [] });
    await fork.write("src/new.js", "new\n");
    await fork.write("src/b.js", "B\n");
    await fork.remove("c.txt");
    const found = await forks.compare("t1");
    expect(found).toEqual({
      kind: "fits",
      changes: [
        { path: "c.txt", content: null },
        { path: "src/b.js", content: "B\n" },
        { path: "src/new.js", content: "new\n" },
      ],
    });
    expect(await project.read("c.txt")).toBe("c");
  });

  it("fit with what the project changed meanwhile in other files and other lines", { tags: ["company", "long"] }, async () => {
    const { project, forks } = make();
    await forks.open("t1");
    await forks.workspace("t1").write("src/a.js", "ONE\ntwo\nthree\nfour\nfive\n");
    await project.write("src/a.js", "one\ntwo\nthree\nfour\nFIVE\n");
    await project.write("src/b.js", "project's\n");
    await project.commit({ message: "Meanwhile", author: "A", date: 1 });
    expect(await forks.compare("t1")).toEqual({
      kind: "fits",
      changes: [{ path: "src/a.js", content: "ONE\ntwo\nthree\nfour\nFIVE\n" }],
    });
  });

  it("tell conflicts as a value: the same line, both new, removed and changed; and write nothing", async () => {
    const { root, project, forks } = make();
    await forks.open("t1");
    const fork = forks.workspace("t1");
    for (const [where, text] of [
      [fork, "fork"],
      [project, "project"],
    ] as const) {
      await where.write("src/a.js", `${text}\ntwo\nthree\nfour\nfive\n`);
      await where.write("both-new.txt", text);
    }
    await fork.remove("src/b.js");
    await project.write("src/b.js", "changed\n");
    const before = fingerprint(root);
    expect(await forks.compare("t1")).toEqual({ kind: "conflict", paths: ["both-new.txt", "src/a.js", "src/b.js"] });
    expect(fingerprint(root)).toEqual(before);
  });

  it("get the project's changes, with marks where they conflict, and fit after somebody has resolved those", async () => {
    const { project, forks } = make();
    await forks.open("t1");
    const fork = forks.workspace("t1");
    await fork.write("src/a.js", "fork\ntwo\nthree\nfour\nfive\n");
    await project.write("src/a.js", "project\ntwo\nthree\nfour\nfive\n");
    await project.write("src/b.js", "project's\n");
    await project.remove("c.txt");
    expect(await forks.update("t1")).toEqual({ updated: ["c.txt", "src/b.js"], conflicts: ["src/a.js"] });
    expect(await fork.read("src/a.js")).toBe("<<<<<<< project\nproject\n=======\nfork\n>>>>>>> fork\ntwo\nthree\nfour\nfive\n");
    expect([await fork.read("src/b.js"), await fork.read("c.txt")]).toEqual(["project's\n", undefined]);
    await fork.write("src/a.js", "both\ntwo\nthree\nfour\nfive\n");
    expect(await forks.compare("t1")).toEqual({
      kind: "fits",
      changes: [{ path: "src/a.js", content: "both\ntwo\nthree\nfour\nfive\n" }],
    });
    expect(await forks.update("t1")).toEqual({ updated: [], conflicts: [] });
  });

  it("are found again by another process, and WorkspaceForks.B1 made anew when their making was cut off", async () => {
    const { root, forks } = make();
    await forks.open("t1");
    await forks.workspace("t1").write("src/b.js", "work\n");
    const later = (): WorkspaceForks => workspaceForks({ workspace: fileWorkspace({ root }) });
    await later().open("t1");
    expect(await later().compare("t1")).toMatchObject({ changes: [{ path: "src/b.js", content: "work\n" }] });
    git(root, "update-ref", "-d", "refs/troupe/base/t1");
    await later().open("t1");
    expect(await later().compare("t1")).toEqual({ kind: "fits", changes: [] });
  });

  it("WorkspaceForks.B2 leave the project as it is, and vanish when they are removed", async () => {
    const { root, forks } = make();
    const before = fingerprint(root);
    await forks.open("t1");
    await forks.open("t2");
    await forks.workspace("t1").write("src/b.js", "work\n");
    await forks.compare("t1");
    await forks.update("t1");
    await forks.remove("t1");
    await forks.remove("t1");
    expect(fingerprint(root)).toEqual(before);
    expect([existsSync(join(root, ".troupe/trees/t1")), existsSync(join(root, ".troupe/trees/t2"))]).toEqual([false, true]);
    expect((await errorOf(() => forks.compare("t1"))).code).toBe("WORKSPACE_FORK");
    await forks.open("t1");
    expect(await forks.workspace("t1").read("src/b.js")).toBe("b\n");
  });

  it("merge no binary file, and lose no byte of one", { tags: ["company", "long"] }, async () => {
    const { root, project, forks } = make();
    const bytes = Buffer.from([0, 255, 254, 10]);
    put(root, "pic.bin", bytes);
    await forks.open("t1");
    await forks.workspace("t1").write("pic.bin", "text");
    await project.write("src/b.js", "x\n");
    expect(await forks.compare("t1")).toMatchObject({ kind: "fits", changes: [{ path: "pic.bin", content: "text" }] });
    put(root, "pic.bin", Buffer.from([1, 0, 2]));
    expect(await forks.compare("t1")).toEqual({ kind: "conflict", paths: ["pic.bin"] });
    expect(readFileSync(join(root, "pic.bin"))).toEqual(Buffer.from([1, 0, 2]));
  });
});

it("WorkspaceForks.B3 a fork stays as it is, and is no copy, when git fails", async () => {
  const { root, forks } = inRepository();
  await forks.open("t1");
  const fork = forks.workspace("t1");
  await fork.write("src/b.js", "work\n");
  const head = join(root, ".git/HEAD");
  const right = readFileSync(head, "utf8");
  const branch = join(root, ".git", right.trim().slice("ref: ".length));
  const commit = readFileSync(branch, "utf8");
  const damages: readonly (readonly [string, string, string])[] = [
    [head, "garbage\n", right],
    [branch, `${"1".repeat(40)}\n`, commit],
  ];
  for (const [file, damaged, whole] of damages) {
    writeFileSync(file, damaged);
    for (const call of [() => forks.open("t1"), () => forks.open("t2"), () => forks.compare("t1")]) {
      const error = await errorOf(call);
      expect([error.code, error.message]).toEqual(["WORKSPACE_GIT", expect.stringMatching(/ended with code 128: fatal: /)]);
    }
    writeFileSync(file, whole);
  }
  renameSync(join(root, ".git"), join(root, "git"));
  expect((await errorOf(() => forks.open("t1"))).message).toContain("but it is no git repository");
  renameSync(join(root, "git"), join(root, ".git"));
  await forks.open("t1");
  expect([await fork.read("src/b.js"), existsSync(join(root, ".troupe/trees/t2"))]).toEqual(["work\n", false]);
  expect(await forks.compare("t1")).toMatchObject({ changes: [{ path: "src/b.js", content: "work\n" }] });
});

describe("a project whose fork somebody has left", () => {
  const damages: Readonly<Record<string, (root: string) => unknown>> = {
    "changed, removed and new files": (root) => {
      put(root, "src/a.js", "changed\n");
      rmSync(join(root, "c.txt"));
      put(root, "src/new.js", "new\n");
    },
    "a commit": (root) => {
      put(root, "src/a.js", "changed\n");
      git(root, "add", ".");
      git(root, "commit", "--quiet", "-m", "Tamper");
    },
    "another branch": (root) => git(root, "checkout", "--quiet", "-b", "other"),
    "a detached head with a commit": (root) => {
      git(root, "checkout", "--quiet", "--detach");
      git(root, "commit", "--quiet", "--allow-empty", "-m", "Tamper");
    },
    "an earlier commit": (root) => git(root, "reset", "--quiet", "--hard", "HEAD^"),
    "refs of ours that name another commit": (root) => {
      put(root, "src/a.js", "changed\n");
      git(root, "commit", "--quiet", "-am", "Tamper");
      git(root, "update-ref", "refs/troupe/base/t1", "HEAD");
    },
    "flags that hide a change": (root) => {
      git(root, "update-index", "--assume-unchanged", "src/a.js");
      git(root, "update-index", "--skip-worktree", "c.txt");
      put(root, "src/a.js", "changed\n");
      put(root, "c.txt", "changed");
    },
    "a rule of the repository that hides a file": (root) => {
      put(root, ".git/info/exclude", "conftest.py\n");
      put(root, "conftest.py", "");
    },
    "rules of its own that hide files": (root) => {
      put(root, "tests/.gitignore", "*\n");
      put(root, "tests/conftest.py", "");
      put(root, ".gitignore", "node_modules/\nconftest.py\n");
      put(root, "conftest.py", "");
    },
    "repositories among its files and beside them": (root) => {
      for (const folder of ["src", "lib"]) git(root, "init", "--quiet", folder);
      put(root, "lib/new.js", "");
    },
    "new packages and folders that a rule of the project hides": (root) => {
      for (const path of ["node_modules/new/index.js", "dist/word.js", "packages/a/node_modules/b/b.js"]) put(root, path, "");
    },
    "another object in place of a file's": (root) => {
      const other = git(root, "hash-object", "-w", "c.txt");
      git(root, "replace", git(root, "rev-parse", "HEAD:src/a.js"), other);
      put(root, "src/a.js", "c");
    },
    "a full index": (root) => {
      put(root, "c.txt", "staged");
      git(root, "add", ".");
    },
  };

  const putBack = async (name: string) => {
    const { root, forks } = inRepository();
    put(root, "picture.bin", "\u0000\u0001");
    put(root, ".gitignore", "node_modules/\ndist/\n");
    put(root, "node_modules/old/index.js", "");
    git(root, "add", ".");
    git(root, "commit", "--quiet", "-m", "Add");
    const state = (): unknown => [
      fingerprint(root),
      git(root, "symbolic-ref", "HEAD"),
      git(root, "rev-parse", "HEAD"),
      git(root, "status", "--porcelain"),
      ["lib", "src/.git"].map((path) => existsSync(join(root, path))),
    ];
    await forks.open("t1");
    await forks.workspace("t1").write("src/b.js", "B\n");
    const before = state();
    const guard = await forks.guard("t1");
    damages[name]?.(root);
    await workspaceForks({ workspace: fileWorkspace({ root }) }).putBack("t1", guard);
    return { before, after: state(), compared: await forks.compare("t1") };
  };
  const kept = { kind: "fits", changes: [{ path: "src/b.js", content: "B\n" }] };

  it.each([
    "a commit",
    "changed, removed and new files",
    "repositories among its files and beside them",
    "new packages and folders that a rule of the project hides",
  ])("is put back after %s, also by another process", async (name) => {
    const { before, after, compared } = await putBack(name);
    expect([after, compared]).toEqual([before, kept]);
  });

  it.each(Object.keys(damages))("is put back after any of them: %s", { tags: ["company", "long"] }, async (name) => {
    const { before, after, compared } = await putBack(name);
    expect([after, compared]).toEqual([before, kept]);
  });

  it("gets files that are no text, up to a megabyte", async () => {
    const { forks } = inRepository();
    await forks.open("t1");
    const bytes = Buffer.from([0, 255, 254, 10]);
    put(forks.workspace("t1").root, "picture.png", bytes);
    expect(await forks.compare("t1")).toEqual({
      kind: "fits",
      changes: [{ path: "picture.png", content: { base64: bytes.toString("base64") } }],
    });
    put(forks.workspace("t1").root, "picture.png", Buffer.alloc(1024 * 1024 + 1));
    expect(await forks.compare("t1")).toEqual({ kind: "fits", changes: [], left: ["picture.png"] });
  });

  it("names what it does not get: names that no workspace takes, other repositories, environments of Python", async () => {
    const { forks } = inRepository();
    await forks.open("t1");
    const { root } = forks.workspace("t1");
    git(root, "init", "--quiet", "lib");
    for (const path of ["aux.js", "docs/a:b.md", "lib/a.js", ".venv/pyvenv.cfg", ".venv/lib/a.py", "node_modules/a/a.js"])
      put(root, path, "");
    const left = [".venv/", "aux.js", "docs/a:b.md", "lib/"];
    expect(await forks.compare("t1")).toEqual({ kind: "fits", changes: [], left });
  });

  it("keeps files that the repository's own rules hide, and what is staged", async () => {
    const { root, forks } = inRepository();
    put(root, ".git/info/exclude", ".env\n");
    put(root, ".env", "the user's own");
    put(root, "src/a.js", "staged\n");
    git(root, "add", ".");
    put(root, "src/a.js", "staged and changed\n");
    const before = [fingerprint(root), git(root, "diff", "--cached"), git(root, "diff")];
    await forks.open("t1");
    const guard = await forks.guard("t1");
    expect(await forks.putBack("t1", guard)).toEqual([]);
    expect([fingerprint(root), git(root, "diff", "--cached"), git(root, "diff")]).toEqual(before);
  });

  it("keeps its user's branches, and what a file held that is put back", async () => {
    const { root, forks } = inRepository();
    git(root, "branch", "develop");
    await forks.open("t1");
    const guard = await forks.guard("t1");
    git(join(root, ".troupe/trees/t1"), "checkout", "--quiet", "develop");
    put(root, "c.txt", "the user's own");
    expect(await forks.putBack("t1", guard)).toEqual(["c.txt"]);
    await forks.remove("t1");
    expect(git(root, "branch", "--list", "develop", "troupe/*")).toBe("  develop");
    const [folder = ""] = readdirSync(join(root, ".troupe/kept"));
    expect(readFileSync(join(root, ".troupe/kept", folder, "c.txt"), "utf8")).toBe("the user's own");
  });

  it("leaves alone what lies behind a link that somebody has put in its place", async () => {
    const [{ root, forks }, other] = [inRepository(), inRepository()];
    await forks.open("t1");
    const guard = await forks.guard("t1");
    rmSync(join(root, "src"), { recursive: true });
    git(other.root, "init", "--quiet", "src");
    symlinkSync(join(other.root, "src"), join(root, "src"));
    const before = fingerprint(other.root);
    expect(await forks.putBack("t1", guard)).toEqual(["src/a.js", "src/b.js"]);
    expect([fingerprint(other.root), lstatSync(join(root, "src")).isDirectory()]).toEqual([before, true]);
  });

  it("is compared also with a fork on a detached head, or on another branch", async () => {
    for (const words of [["--detach"], ["-b", "other"]]) {
      const { root, forks } = inRepository();
      await forks.open("t1");
      git(join(root, ".troupe/trees/t1"), "checkout", "--quiet", ...words);
      await forks.workspace("t1").write("src/b.js", "B\n");
      expect(await forks.compare("t1")).toEqual(kept);
    }
  });
});
