import { realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { having, takes } from "../kernel/argument.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere } from "../kernel/system-error.ts";
import { type FileWorkspace, fileWorkspace } from "./file-workspace.ts";
import { GitProgram } from "./git-program.ts";
import { isHidden, isNormalPath } from "./path-rules.ts";
import { temporaryFolder } from "./project-copy.ts";
import { DIFF, guardOf, type ProjectGuard, putFilesBack } from "./project-guard.ts";
import { declareFork, type FileChange } from "./recorded-files.ts";
import { Turns, type WorkspaceLimits, workspaceLimits } from "./workspace.ts";
import { checkTreeName, Worktrees } from "./worktrees.ts";

/** Options of {@link workspaceForks}. */
export interface WorkspaceForksOptions {
  readonly workspace: FileWorkspace;
  /** Limits of each fork. Default: those of a workspace. */
  readonly limits?: Partial<WorkspaceLimits>;
}

const workspaceForksOptions: Known<WorkspaceForksOptions> = { workspace: kinds.workspace, limits: workspaceLimits };

/**
 * The changes that a fork brings to its project, or the paths that both changed in ways that do not fit. `left` is not brought: links, files above
 * a megabyte, names that no workspace takes, and other repositories and environments of Python, as `<folder>/`. Plain JSON.
 */
export type ForkComparison =
  | { readonly kind: "fits"; readonly changes: readonly FileChange[]; readonly left?: readonly string[] }
  | { readonly kind: "conflict"; readonly paths: readonly string[] };

/** The result of bringing the project's changes into a fork. Plain JSON. */
export interface ForkUpdate {
  readonly updated: readonly string[];
  /** Paths with both versions between marks of git, or, where one side removed the file or it is binary, as the fork has them. */
  readonly conflicts: readonly string[];
}

/**
 * Forks of a project: worktrees of its git repository, in which one worker changes files while others change theirs. Fork and merge under a name,
 * and remove it at the end; after a kill the same name leads to the same fork. The members of one object run one at a time.
 */
export interface WorkspaceForks {
  /** The workspace of a fork, the same object for the same name. Open the fork before the workspace is used. @throws UsageError `OPTION_INVALID` */
  workspace(name: string): FileWorkspace;
  /** Makes a fork from the project's present files; one that is open stays as it is. @throws WorkspaceError `WORKSPACE_GIT` without a commit */
  open(name: string, signal?: AbortSignal): Promise<void>;
  /** Compares a fork with the project and their common version. @throws WorkspaceError `WORKSPACE_FORK` when it is not open */
  compare(name: string, signal?: AbortSignal, only?: readonly string[]): Promise<ForkComparison>;
  /** Brings the project's changes into a fork, so that it can be merged. @throws WorkspaceError `WORKSPACE_FORK` when it is not open */
  update(name: string, signal?: AbortSignal): Promise<ForkUpdate>;
  /** What {@link WorkspaceForks.putBack} needs: keep it before somebody works in the fork who may leave it. @throws WorkspaceError `WORKSPACE_FORK` */
  guard(name: string, signal?: AbortSignal): Promise<ProjectGuard>;
  /**
   * Puts files and HEAD back as they were at a guard, keeps what they held in `.troupe/kept`, and returns the changed paths. Ignored folders are not
   * searched. @throws WorkspaceError
   */
  putBack(name: string, guard: ProjectGuard, signal?: AbortSignal): Promise<readonly string[]>;
  /** Returns why no fork can be made of the project, such as that git is missing; undefined where one can. @throws WorkspaceError `WORKSPACE_GIT` */
  missing(signal?: AbortSignal): Promise<string | undefined>;
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

/** Bytes of a file that is no text, as it is kept in the record. */
const LARGEST = 1024 * 1024;

/**
 * Owns the workspaces of forks. `WorkspaceForks.B1` a fork whose making was cut off is made anew (`Worktrees.T1`). `WorkspaceForks.B2` the
 * project changes by no member but `putBack`. `WorkspaceForks.B3` a fork that is complete is never made anew: where git fails, that is an
 * error (`#trees`).
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
    const made = fileWorkspace({ root: this.#placeOf(name), limits: this.#limits });
    declareFork(made, name, this.#project);
    this.#workspaces.set(name, made);
    return made;
  }

  open(name: string, signal?: AbortSignal): Promise<void> {
    checkTreeName(name);
    return this.#turns.take(async () => {
      const trees = await this.#trees(name, signal);
      if ((await trees.find(name, signal)) !== undefined) return;
      await trees.add(name, { at: (await trees.snapshot(signal)).commit, signal });
    });
  }

  guard(name: string, signal?: AbortSignal): Promise<ProjectGuard> {
    return this.#turns.take(async () => {
      const { trees, base } = await this.#opened(name, signal);
      return guardOf(trees, base, signal);
    });
  }

  putBack(name: string, guard: ProjectGuard, signal?: AbortSignal): Promise<readonly string[]> {
    checkTreeName(name);
    return this.#turns.take(async () => {
      const trees = await this.#trees(name, signal);
      await trees.keepBase(name, guard.base, signal);
      await trees.putBackHead(name, guard, signal);
      return putFilesBack(trees, name, guard, signal);
    });
  }

  async missing(signal?: AbortSignal): Promise<string | undefined> {
    const trees = await this.#worktrees(signal);
    return typeof trees === "string" ? trees : undefined;
  }

  compare(name: string, signal?: AbortSignal, only?: readonly string[]): Promise<ForkComparison> {
    return this.#turns.take(async () => {
      const { trees, base } = await this.#opened(name, signal);
      const [changes, conflicts]: [FileChange[], string[]] = [[], []];
      const changed = await this.#changedIn(this.workspace(name), base, signal);
      const left = [...changed.left];
      for (const path of changed.paths) {
        if (only?.includes(path) === false) continue;
        const { ours, merged } = await this.#merged(trees, { name, base, path, known: changed.known }, signal);
        if (merged.kind === "clean" && merged.text === ours) continue;
        if (merged.kind === "conflict") conflicts.push(path);
        const content = merged.kind === "clean" ? await this.#contentOf(name, path, merged.text) : undefined;
        if (content !== undefined) changes.push({ path, content });
        else if (merged.kind === "clean") left.push(path);
      }
      if (conflicts.length > 0) return { kind: "conflict", paths: conflicts };
      return { kind: "fits", changes, ...(left.length === 0 ? {} : { left }) };
    });
  }

  update(name: string, signal?: AbortSignal): Promise<ForkUpdate> {
    return this.#turns.take(async () => {
      const { trees, base } = await this.#opened(name, signal);
      const fork = this.workspace(name);
      const [updated, conflicts]: [string[], string[]] = [[], []];
      const changed = await this.#changedIn(this.#project, base, signal);
      for (const path of changed.paths) {
        const { theirs, merged } = await this.#merged(trees, { name, base, path, known: changed.known }, signal);
        const text = merged.kind === "clean" ? merged.text : (merged.marked ?? theirs);
        const isKept = text === theirs || !isWritable(text, theirs);
        if (merged.kind === "conflict" || (isKept && text !== theirs)) conflicts.push(path);
        else if (!isKept) updated.push(path);
        if (!isKept) await (text === undefined ? fork.remove(path) : fork.write(path, text));
      }
      // The project's present files are the common version from now on.
      await trees.keepBase(name, (await trees.snapshot(signal)).commit, signal);
      return { updated, conflicts };
    });
  }

  remove(name: string, signal?: AbortSignal): Promise<void> {
    checkTreeName(name);
    return this.#turns.take(async () => {
      const trees = await this.#worktrees(signal);
      if (typeof trees !== "string") await trees.remove(name, { drop: true, signal });
      // The note of whoever worked there.
      await rm(`${this.#placeOf(name)}.json`, { force: true });
      this.#workspaces.delete(name);
    });
  }

  #placeOf(name: string): string {
    return join(this.#project.root, ".troupe/trees", name);
  }

  async #worktrees(signal: AbortSignal | undefined): Promise<Worktrees | string> {
    const root = await ifThere(realpath(this.#project.root));
    return root === undefined ? "its folder is not there" : Worktrees.open(root, signal);
  }

  async #trees(name: string, signal: AbortSignal | undefined): Promise<Worktrees> {
    const trees = await this.#worktrees(signal);
    if (typeof trees !== "string") return trees;
    const advice = "Commit the project's files with git, or put its repository back.";
    throw new WorkspaceError("WORKSPACE_GIT", `Expected a git repository with a commit for the fork "${name}", but ${trees}. ${advice}`);
  }

  async #opened(name: string, signal: AbortSignal | undefined): Promise<{ readonly trees: Worktrees; readonly base: string }> {
    checkTreeName(name);
    const trees = await this.#trees(name, signal);
    const found = await trees.find(name, signal);
    if (found !== undefined) return { trees, base: found.base };
    throw new WorkspaceError("WORKSPACE_FORK", `Expected the fork "${name}" to be open, but it is not. Open it first.`);
  }

  /** Paths that may differ between the common version and a workspace. `left`: those that no workspace takes, but for installed packages. */
  async #changedIn(workspace: FileWorkspace, base: string, signal: AbortSignal | undefined): Promise<ChangedPaths> {
    const git = GitProgram.find(await realpath(workspace.root));
    if (git === undefined) throw new WorkspaceError("WORKSPACE_GIT", "Expected git on the PATH, but it is gone. Install it, then resume.");
    await git.disarm(signal);
    const differing = (await git.run([...DIFF, base, "--"], { signal })).split("\0");
    const others = (await git.run(["ls-files", "-z", "--others", "--exclude-standard"], { signal })).split("\0");
    const all = [...new Set([...differing, ...others, ...workspace.pending])].filter((path) => path !== "").sort();
    // Half of an environment, without its links, works nowhere.
    const environments = all.filter((path) => path.endsWith("/pyvenv.cfg")).map((path) => `${dirname(path)}/`);
    const free = all.filter((path) => !environments.some((folder) => path.startsWith(folder)));
    const refused = free.filter((path) => !isNormalPath(path) && !path.split("/").some(isHidden));
    // A process of git for each new file would take minutes for thousands.
    const known = new Set((await git.run(["ls-tree", "-r", "-z", "--name-only", base], { signal })).split("\0"));
    return { paths: free.filter(isNormalPath), left: [...environments, ...refused], known };
  }

  /** Returns the content that the project gets at a path; undefined for a link, or a file that is too large. */
  async #contentOf(name: string, path: string, text: MaybeText): Promise<FileChange["content"] | undefined> {
    if (text === undefined) return null;
    if (!isBinary(text)) return text;
    const bytes = text.startsWith("\0WORKSPACE_") ? undefined : await this.workspace(name).readBytes(path, LARGEST);
    return bytes && { base64: Buffer.from(bytes).toString("base64") };
  }

  async #merged(
    trees: Worktrees,
    {
      name,
      base,
      path,
      known,
    }: { readonly name: string; readonly base: string; readonly path: string; readonly known: ReadonlySet<string> },
    signal: AbortSignal | undefined,
  ): Promise<{ readonly ours: MaybeText; readonly theirs: MaybeText; readonly merged: MergedFile }> {
    // With filters: in the form in which a checkout writes it.
    const found = known.has(path) ? await trees.git.call(["cat-file", "--filters", `${base}:${path}`], { signal }) : undefined;
    const before = found?.kind === "exited" && found.code === 0 ? found.stdout : undefined;
    const [ours, theirs] = [await textOf(this.#project, path), await textOf(this.workspace(name), path)];
    return { ours, theirs, merged: await mergeFile({ base: before, ours, theirs }, signal) };
  }
}

interface ChangedPaths {
  readonly paths: readonly string[];
  /** All of the common version. */
  readonly known: ReadonlySet<string>;
  readonly left: readonly string[];
}

type MaybeText = string | undefined;
type Versions<Text> = Readonly<Record<"base" | "ours" | "theirs", Text>>;

type MergedFile = { readonly kind: "clean"; readonly text: MaybeText } | { readonly kind: "conflict"; readonly marked: MaybeText };

async function mergeFile({ base, ours, theirs }: Versions<MaybeText>, signal?: AbortSignal): Promise<MergedFile> {
  if (ours === theirs || theirs === base) return { kind: "clean", text: ours };
  if (ours === base) return { kind: "clean", text: theirs };
  if (ours === undefined || theirs === undefined) return { kind: "conflict", marked: undefined };
  if (isBinary(ours) || isBinary(theirs) || isBinary(base ?? "")) return { kind: "conflict", marked: undefined };
  return mergeLines({ base: base ?? "", ours, theirs }, signal);
}

async function mergeLines(versions: Versions<string>, signal: AbortSignal | undefined): Promise<MergedFile> {
  const scratch = temporaryFolder("troupe-merge-");
  try {
    const git = GitProgram.find(scratch.path);
    if (git === undefined) return { kind: "conflict", marked: undefined };
    for (const side of ["ours", "base", "theirs"] as const) await writeFile(join(scratch.path, side), versions[side]);
    const labels = ["-L", "project", "-L", "before", "-L", "fork"];
    const result = await git.call(["merge-file", "-p", ...labels, "ours", "base", "theirs"], { signal, isInit: true });
    signal?.throwIfAborted();
    if (result.kind !== "exited" || result.isCut || result.code > 127) return { kind: "conflict", marked: undefined };
    return result.code === 0 ? { kind: "clean", text: result.stdout } : { kind: "conflict", marked: result.stdout };
  } finally {
    await scratch.remove();
  }
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

function isBinary(text: string): boolean {
  return text.includes("\0") || text.includes("\ufffd");
}

/** False for a content that would lose bytes as text. */
function isWritable(text: MaybeText, now: MaybeText): boolean {
  return text === now || text === undefined || !isBinary(text);
}
