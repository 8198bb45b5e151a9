import { chmodSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ExistingProject, openExisting } from "../../src/workspace/existing-project.ts";
import { errorOf, scratchFolder } from "./scratch.ts";
import { fingerprint, git, put, userProject } from "./user-project.ts";
import { someOf } from "../long.ts";

const end = { message: "Change the app", author: "Engineer", date: 1_700_000_000_000 };

/** The work of a company: it changes one file, makes one, removes one. */
async function work({ workspace }: ExistingProject): Promise<void> {
  await workspace.write("src/app.js", "export const app = 2;\n");
  await workspace.write("src/new.js", "export const fresh = true;\n");
  await workspace.remove("open-end.txt");
}

const changed = [
  { path: "open-end.txt", change: "removed" },
  { path: "src/app.js", change: "changed" },
  { path: "src/new.js", change: "added" },
];

function without(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !changed.some((one) => one.path === path)));
}

describe("a clean repository", () => {
  it("is worked on in place: one commit on its branch, a diff, and every other file as it was", async () => {
    const root = userProject();
    const [before, base] = [fingerprint(root), git(root, "rev-parse", "HEAD")];
    const project = await openExisting({ root, name: "r1" });
    expect(project.place).toEqual({ kind: "in place", base, branch: "main" });
    expect(project.workspace.root).toBe(root);
    await work(project);
    const done = await project.finish(end);
    expect(done).toMatchObject({ files: changed, isCut: false, commit: git(root, "rev-parse", "main"), left: [] });
    expect(done.diff).toContain("-export const app = 1;\n+export const app = 2;");
    expect(without(fingerprint(root))).toEqual(without(before));
    expect([git(root, "status", "--porcelain"), git(root, "rev-list", "--count", `${base}..main`)]).toEqual(["", "1"]);
    expect(project.workspace.kept).toEqual([]);
    expect(await project.finish(end)).toEqual(done);
  });

  it("keeps what the user does meanwhile out of the commit, and tells it", async () => {
    const root = userProject();
    const project = await openExisting({ root, name: "r1" });
    await work(project);
    writeFileSync(join(root, "src/app.js"), "the user's own thought\n");
    put(root, "mine.txt", "the user's new file\n");
    const done = await project.finish(end);
    expect(done.left).toEqual(["mine.txt", "src/app.js"]);
    expect(git(root, "show", "--name-only", "--format=", "HEAD").split("\n")).toEqual(["open-end.txt", "src/new.js"]);
    expect(readFileSync(join(root, "src/app.js"), "utf8")).toBe("the user's own thought\n");
  });

  it("keeps ignored files that the company writes over, for git has not got them", { tags: ["company", "long"] }, async () => {
    const root = userProject();
    const project = await openExisting({ root, name: "r1" });
    await project.workspace.write("keys.secret", "mine");
    const done = await project.finish(end);
    expect([done.left, done.files]).toEqual([["keys.secret"], []]);
    expect(readFileSync(join(root, ".troupe/kept/keys.secret"), "utf8")).toBe("s3cret");
  });

  it(
    "goes on from the same commit when the work is opened again, in the middle or after commits",
    { tags: ["company", "long"] },
    async () => {
      const root = userProject();
      const first = await openExisting({ root, name: "r1" });
      await first.workspace.write("src/app.js", "export const app = 2;\n");
      await first.workspace.commit(end);
      await first.workspace.write("src/new.js", "export const fresh = true;\n");
      const own = (path: string, content: Uint8Array): boolean =>
        path === "src/new.js" && Buffer.from(content).toString().includes("fresh");
      const again = await openExisting({ root, name: "r1", isOwn: own });
      expect(again.place).toEqual(first.place);
      await again.workspace.remove("open-end.txt");
      expect((await again.finish(end)).files).toEqual(changed);
      expect(git(root, "status", "--porcelain")).toBe("");
    },
  );
});

