import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { having, takes } from "../kernel/argument.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere } from "../kernel/system-error.ts";
import { type FileWorkspace, fileWorkspace } from "./file-workspace.ts";
import { CopyBase, type ForkBase, TreeBase } from "./fork-base.ts";
import { withHeld } from "./own-folder.ts";
import { contentOf } from "./kept-files.ts";
import { declareFork, type FileChange } from "./recorded-files.ts";
import { mergeFile, type MaybeText } from "./three-way.ts";
import { Turns, type WorkspaceLimits } from "./workspace.ts";
import { checkTreeName, Worktrees } from "./worktrees.ts";

/** Options of {@link workspaceForks}. */
export interface WorkspaceForksOptions {
  /** The project. */
  readonly workspace: FileWorkspace;
  /** Limits of each fork. Default: those of a workspace. */
  readonly limits?: Partial<WorkspaceLimits>;
}

const workspaceForksOptions: Known<WorkspaceForksOptions> = { workspace: kinds.workspace, limits: kinds.record(kinds.count) };

/** The changes that a fork brings to its project, or the paths that both changed in ways that do not fit. Plain JSON. */
export type ForkComparison =
  | { readonly kind: "fits"; readonly changes: readonly FileChange[] }
  | { readonly kind: "conflict"; readonly paths: readonly string[] };

/** The result of bringing the project's changes into a fork. Plain JSON. */
export interface ForkUpdate {
  /** Paths that are now in the fork as they are in the project, or merged. */
  readonly updated: readonly string[];
  /** Paths with both versions between marks of git, or, where one side removed the file or it is binary, as the fork has them. */
  readonly conflicts: readonly string[];
}

/**
 * Forks of a project: folders in which somebody changes files while others change theirs. Fork and merge under a name, and remove it at the
 * end; after a kill the same name leads to the same fork. The members of one object run one at a time.
 */
export interface WorkspaceForks {
  /** The workspace of a fork, the same object for the same name. Open the fork before the workspace is used. @throws UsageError `OPTION_INVALID` */
  workspace(name: string): FileWorkspace;
  /**
   * Makes a fork from the project's present files, in a worktree where the project is a repository with a commit, else as a copy. One that is
   * open already stays as it is.
   *
   * @throws WorkspaceError `WORKSPACE_GIT` when git fails, `WORKSPACE_LIMIT` for a project too large to copy, `WORKSPACE_IO` and their kin
   */
  open(name: string, signal?: AbortSignal): Promise<void>;
  /**
   * Compares a fork with the project and their common version. Nothing is written.
   *
   * @param only the paths that are compared. Default: all
   * @throws WorkspaceError `WORKSPACE_FORK` when it is not open
   */
  compare(name: string, signal?: AbortSignal, only?: readonly string[]): Promise<ForkComparison>;
  /** Brings the project's changes into a fork, so that it can be merged. @throws WorkspaceError `WORKSPACE_FORK` when it is not open */
  update(name: string, signal?: AbortSignal): Promise<ForkUpdate>;
  /** Removes a fork with all that is not merged. One that is not open is no error. */
  remove(name: string, signal?: AbortSignal): Promise<void>;
}

/**
 * Makes the forks of a project, in its folder `.troupe/trees`, which no listing and no sandbox shows.
 *
 * @example
 * import { fileWorkspace, workspaceForks } from "troupe/workspace";
 *
 * export async function change(root: string): Promise<readonly string[]> {
 *   const forks = workspaceForks({ workspace: fileWorkspace({ root }) });
 *   await forks.open("task-1");
 *   await forks.workspace("task-1").write("src/cart.js", "export const total = 0;\n");
 *   const found = await forks.compare("task-1");
 *   return found.kind === "conflict" ? found.paths : found.changes.map(({ path }) => path);
 * }
 */
export function workspaceForks(options: WorkspaceForksOptions): WorkspaceForks {
  checkGivenOptions("workspaceForks", options, workspaceForksOptions);
  takes("workspaceForks", "workspace", options.workspace, having("a workspace on disk", "list", "inspectGit"));
  return new DiskForks(options);
}

/**
 * Owns the workspaces of forks and the marks of those that are open. `WorkspaceForks.B1` a fork whose making was cut off is made anew,
 * because its mark is written last (`#make`). `WorkspaceForks.B2` the project changes by no member of this object. `WorkspaceForks.B3` a fork
 * that is complete is never made anew: where git fails, that is an error (`#opened`).
 */
class DiskForks implements WorkspaceForks {
  readonly #project: FileWorkspace;
  readonly #limits: Partial<WorkspaceLimits>;
  readonly #workspaces = new Map<string, FileWorkspace>();
  readonly #turns = new Turns();

  constructor({ workspace, limits = {} }: WorkspaceForksOptions) {
    this.#project = workspace;
    this.#limits = limits;
  }

