import { ifThere, succeeds } from "../kernel/system-error.ts";
import { lstat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UsageError, WorkspaceError } from "../kernel/errors.ts";
import { commitMessage, KEY_TRAILER, trailersOf } from "./commit-text.ts";
import { describeFailure, type GitCallOptions, GitProgram, outputOf, personEnvironment } from "./git-program.ts";
import { withHeld } from "./held-folder.ts";
import { temporaryFolder } from "./project-copy.ts";
import type { CommitRequest } from "./workspace.ts";

/** The state of git in a workspace: not asked yet, in a repository at its root, or not at all and why. */
export type GitState =
  | { readonly kind: "untried" }
  | { readonly kind: "repository"; readonly isNew: boolean }
  | { readonly kind: "none"; readonly reason: string };

export interface PathsCommit extends Omit<CommitRequest, "paths"> {
  readonly paths: readonly string[];
}

export interface RepositoryState {
  readonly changed: readonly string[];
  /** Files have conflicts that no one has resolved. */
  readonly isUnmerged: boolean;
  readonly underWay: string | undefined;
}

const UNMERGED = /^(?:U.|.U|AA|DD)/;

const UNDER_WAY: readonly (readonly [file: string, what: string])[] = [
  ["MERGE_HEAD", "a merge"],
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["BISECT_LOG", "a bisection"],
];

/**
 * The repository at the root of a workspace, driven by the `git` program.
 *
 * It owns how commits are made: from blobs of the files named and the tree of HEAD, in an index of its own, so that hooks, filters,
 * ignore rules and whatever else is staged or lying about have no say. The workspace owns which paths are named.
 *
 * Git.G1 only the repository whose `.git` is at the root itself is used, never one of a folder above.
 * Git.G2 the user's index changes in the committed paths only, the user's files not at all.
 * Git.G3 equal trees make no commit; equal requests on equal parents make equal ids. Git.G4 a key is committed once, unless the contents differ.
 */
export class GitRepository {
  readonly isNew: boolean;
  readonly #git: GitProgram;

  private constructor(git: GitProgram, isNew: boolean) {
    this.#git = git;
    this.isNew = isNew;
  }

  /** Opens the repository at the root, or makes one with the branch `main`; returns the reason when neither works. */
  static async open(root: string, signal?: AbortSignal): Promise<GitRepository | string> {
    const git = GitProgram.find(root);
    if (git === undefined) return "git is not on the PATH";
    const entry = await ifThere(lstat(join(root, ".git")));
    if (entry?.isSymbolicLink() === true) return "the project's .git is a symbolic link";
    const call = entry === undefined ? ["init", "--quiet", "--template="] : ["rev-parse", "--git-dir"];
    const result = await git.call(call, { signal, isInit: entry === undefined });
    if (result.kind === "exited" && result.code === 0) {
      if (entry !== undefined) await git.disarm(signal);
      return new GitRepository(git, entry === undefined);
    }
    return `git ${call[0]} failed: ${describeFailure(result)}`;
  }

  /** Commits the present state of the paths on top of HEAD. Gives the commit's id, or undefined when the tree does not differ. */
  async commit(request: PathsCommit): Promise<string | undefined> {
    if (!Number.isFinite(request.date) || request.date < 0 || request.date >= 2 ** 52) {
      throw new UsageError("COMMIT_DATE", `Expected the date of a commit in milliseconds since 1970, got ${request.date}.`);
    }
    const scratch = temporaryFolder("troupe-git-");
    try {
      return await this.#commit(request, join(scratch.path, "index"));
    } finally {
      await scratch.remove();
    }
  }

  /** Returns the state of the repository. Nothing is written, not even its index. */
  async state(signal?: AbortSignal): Promise<RepositoryState> {
    const status = await this.#git.run(
      ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=normal"],
      { signal },
    );
    const folder = resolve(this.#git.root, await this.#git.run(["rev-parse", "--git-dir"], { signal }));
    let underWay: string | undefined;
    for (const [file, what] of UNDER_WAY) if (underWay === undefined && (await succeeds(lstat(join(folder, file))))) underWay = what;
    // Two letters and a space precede each path.
    const lines = status.split("\0").filter((line) => line.length > 3);
    return { changed: lines.map((line) => line.slice(3)), isUnmerged: lines.some((line) => UNMERGED.test(line)), underWay };
  }

  /** Returns those paths that its ignore rules match. */
  async ignored(paths: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
    const stdin = paths.map((path) => `${path}\0`).join("");
    const result = await this.#git.call(["check-ignore", "-z", "--stdin"], { signal, stdin });
    if (result.kind === "exited" && result.code === 1) return [];
    return outputOf(result, "check-ignore", signal)
      .split("\0")
      .filter((path) => path !== "");
  }