describe("line ends", () => {
  /** A repository whose checkout has CRLF, and git LF: by its attributes or by a setting. */
  function converting(how: "attributes" | "setting"): string {
    const root = scratchFolder();
    git(root, "init", "--quiet");
    if (how === "attributes") put(root, ".gitattributes", "*.txt text eol=crlf\n*.bin -text\n");
    put(root, "a.txt", "one\r\ntwo\r\nthree\r\n");
    put(root, "raw.bin", "one\r\n");
    git(root, "add", "raw.bin");
    if (how === "setting") git(root, "config", "core.autocrlf", "true");
    git(root, "add", ".");
    git(root, "commit", "--quiet", "-m", "Begin");
    return root;
  }

  it.each(["attributes", "setting"] as const)(
    "that a checkout converts (%s) are committed as git knows them",
    { tags: ["company", "long"] },
    async (how) => {
      const root = converting(how);
      const project = await openExisting({ root, name: "r1" });
      expect(project.place.kind).toBe("in place");
      await project.workspace.write("a.txt", "one\r\n2\r\nthree\r\n");
      await project.workspace.write("raw.bin", "1\r\n");
      await project.workspace.write("new.txt", "new\r\n");
      const { diff } = await project.finish(end);
      expect(diff).toContain("@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
      expect(diff).toContain("-one\r\n+1\r\n");
      expect(diff).toContain("+new\n");
      expect(git(root, "status", "--porcelain")).toBe("");
    },
  );
});

const UNCOMMITTED = "there are uncommitted changes, with which the branch begins";

describe("a repository with work that is not committed", () => {
  const troubles: readonly (readonly [string, string, (root: string) => void])[] = [
    ["a changed file", UNCOMMITTED, (root) => put(root, "src/app.js", "export const app = 'mine';\n")],
    ["a new file", UNCOMMITTED, (root) => put(root, "notes.txt", "mine")],
    ["a staged file", UNCOMMITTED, (root) => (put(root, "README.md", "staged\n"), git(root, "add", "README.md"))],
    ["no branch", "no branch is checked out", (root) => git(root, "checkout", "--quiet", "--detach")],
    [
      "a merge under way",
      "a merge is under way, and there are conflicts, so the branch begins with the last commit",
      (root) => {
        git(root, "checkout", "--quiet", "-b", "other");
        put(root, "src/app.js", "export const app = 'other';\n");
        git(root, "commit", "--quiet", "-am", "Other");
        git(root, "checkout", "--quiet", "main");
        put(root, "src/app.js", "export const app = 'main';\n");
        git(root, "commit", "--quiet", "-am", "Main");
        try {
          git(root, "merge", "other");
        } catch {
          // It stops at the conflict.
        }
      },
    ],
  ];

  it.each(someOf(troubles, 2))(
    "(%s) is worked on in a worktree, and its own folder stays as it is",
    { tags: "company" },
    async (_name, reason, begin) => {
      const root = userProject();
      begin(root);
      const state = (): readonly string[] => [
        git(root, "status", "--porcelain"),
        git(root, "rev-parse", "HEAD"),
        git(root, "diff", "--cached"),
      ];
      const [before, head, was] = [fingerprint(root), git(root, "rev-parse", "HEAD"), state()];
      const project = await openExisting({ root, name: "r1" });
      const isSnapshot = reason.includes(UNCOMMITTED);
      const { base } = project.place as { readonly base: string };
      expect(project.place).toEqual({ kind: "worktree", base, branch: "troupe/r1", reason, isMergeable: !isSnapshot });
      if (!isSnapshot) expect(base).toBe(head);
      else expect([git(root, "rev-parse", `${base}^`), git(root, "diff", base, "--", "src", "README.md")]).toEqual([head, ""]);
      expect(existsSync(join(project.workspace.root, "notes.txt"))).toBe(existsSync(join(root, "notes.txt")));
      await work(project);
      expect([fingerprint(root), state()]).toEqual([before, was]);
      const done = await project.finish(end);
      expect(done).toMatchObject({ files: changed, commit: git(root, "rev-parse", "troupe/r1"), left: [] });
      expect([fingerprint(root), state()]).toEqual([before, was]);
      expect(git(root, "worktree", "list").split("\n")).toHaveLength(1);
      expect(git(root, "diff", "--name-only", base, "troupe/r1").split("\n")).toEqual(changed.map(({ path }) => path));
    },
  );

  it("goes on in its worktree, also after a kill, with what was written and not committed", async () => {
    const root = userProject();
    put(root, "notes.txt", "mine");
    await work(await openExisting({ root, name: "r1" }));
    const again = await openExisting({ root, name: "r1" });
    expect(again.place).toMatchObject({ kind: "worktree", reason: "the work began there" });
    expect((await again.finish(end)).files).toEqual(changed);
    expect(readFileSync(join(root, "notes.txt"), "utf8")).toBe("mine");
  });

  it("leaves untracked files out that would take too long to read, and names them", async () => {
    const root = userProject();
    put(root, "notes.txt", "mine");
    put(root, "huge.dat", "");
    // A sparse file: no disk has its bytes.
    truncateSync(join(root, "huge.dat"), 2 ** 31);
    const { place, workspace } = await openExisting({ root, name: "r1" });
    expect(place).toMatchObject({ reason: `${UNCOMMITTED}, without huge.dat, which would take too long to read` });
    expect(await workspace.list()).toContain("notes.txt");
    expect(await workspace.list()).not.toContain("huge.dat");
  });

  it("is changed itself when that is asked for, without commits, and with the earlier contents kept", async () => {
    const root = userProject();
    put(root, "src/app.js", "export const app = 'mine';\n");
    const head = git(root, "rev-parse", "HEAD");
    const project = await openExisting({ root, name: "r1", inFolder: true });
    expect([project.place.kind, project.workspace.root]).toEqual(["folder", root]);
    await work(project);
    expect((await project.finish(end)).files).toEqual(changed);
    expect([git(root, "rev-parse", "HEAD"), git(root, "branch", "--list", "troupe/*")]).toEqual([head, ""]);
    expect(readFileSync(join(root, ".troupe/kept/src/app.js"), "utf8")).toBe("export const app = 'mine';\n");
  });

  it("loses nothing that git ignores: the worktree stays then", { tags: ["company", "long"] }, async () => {
    const root = userProject();
    put(root, "notes.txt", "mine");
    const project = await openExisting({ root, name: "r1" });
    await project.workspace.write("key.secret", "new");
    expect((await project.finish(end)).left).toEqual(["key.secret"]);
    expect(existsSync(join(project.workspace.root, "key.secret"))).toBe(true);
  });

  it("writes nothing into a submodule, which is empty in a worktree", async () => {
    const root = userProject();
    put(root, "dirty.txt", "x");
    const { workspace } = await openExisting({ root, name: "r1" });
    await expect(workspace.write("vendor/lib/lib.js", "x")).rejects.toMatchObject({ code: "WORKSPACE_PATH" });
  });

  it("gets another branch when the user has one of that name with work on it", { tags: ["company", "long"] }, async () => {
    const root = userProject();
    git(root, "checkout", "--quiet", "-b", "troupe/r1");
    put(root, "theirs.txt", "theirs");
    git(root, "add", ".");
    git(root, "commit", "--quiet", "-m", "Theirs");
    git(root, "checkout", "--quiet", "main");
    const theirs = git(root, "rev-parse", "troupe/r1");
    put(root, "dirty.txt", "x");
    const project = await openExisting({ root, name: "r1" });
    expect(project.place).toMatchObject({ branch: "troupe/r1-2", reason: UNCOMMITTED });
    await project.finish(end);
    expect([git(root, "rev-parse", "troupe/r1"), git(root, "branch", "--list", "troupe/r1-2")]).toEqual([theirs, ""]);
  });
});

describe("work that continues after its end", () => {
  /** Finishes work on a dirty repository, and opens it again after something happened. */
  async function continued(then: (root: string, base: string) => void): Promise<{ root: string; first: string; again: ExistingProject }> {
    const root = userProject();
    put(root, "notes.txt", "mine");
    const project = await openExisting({ root, name: "r1" });
    await work(project);
    await project.finish(end);
    const { base } = project.place as { readonly base: string };
    then(root, base);
    return { root, first: base, again: await openExisting({ root, name: "r1" }) };
  }

  it("Worktrees.T3 gets its branch with its commits and its base again, and its changes are those of both parts", async () => {
    const { root, first, again } = await continued(() => {});
    expect(again.place).toMatchObject({ kind: "worktree", base: first, branch: "troupe/r1" });
    expect(await again.workspace.read("src/new.js")).toBe("export const fresh = true;\n");
    await again.workspace.write("src/more.js", "export const more = 1;\n");
    const done = await again.finish(end);
    expect(done.files).toEqual([...changed, { path: "src/more.js", change: "added" }].sort((a, b) => (a.path < b.path ? -1 : 1)));
    expect(git(root, "rev-list", "--count", `${first}..troupe/r1`)).toBe("2");
    expect(git(root, "branch", "--list", "troupe/*").trim()).toBe("troupe/r1");
  });

  const isTaken = (root: string): void => {
    git(root, "add", ".");
    git(root, "commit", "--quiet", "-m", "Take it over");
  };
  it.each<[string, (root: string, base: string) => void]>([
    ["merged it", (root) => (isTaken(root), git(root, "merge", "--quiet", "-m", "Merge", "troupe/r1"))],
    [
      "applied its difference",
      (root, base) => {
        put(root, "change.patch", `${git(root, "diff", "--binary", base, "troupe/r1")}\n`);
        git(root, "apply", "change.patch");
        isTaken(root);
      },
    ],
    ["deleted its branch", (root) => git(root, "branch", "--quiet", "-D", "troupe/r1")],
  ])("begins with the present files when the user has %s", async (_how, then) => {
    const { root, again } = await continued(then);
    expect(await again.workspace.read("notes.txt")).toBe("mine");
    await again.workspace.write("src/more.js", "export const more = 1;\n");
    expect((await again.finish(end)).files).toEqual([{ path: "src/more.js", change: "added" }]);
    expect(git(root, "fsck", "--no-progress", "--no-dangling")).toBe("");
  });

  it("stays on the branch that the user has checked out since", async () => {
    const { root, first, again } = await continued((folder) => {
      git(folder, "clean", "--quiet", "--force");
      git(folder, "checkout", "--quiet", "troupe/r1");
    });
    expect(again.place).toEqual({ kind: "in place", base: first, branch: "troupe/r1" });
    expect(again.workspace.root).toBe(root);
  });

  it("goes back to the branch of the work when the user has checked out another one", async () => {
    const root = userProject();
    const project = await openExisting({ root, name: "r1" });
    await work(project);
    await project.finish(end);
    git(root, "checkout", "--quiet", "-b", "other", "HEAD^");
    const again = await openExisting({ root, name: "r1" });
    expect(again.place).toMatchObject({ kind: "worktree", branch: "main", base: git(root, "rev-parse", "other") });
    await again.workspace.write("src/more.js", "export const more = 1;\n");
    await again.finish(end);
    expect(git(root, "diff", "--name-only", "other", "main").split("\n")).toContain("src/more.js");
    expect(existsSync(join(root, "src/more.js"))).toBe(false);
  });
});

describe("a folder without a commit of its own", () => {
  const places: readonly (readonly [string, RegExp, (root: string) => string])[] = [
    ["without a repository", /no git repository/, (root) => root],
    ["with an empty repository", /no commit yet/, (root) => (git(root, "init", "--quiet"), root)],
    [
      "in a larger repository",
      /a part of the larger repository/,
      (root) => {
        git(root, "init", "--quiet");
        put(root, "packages/other/x.js", "1");
        git(root, "add", "packages");
        git(root, "commit", "--quiet", "-m", "Begin");
        return join(root, "packages/app");
      },
    ],
  ];

  it.each(places)("(%s) is worked on in place, with the earlier contents kept and a diff", async (_name, reason, prepare) => {
    const top = scratchFolder();
    put(top, "packages/app/placeholder", "");
    const root = prepare(top);
    put(root, "src/app.js", "export const app = 1;\n");
    put(root, "open-end.txt", "no final newline");
    put(root, "other.bin", Buffer.from([0, 1, 2, 255]));
    const before = fingerprint(root);
    const project = await openExisting({ root, name: "r1" });
    expect(project.place).toEqual({ kind: "folder", reason: expect.stringMatching(reason) as string });
    await work(project);
    // Nothing is committed here; that the work asked for it changes nothing.
    await project.workspace.commit(end);
    const done = await project.finish(end);
    expect(done.files).toEqual(changed);
    expect(done.diff).toMatch(/--- a\/src\/app\.js\n\+\+\+ b\/src\/app\.js\n@@ -1 \+1 @@\n-export const app = 1;\n\+export const app = 2;/);
    expect(done.diff).toContain("--- a/open-end.txt\n+++ /dev/null");
    expect(without(fingerprint(root))).toEqual(without(before));
    expect(readFileSync(join(root, ".troupe/kept/src/app.js"), "utf8")).toBe("export const app = 1;\n");
    expect(existsSync(join(root, ".git"))).toBe(root === top && _name === "with an empty repository");
  });
});

describe("what is no project to change", () => {
  it("is refused: nothing there, a file, a bare repository, the inside of one, a bad name", async () => {
    const root = scratchFolder();
    const bare = scratchFolder();
    git(bare, "init", "--quiet", "--bare");
    git(root, "init", "--quiet");
    put(root, "file", "");
    const code = async (path: string, name = "r"): Promise<string> => (await errorOf(() => openExisting({ root: path, name }))).code;
    expect(await code(join(root, "none"))).toBe("WORKSPACE_NOT_A_FOLDER");
    expect(await code(join(root, "file"))).toBe("WORKSPACE_NOT_A_FOLDER");
    expect([await code(bare), await code(join(root, ".git"))]).toEqual(["WORKSPACE_BARE", "WORKSPACE_BARE"]);
    for (const name of ["", "a/b", "-x", "a..b", "x.lock", "a b", "x".repeat(81)]) expect(await code(root, name)).toBe("OPTION_INVALID");
  });

  it.skipIf(process.platform === "win32")("KeptFiles.K4 a read-only file stays as it is, and the write says so", async () => {
    const root = userProject();
    chmodSync(join(root, "keys.secret"), 0o444);
    const project = await openExisting({ root, name: "r1" });
    await expect(project.workspace.write("keys.secret", "x")).rejects.toMatchObject({ code: "WORKSPACE_UNWRITABLE" });
    expect(readFileSync(join(root, "keys.secret"), "utf8")).toBe("s3cret");
  });

  it("is refused where a link leads, inside and outside, and in a repository inside the project", async () => {
    const root = userProject();
    const { workspace } = await openExisting({ root, name: "r1" });
    for (const path of ["outside", "inside", "vendor/lib/lib.js", "nested/own.txt"]) {
      await expect(workspace.write(path, "x")).rejects.toMatchObject({ code: "WORKSPACE_PATH" });
    }
  });
});