  workspace(name: string): FileWorkspace {
    checkTreeName(name);
    const known = this.#workspaces.get(name);
    if (known !== undefined) return known;
    const git = this.#project.git.kind === "none" ? false : "auto";
    const made = fileWorkspace({ root: join(this.#project.root, ".troupe/trees", name), limits: this.#limits, git });
    declareFork(made, name, this.#project);
    this.#workspaces.set(name, made);
    return made;
  }

  open(name: string, signal?: AbortSignal): Promise<void> {
    checkTreeName(name);
    return this.#turns.take(async () => {
      if ((await this.#opened(name, signal)) === undefined) await this.#make(name, signal);
    });
  }

  compare(name: string, signal?: AbortSignal, only?: readonly string[]): Promise<ForkComparison> {
    return this.#turns.take(async () => {
      const base = await this.#openBase(name, signal);
      const [fork, project] = [this.workspace(name), this.#project];
      const [changes, conflicts]: [FileChange[], string[]] = [[], []];
      for (const path of await base.changedIn(fork, name, signal)) {
        if (only?.includes(path) === false) continue;
        const ours = await textOf(project, path);
        const versions = { base: await base.textOf(name, path, signal), ours, theirs: await textOf(fork, path) };
        const merged = await mergeFile(versions, signal);
        if (merged.kind === "conflict" || !isWritable(merged.text, ours)) conflicts.push(path);
        else if (merged.text !== ours) changes.push({ path, content: merged.text ?? null });
      }
      return conflicts.length > 0 ? { kind: "conflict", paths: conflicts } : { kind: "fits", changes };
    });
  }

  update(name: string, signal?: AbortSignal): Promise<ForkUpdate> {
    return this.#turns.take(async () => {
      const base = await this.#openBase(name, signal);
      const fork = this.workspace(name);
      const [updated, conflicts]: [string[], string[]] = [[], []];
      for (const path of await base.changedIn(this.#project, name, signal)) {
        const theirs = await textOf(fork, path);
        const versions = { base: await base.textOf(name, path, signal), ours: await textOf(this.#project, path), theirs };
        const merged = await mergeFile(versions, signal);
        const text = merged.kind === "clean" ? merged.text : (merged.marked ?? theirs);
        const isKept = text === theirs || !isWritable(text, theirs);
        if (merged.kind === "conflict" || (isKept && text !== theirs)) conflicts.push(path);
        else if (!isKept) updated.push(path);
        if (!isKept) await (text === undefined ? fork.remove(path) : fork.write(path, text));
      }
      await base.renew(name, signal);
      return { updated, conflicts };
    });
  }

  remove(name: string, signal?: AbortSignal): Promise<void> {
    checkTreeName(name);
    return this.#turns.take(async () => {
      const root = await ifThere(realpath(this.#project.root));
      if (root === undefined) return;
      await withHeld(root, markOf(name), false, async (file) => {
        if ((await file.stats()) !== undefined) await file.unlink();
      });
      const trees = await Worktrees.open(root, signal);
      // The worktree before the folder: its branch is known by the folder.
      if (typeof trees !== "string") await new TreeBase(this.#project, trees).remove(name, signal);
      await new CopyBase(this.#project, root).remove(name);
      this.#workspaces.delete(name);
    });
  }

  async #make(name: string, signal: AbortSignal | undefined): Promise<void> {
    const root = await realpath(this.#project.root);
    const wanted = this.#project.git.kind === "none" ? "copy" : "worktree";
    const found = await this.#baseOf(root, wanted, signal);
    const base = typeof found === "string" ? new CopyBase(this.#project, root) : found;
    await base.make(name, signal);
    await withHeld(root, markOf(name), true, (file) => file.replace(Buffer.from(base.kind)));
  }

  async #openBase(name: string, signal: AbortSignal | undefined): Promise<ForkBase> {
    checkTreeName(name);
    const base = await this.#opened(name, signal);
    if (base !== undefined) return base;
    throw new WorkspaceError("WORKSPACE_FORK", `Expected the fork "${name}" to be open, but it is not. Open it first.`);
  }

  /** The base of a fork that is complete; undefined when there is none. */
  async #opened(name: string, signal: AbortSignal | undefined): Promise<ForkBase | undefined> {
    const root = await ifThere(realpath(this.#project.root));
    if (root === undefined) return undefined;
    const mark = await withHeld(root, markOf(name), false, (file) => contentOf(file, markOf(name)));
    const folder = await ifThere(lstat(join(root, ".troupe/trees", name)));
    if (mark === undefined || folder?.isDirectory() !== true) return undefined;
    const base = await this.#baseOf(root, mark.content.toString() === "copy" ? "copy" : "worktree", signal);
    if (typeof base !== "string") return base;
    // Made anew as a copy, it would lose what somebody wrote there.
    throw new WorkspaceError(
      "WORKSPACE_GIT",
      `Expected the repository of which the fork "${name}" is a worktree, but ${base}. Put the repository back, or remove the fork.`,
    );
  }

  /** @returns the reason when a worktree is asked for, and there is no repository that can have one */
  async #baseOf(root: string, kind: ForkBase["kind"], signal: AbortSignal | undefined): Promise<ForkBase | string> {
    if (kind === "copy") return new CopyBase(this.#project, root);
    const trees = await Worktrees.open(root, signal);
    return typeof trees === "string" ? trees : new TreeBase(this.#project, trees);
  }
}

function markOf(name: string): string {
  return `.troupe/marks/${name}`;
}

/** The text of a file; a file that is no text, too large, or a link counts as a content of its own that nothing can be merged with. */
async function textOf(workspace: FileWorkspace, path: string): Promise<MaybeText> {
  try {
    return await workspace.read(path);
  } catch (error) {
    if (error instanceof WorkspaceError) return `\0${error.code}`;
    throw error;
  }
}

/** False for a content that would lose bytes as text. */
function isWritable(text: MaybeText, now: MaybeText): boolean {
  return text === now || text === undefined || !(text.includes("\0") || text.includes("\ufffd"));
}