  async #commit(request: PathsCommit, index: string): Promise<string | undefined> {
    const { signal } = request;
    const own = { signal, env: { GIT_INDEX_FILE: index } };
    const { commit: head, tree: before } = await this.#head(signal);
    await this.#git.run(head === undefined ? ["read-tree", "--empty"] : ["read-tree", head], own);
    await this.#stage(request.paths, own);
    const tree = await this.#git.run(["write-tree"], own);
    const isSame = head === undefined ? (await this.#git.run(["ls-files", "-z"], own)) === "" : tree === before;
    if (isSame || (await this.#isMade(request, own))) return undefined;
    const parent = head === undefined ? [] : ["-p", head];
    const message = commitMessage(request.message, trailersOf(request));
    const env = personEnvironment(request);
    const id = await this.#git.run(["commit-tree", tree, ...parent], { signal, env, stdin: message });
    // The index before the branch: interrupted between the two, the next commit finds HEAD unchanged and does both again.
    await this.#git.run(["update-index", "-z", "--index-info"], { signal, stdin: await this.#staged(request.paths, tree, own) });
    const reason = `commit: ${message.slice(0, message.indexOf("\n"))}`;
    await this.#git.run(["update-ref", "-m", reason, "HEAD", id, head ?? "0".repeat(id.length)], { signal, env });
    return id;
  }

  /** True when a commit has this key and the paths as they are in the index. Other contents are those of a run with the same id. */
  async #isMade({ key, paths, signal }: PathsCommit, own: GitCallOptions): Promise<boolean> {
    const made = key === undefined ? undefined : (await keysIn(this.#git, signal)).get(trailersOf({ key })[KEY_TRAILER] ?? "");
    if (made === undefined) return false;
    const env = { ...own.env, GIT_LITERAL_PATHSPECS: "1" };
    const compared = await this.#git.call(["diff-index", "--cached", "--quiet", made, "--", ...paths], { ...own, env });
    return compared.kind === "exited" && compared.code === 0;
  }

  /** Brings paths into an index as they are in the folder. Ignore rules have no say; a path with no plain file is removed. */
  async #stage(paths: readonly string[], options: GitCallOptions): Promise<void> {
    const files: string[] = [];
    for (const path of paths) if (await this.#isFile(path)) files.push(path);
    const removed = paths.filter((path) => !files.includes(path));
    const listed = (some: readonly string[]): string => some.map((path) => `${path}\0`).join("");
    if (removed.length > 0)
      await this.#git.run(["update-index", "-z", "--force-remove", "--stdin"], { ...options, stdin: listed(removed) });
    const add = ["update-index", "-z", "--add", "--replace", "--stdin"] as const;
    const refuses = async (some: readonly string[]): Promise<boolean> => {
      const added = await this.#git.call(add, { ...options, stdin: listed(some) });
      if (added.kind !== "exited") outputOf(added, add[0], options.signal);
      return added.kind === "exited" && added.code !== 0;
    };
    if (files.length === 0 || !(await refuses(files))) return;
    for (const path of files) if (await refuses([path])) await this.#stageAsItIs(path, options);
  }

  /** The entries of paths in an index, for another one: there a flag of the user's, such as that of a sparse checkout, may hide the file. */
  async #staged(paths: readonly string[], tree: string, own: GitCallOptions): Promise<string> {
    const env = { ...own.env, GIT_LITERAL_PATHSPECS: "1" };
    const listed = (await this.#git.run(["ls-files", "-s", "-z", "--", ...paths], { ...own, env })).split("\0");
    const entries = new Map(listed.map((entry) => [entry.slice(entry.indexOf("\t") + 1), entry]));
    const gone = paths.filter((path) => !entries.has(path)).map((path) => `0 ${"0".repeat(tree.length)}\t${path}`);
    const kept = paths.flatMap((path) => entries.get(path) ?? []);
    return [...gone, ...kept].map((entry) => `${entry}\0`).join("");
  }

  /** Attributes may ask for an encoding that a file does not have, and settings may refuse its line ends: neither keeps it out of a commit. */
  async #stageAsItIs(path: string, options: GitCallOptions): Promise<void> {
    const id = await this.#git.run(["hash-object", "--no-filters", "-w", "--stdin-paths"], { ...options, stdin: `${path}\n` });
    const { mode = 0 } = (await withHeld(this.#git.root, path, false, (file) => file.stats())) ?? {};
    const entry = `${(mode & 0o100) === 0 ? "100644" : "100755"} ${id}\t${path}\0`;
    await this.#git.run(["update-index", "-z", "--index-info"], { ...options, stdin: entry });
  }

  /** False where something is that is no file of the project: a folder, a link. */
  async #isFile(path: string): Promise<boolean> {
    try {
      return (await withHeld(this.#git.root, path, false, (file) => file.stats())) !== undefined;
    } catch (error) {
      if (error instanceof WorkspaceError && error.code === "WORKSPACE_PATH") return false;
      throw error;
    }
  }

  async #head(signal: AbortSignal | undefined): Promise<{ readonly commit: string | undefined; readonly tree: string | undefined }> {
    const listed = await this.#git.run(["cat-file", "--batch-check=%(objectname)"], { signal, stdin: "HEAD^{commit}\nHEAD^{tree}\n" });
    const [commit, tree] = listed.split("\n").map((line) => (/^[0-9a-f]+$/.test(line) ? line : undefined));
    return { commit, tree };
  }
}

/** Commits in which a key is looked for: a repeated step is one of the last that a run did. */
const LOOKED_AT = 1_000;

/** The ids of the newest commits that have a key, by their keys; empty where there is no commit. */
export async function keysIn(git: GitProgram, signal: AbortSignal | undefined): Promise<ReadonlyMap<string, string>> {
  const format = `--format=%H %(trailers:key=${KEY_TRAILER},valueonly,separator=%x20)`;
  const listed = await git.call(["log", `--max-count=${LOOKED_AT}`, format, "HEAD", "--"], { signal });
  if (listed.kind === "exited" && listed.code === 128) return new Map();
  const lines = outputOf(listed, "log", signal).split("\n").reverse();
  return new Map(lines.map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))]));
}
