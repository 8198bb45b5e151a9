import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError, WorkspaceError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import { GitProgram, outputOf } from "./git-program.ts";
import { makeOwnFolder, removeOwnFolder } from "./held-folder.ts";
import { isNormalPath, visible } from "./path-rules.ts";
import { changedBetween, type PresentFiles, presentFiles, uncommittedPaths, type UntrackedLimit } from "./project-changes.ts";

/** A worktree of a repository: a folder with files of its own, on a branch of its own. */
export interface Worktree {
  readonly name: string;
  /** Absolute. */
  readonly root: string;
  /** Such as `troupe/<name>`. */
  readonly branch: string;
  readonly base: string;
}

/** Work that began earlier: its first commit, and its branch. */
export type EarlierWork = Pick<Worktree, "branch" | "base">;

/** Plain JSON. */
export interface RepositoryPlace {
  readonly head: string;
  readonly branch?: string;
  /** The tree of what is staged. */
  readonly index?: string;
}

interface AddOptions {
  readonly at?: string | undefined;
  readonly earlier?: EarlierWork | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TREES = "trees";
const HEADS = "refs/heads/";
const OWN_BRANCHES = "troupe/";
const BASES = "refs/troupe/base/";
/** The first commit of a worktree whose folder is closed, and a symbolic ref to its branch. */
const CLOSED_BASES = "refs/troupe/closed/";
const BRANCHES = "refs/troupe/branch/";
/** Commits that somebody else made in the repository meanwhile. */
const LEFT = "refs/troupe/left/";
/** Milliseconds: a checkout of a large repository takes longer than other commands. */
const CHECKOUT_TIME = 600_000;
const NAME = /^[a-zA-Z0-9](?:[a-zA-Z0-9_-]|\.(?!\.|lock$)){0,79}$/;

/** Checks the name of a worktree: a part of a folder's and of a branch's name. */
export function checkTreeName(name: string): void {
  if (NAME.test(name) && !name.endsWith(".")) return;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the name of a worktree as 1 to 80 letters, digits, "-", "_" and ".", got "${visible(name, 100)}".`,
  );
}

/**
 * The worktrees that this package makes of one repository, below its `.troupe/trees`.
 *
 * It owns their folders, their branches `troupe/<name>` and the refs of their first commits. `Worktrees.T1` a worktree whose making was cut
 * off is made again, because its ref is written last (`add`). `Worktrees.T2` a branch with commits of its own is never reset or deleted: a
 * worktree gets another branch (`#freeBranch`), and {@link Worktrees.remove} deletes only a branch without such commits. `Worktrees.T3` work
 * that continues gets the branch and the base that it had ({@link Worktrees.close}, {@link Worktrees.earlier}).
 */
export class Worktrees {
  readonly #git: GitProgram;

  private constructor(git: GitProgram) {
    this.#git = git;
  }

  /** Returns the reason when there is no repository with a commit. */
  static async open(root: string, signal?: AbortSignal): Promise<Worktrees | string> {
    const git = GitProgram.find(root);
    if (git === undefined) return "git is not on the PATH";
    const entry = await ifThere(lstat(join(root, ".git")));
    if (entry === undefined) return "it is no git repository";
    if (entry.isSymbolicLink()) return "its .git is a symbolic link";
    const named = await git.call(["rev-parse", "--verify", "--quiet", "HEAD"], { signal });
    if (named.kind === "exited" && named.code === 1) return "its repository has no commit yet";
    outputOf(named, "rev-parse", signal);
    // HEAD may name a commit that is not there.
    await git.run(["cat-file", "-e", "HEAD^{commit}"], { signal });
    await git.disarm(signal);
    return new Worktrees(git);
  }

  get git(): GitProgram {
    return this.#git;
  }

  /** Id of the commit at HEAD. */
  head(signal?: AbortSignal): Promise<string> {
    return this.#git.run(["rev-parse", "--verify", "HEAD^{commit}"], { signal });
  }

  /** The commit of the present files; HEAD itself where all of them are committed. @param limit on untracked files. Default: none */
  async snapshot(signal?: AbortSignal, limit?: UntrackedLimit): Promise<PresentFiles> {
    const paths = (await uncommittedPaths(this.#git, signal)).filter(isNormalPath);
    return paths.length === 0 ? { commit: await this.head(signal), left: [] } : presentFiles(this.#git, signal, limit);
  }

  /** The worktree of this name, if it was made completely and its folder is there. */
  async find(name: string, signal?: AbortSignal): Promise<Worktree | undefined> {
    checkTreeName(name);
    const root = this.#placeOf(name);
    const base = await this.baseOf(name, signal);
    if (base === undefined || (await ifThere(lstat(join(root, ".git")))) === undefined) return undefined;
    const git = GitProgram.find(root);
    // Whoever works there may have left the branch.
    const branch = (await git?.branch(signal)) ?? ((await git?.idOf("HEAD", signal)) === undefined ? undefined : `troupe/${name}`);
    return branch === undefined ? undefined : { name, root, branch, base };
  }

  /** The worktree of this name, made when there is none. @param options `at`: its first commit, default HEAD. `earlier`: the branch that it continues */
  async add(name: string, options: AddOptions = {}): Promise<Worktree> {
    const { signal, earlier } = options;
    const known = await this.find(name, signal);
    if (known !== undefined) return known;
    await makeOwnFolder(this.#git.root, TREES);
    await this.#clear(name, signal);
    const base = earlier?.base ?? options.at ?? (await this.head(signal));
    const branch = earlier?.branch ?? (await this.#freeBranch(name, base, signal));
    const root = this.#placeOf(name);
    const [reset, at] = earlier === undefined ? [["-B", branch], base] : [[], branch];
    const added = ["-c", "submodule.recurse=false", "worktree", "add", "--quiet", ...reset, "--", root, at] as const;
    await this.#git.run(added, { signal, timeout: CHECKOUT_TIME });
    await this.keep(name, { base, branch }, signal);
    return { name, root, branch, base };
  }

  /** Removes a worktree with what is not committed in it. Its branch stays when it has commits of its own, unless `drop` is true. */
  async remove(
    name: string,
    { drop = false, signal }: { readonly drop?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    // Not the branch that its folder has now: whoever works there may have left the own one.
    const own = await this.earlier(name, signal);
    await this.#clear(name, signal);
    await this.#forget(name, signal);
    if (own?.branch.startsWith(OWN_BRANCHES) !== true) return;
    const isEmpty =
      (await this.isAncestor(HEADS + own.branch, "HEAD", signal)) || (await this.isAncestor(HEADS + own.branch, own.base, signal));
    if (drop || isEmpty) await this.#drop(own.branch, signal);
  }

  /** Removes the folder of a worktree. Its branch and base stay for {@link Worktrees.earlier}, unless it has no commits of its own. */
  async close(name: string, signal?: AbortSignal): Promise<void> {
    const known = await this.find(name, signal);
    if (known === undefined || (await this.isAncestor(HEADS + known.branch, known.base, signal))) return this.remove(name, { signal });
    await this.#git.run(["update-ref", CLOSED_BASES + name, known.base], { signal });
    await this.#clear(name, signal);
    await this.#git.call(["update-ref", "-d", BASES + name], { signal });
  }

  /** The branch and the base of the work of this name; undefined before it began, and when its branch is gone. */
  async earlier(name: string, signal?: AbortSignal): Promise<EarlierWork | undefined> {
    checkTreeName(name);
    const base = (await this.baseOf(name, signal)) ?? (await this.#git.idOf(`${CLOSED_BASES}${name}^{commit}`, signal));
    const named = await this.#git.call(["symbolic-ref", "--quiet", BRANCHES + name], { signal });
    const ref = named.kind === "exited" && named.code === 0 ? named.stdout.trim() : "";
    if (base === undefined || !ref.startsWith(HEADS) || (await this.#git.idOf(`${ref}^{commit}`, signal)) === undefined) return undefined;
    return { base, branch: ref.slice(HEADS.length) };
  }

  /** True when all changes of the work are in a commit, such as after a merge. */
  async isIn({ base, branch }: EarlierWork, commit: string, signal?: AbortSignal): Promise<boolean> {
    const head = HEADS + branch;
    if (await this.isAncestor(HEADS + branch, commit, signal)) return true;
    const own = await changedBetween(this.#git, [base, head], signal);
    const others = new Set(await changedBetween(this.#git, [head, commit], signal));
    return own.every((path) => !others.has(path));
  }

  /** The commit that the work of this name began with. */
  baseOf(name: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.#git.idOf(`${BASES}${name}^{commit}`, signal);
  }

  async keep(name: string, { base, branch }: EarlierWork, signal?: AbortSignal): Promise<void> {
    checkTreeName(name);
    await this.#git.run(["symbolic-ref", BRANCHES + name, HEADS + branch], { signal });
    await this.keepBase(name, base, signal);
  }

  async keepBase(name: string, base: string, signal?: AbortSignal): Promise<void> {
    await this.#git.run(["update-ref", BASES + name, base], { signal });
  }

  /** The present commit, branch and index of the repository. */
  async place(signal?: AbortSignal): Promise<RepositoryPlace> {
    const branch = await this.#git.branch(signal);
    // An index with conflicts has no tree.
    const index = await this.#git.call(["write-tree"], { signal });
    const tree = index.kind === "exited" && index.code === 0 ? { index: index.stdout.trim() } : {};
    return { head: await this.head(signal), ...(branch === undefined ? {} : { branch }), ...tree };
  }

  /** Puts the branch, the commit and the index of the repository back. No file is written; another commit stays under a ref of its own. */
  async putBackHead(name: string, { head, branch, index }: RepositoryPlace, signal?: AbortSignal): Promise<void> {
    if (branch !== undefined) await this.#git.run(["symbolic-ref", "HEAD", HEADS + branch], { signal });
    const now = await this.#git.idOf("HEAD", signal);
    if (now !== undefined && now !== head) await this.#git.run(["update-ref", `${LEFT}${name}/${now}`, now], { signal });
    const ref = branch === undefined ? (["--no-deref", "HEAD"] as const) : (["HEAD"] as const);
    if (now !== head || branch === undefined) await this.#git.run(["update-ref", ...ref, head], { signal });
    // A new index has no flags that hide changes.
    await this.#git.run(["read-tree", index ?? "HEAD"], { signal });
  }

  async #forget(name: string, signal: AbortSignal | undefined): Promise<void> {
    for (const ref of [BASES, CLOSED_BASES]) await this.#git.call(["update-ref", "-d", ref + name], { signal });
    await this.#git.call(["symbolic-ref", "--delete", BRANCHES + name], { signal });
  }

  #placeOf(name: string): string {
    return join(this.#git.root, ".troupe", TREES, name);
  }

  async #clear(name: string, signal: AbortSignal | undefined): Promise<void> {
    const place = this.#placeOf(name);
    // It fails where git does not know the folder. A worktree whose making was cut off is locked: hence the force twice.
    await this.#git.call(["worktree", "remove", "--force", "--force", place], { signal, timeout: CHECKOUT_TIME });
    await removeOwnFolder(this.#git.root, `${TREES}/${name}`);
    await this.#git.call(["worktree", "prune"], { signal });
  }

  async #freeBranch(name: string, base: string, signal: AbortSignal | undefined): Promise<string> {
    for (let number = 1; ; number++) {
      const branch = `troupe/${name}${number === 1 ? "" : `-${number}`}`;
      const found = await this.#git.call(["rev-parse", "--verify", "--quiet", `${HEADS}${branch}^{commit}`], { signal });
      const isFree = found.kind === "exited" && found.code === 1;
      if (isFree || ((await this.isAncestor(HEADS + branch, base, signal)) && (await this.#drop(branch, signal)))) return branch;
      if (found.kind !== "exited") throw new WorkspaceError("WORKSPACE_GIT", "Expected git to look for a branch, but it did not end.");
    }
  }

  async #drop(branch: string, signal: AbortSignal | undefined): Promise<boolean> {
    const result = await this.#git.call(["branch", "--quiet", "-D", branch], { signal });
    return result.kind === "exited" && result.code === 0;
  }

  /** True when a commit is in the history of another. */
  async isAncestor(commit: string, of: string, signal?: AbortSignal): Promise<boolean> {
    const result = await this.#git.call(["merge-base", "--is-ancestor", commit, of], { signal });
    return result.kind === "exited" && result.code === 0;
  }
}
