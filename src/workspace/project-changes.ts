import { lstat, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import type { FileWorkspace } from "./file-workspace.ts";
import { GitProgram, outputOf } from "./git-program.ts";
import { contentOf, KEPT_FOLDER } from "./kept-files.ts";
import { withHeld } from "./held-folder.ts";
import { isNormalPath } from "./path-rules.ts";
import type { ProcessOutput } from "./process.ts";
import { temporaryFolder } from "./project-copy.ts";

export interface FileDifference {
  readonly path: string;
  readonly change: "added" | "changed" | "removed";
}

export interface ProjectChanges {
  readonly files: readonly FileDifference[];
  /** As `git diff` prints it; empty where there is no git. Its text comes from files: escape it before it reaches a terminal. */
  readonly diff: string;
  /** True when the diff was longer than 200,000 bytes; a line at its end says so. */
  readonly isCut: boolean;
  /** Id of the last commit with changes; undefined when nothing is committed. */
  readonly commit?: string | undefined;
  /** Changed paths that are in no commit, because git ignores them or someone else has changed them too. */
  readonly left: readonly string[];
}

const DIFF_BYTES = 200_000;
const DIFF = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all"] as const;

export async function committedChanges(
  git: GitProgram,
  { base, head }: { readonly base: string; readonly head: string },
  signal?: AbortSignal,
): Promise<ProjectChanges> {
  const commit = (await git.idOf(`${head}^{commit}`, signal)) ?? base;
  if (commit === base) return { files: [], diff: "", isCut: false, left: [] };
  const named = await git.run([...DIFF, "--name-status", "-z", base, commit, "--"], { signal });
  const result = await git.call([...DIFF, "--src-prefix=a/", "--dst-prefix=b/", base, commit, "--"], { signal, outputLimit: DIFF_BYTES });
  outputOf(result, "diff", signal);
  const { stdout, isCut } = result as ProcessOutput;
  return { files: differencesIn(named), diff: stdout, isCut, commit, left: [] };
}

function differencesIn(text: string): FileDifference[] {
  const parts = text.split("\0");
  const files: FileDifference[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const letter = parts[at];
    files.push({ path: parts[at + 1] ?? "", change: letter === "A" ? "added" : letter === "D" ? "removed" : "changed" });
  }
  return files.sort(byPath);
}

/** Paths that differ from the last commit and are not ignored, files in untracked folders included. */
export async function uncommittedPaths(git: GitProgram, signal?: AbortSignal): Promise<readonly string[]> {
  return (await uncommitted(git, signal)).map(({ path }) => path);
}

async function uncommitted(git: GitProgram, signal?: AbortSignal): Promise<readonly { path: string; isTracked: boolean }[]> {
  const status = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all"] as const;
  const lines = (await git.run(status, { signal })).split("\0");
  // Two letters and a space precede each path.
  return lines.flatMap((line) => (line.length > 3 ? [{ path: line.slice(3), isTracked: !line.startsWith("??") }] : []));
}

/** The paths that differ between two commits. */
export async function changedBetween(
  git: GitProgram,
  commits: readonly [string, string],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  return differencesIn(await git.run([...DIFF, "--name-status", "-z", ...commits, "--"], { signal })).map(({ path }) => path);
}

const FIXED_DATES = { GIT_AUTHOR_DATE: "@0 +0000", GIT_COMMITTER_DATE: "@0 +0000" };
/** Milliseconds: a large project takes longer than other commands. */
const PRESENT_TIME = 600_000;

/** Untracked files above it stay out of a commit of the present files. */
export interface UntrackedLimit {
  readonly files: number;
  readonly bytes: number;
}

const NO_LIMIT: UntrackedLimit = { files: Infinity, bytes: Infinity };

/** A commit of the present files. */
export interface PresentFiles {
  readonly commit: string;
  /** Untracked files that are too large, or too many. */
  readonly left: readonly string[];
}

/** Keeps the present files that git does not ignore in a commit that no branch has. Equal files on an equal HEAD give an equal id. */
export async function presentFiles(git: GitProgram, signal?: AbortSignal, limit = NO_LIMIT): Promise<PresentFiles> {
  const head = await git.idOf("HEAD^{commit}", signal);
  const { paths, left } = await presentPaths(git, limit, signal);
  const scratch = temporaryFolder("troupe-git-");
  try {
    const own = { signal, timeout: PRESENT_TIME, env: { GIT_INDEX_FILE: join(scratch.path, "index"), ...FIXED_DATES } };
    await git.run(head === undefined ? ["read-tree", "--empty"] : ["read-tree", head], own);
    await git.run(["update-index", "-z", "--add", "--remove", "--stdin"], { ...own, stdin: paths.map((path) => `${path}\0`).join("") });
    const tree = await git.run(["write-tree"], own);
    const parent = head === undefined ? [] : ["-p", head];
    return { commit: await git.run(["commit-tree", tree, ...parent, "-m", "Keep what was not committed"], own), left };
  } finally {
    await scratch.remove();
  }
}

async function presentPaths(git: GitProgram, limit: UntrackedLimit, signal?: AbortSignal): Promise<{ paths: string[]; left: string[] }> {
  const paths: string[] = [];
  const left: string[] = [];
  let { files, bytes } = limit;
  for (const { path, isTracked } of await uncommitted(git, signal)) {
    if (!isNormalPath(path)) continue;
    const size = isTracked || bytes === Infinity ? 0 : ((await ifThere(lstat(join(git.root, path))))?.size ?? 0);
    const isTaken = isTracked || (files > 0 && size <= bytes);
    if (isTaken && !isTracked) [files, bytes] = [files - 1, bytes - size];
    (isTaken ? paths : left).push(path);
  }
  return { paths, left };
}

/** The changes in a folder without a repository, against the contents that were kept. `earlier`: paths that another process wrote. */
export async function folderChanges(
  workspace: FileWorkspace,
  { signal, earlier = [] }: { readonly signal?: AbortSignal | undefined; readonly earlier?: readonly string[] | undefined } = {},
): Promise<ProjectChanges> {
  const before = new Map<string, string>();
  // The first content of a path that was kept is how it was.
  for (const { path, keptAt } of workspace.kept) if (!before.has(path)) before.set(path, keptAt);
  for (const path of earlier) {
    const keptAt = `${KEPT_FOLDER}/${path}`;
    if ((await contentAt(workspace.root, keptAt)) !== undefined) before.set(path, keptAt);
  }
  const files: FileDifference[] = [];
  for (const path of new Set([...workspace.changed, ...earlier])) {
    const isThere = (await contentAt(workspace.root, path)) !== undefined;
    if (isThere) files.push({ path, change: before.has(path) ? "changed" : "added" });
    else if (before.has(path)) files.push({ path, change: "removed" });
  }
  const { diff, isCut } = await unkeptDiff(workspace, files, before, signal);
  return { files: files.sort(byPath), diff, isCut, left: [] };
}

async function unkeptDiff(
  workspace: FileWorkspace,
  files: readonly FileDifference[],
  before: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<{ readonly diff: string; readonly isCut: boolean }> {
  const scratch = temporaryFolder("troupe-diff-");
  try {
    const git = GitProgram.find(scratch.path);
    if (git === undefined || files.length === 0) return { diff: "", isCut: false };
    for (const folder of ["a", "b"]) await mkdir(join(scratch.path, folder));
    for (const { path, change } of files) {
      if (change !== "added") await put(join(scratch.path, "a", path), await contentAt(workspace.root, before.get(path) ?? path));
      if (change !== "removed") await put(join(scratch.path, "b", path), await contentAt(workspace.root, path));
    }
    const result = await git.call([...DIFF, "--no-index", "--no-prefix", "--", "a", "b"], {
      signal,
      isInit: true,
      outputLimit: DIFF_BYTES,
    });
    const isDone = result.kind === "exited" && result.code <= 1;
    return isDone ? { diff: result.stdout, isCut: result.isCut } : { diff: "", isCut: false };
  } finally {
    await scratch.remove();
  }
}

async function contentAt(root: string, path: string): Promise<Buffer | undefined> {
  try {
    return await withHeld(root, path, false, async (file) => (await contentOf(file, path))?.content);
  } catch (error) {
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

async function put(place: string, content: Uint8Array | undefined): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, content ?? "");
}

function byPath(one: FileDifference, other: FileDifference): number {
  return one.path < other.path ? -1 : 1;
}
