import { cp, lstat, mkdir, mkdtemp, readdir, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import type { GitProgram } from "./git-program.ts";
import { KEPT_FOLDER } from "./kept-files.ts";
import { temporaryFolder } from "./project-copy.ts";
import type { RepositoryPlace, Worktrees } from "./worktrees.ts";

/** The state of a project to which it can be put back. Plain JSON. */
export interface ProjectGuard extends RepositoryPlace {
  readonly base: string;
  /** What was there beside them: files, folders that a `.gitignore` matches, and the `.git` of repositories between them. */
  readonly others: readonly string[];
}

/** The commands that show which files of a commit differ. */
export const DIFF = ["diff", "--no-ext-diff", "--no-renames", "--ignore-submodules=all", "--name-only", "-z"] as const;
const OTHERS = ["ls-files", "-z", "--others"] as const;
const RULES = "--exclude-per-directory=.gitignore";
const OF_GIT_AND_US = /^\.(?:git|troupe)\//i;

type Listing = (git: GitProgram, base: string, signal?: AbortSignal) => Promise<readonly string[]>;

/** What is there beside the files of a commit. No rule of the repository's own hides any. New repositories and rules are first: they could hide others. */
const LISTS: readonly Listing[] = [
  async (git, base, signal) => {
    const folders = await withIndexOf(git, base, ["ls-tree", "-r", "-d", "-z", "--name-only", base], signal);
    const found = await Promise.all(folders.map((folder) => ifThere(lstat(join(git.root, folder, ".git")))));
    return folders.filter((_, nth) => found[nth] !== undefined).map((folder) => `${folder}/.git`);
  },
  (git, base, signal) => withIndexOf(git, base, [...OTHERS, "--", ":(glob)**/.gitignore"], signal),
  (git, base, signal) => withIndexOf(git, base, [...OTHERS, RULES], signal),
  async (git, base, signal) => {
    const ignored = await withIndexOf(git, base, [...OTHERS, RULES, "--ignored", "--directory"], signal);
    const packages = ignored.filter((path) => /(?:^|\/)node_modules\/$/.test(path));
    const names = await Promise.all(packages.map((path) => ifThere(readdir(join(git.root, path)))));
    return [...ignored, ...packages.flatMap((path, nth) => (names[nth] ?? []).map((name) => path + name))];
  },
];

export async function guardOf(trees: Worktrees, base: string, signal?: AbortSignal): Promise<ProjectGuard> {
  const others = await Promise.all(LISTS.map((list) => list(trees.git, base, signal)));
  return { ...(await trees.place(signal)), base, others: others.flat() };
}

/** Puts files back as a guard has them; what they held goes into a new folder of `.troupe/kept`. Returns the paths that were changed. */
export async function putFilesBack(
  { git }: Worktrees,
  name: string,
  guard: ProjectGuard,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const { root } = git;
  const known = new Set(guard.others);
  const changed = (await withIndexOf(git, guard.base, [...DIFF, guard.base, "--"], signal)).filter((path) => !OF_GIT_AND_US.test(path));
  let kept: string | undefined;
  const keptPath = async (path: string): Promise<string> => join((kept ??= await keptFolder(root, name)), path);
  for (const path of changed) {
    await keep(join(root, path), await keptPath(path));
    await git.run(["restore", `--source=${guard.base}`, "--worktree", "--", `:(literal)${path}`], { signal });
  }
  for (const list of LISTS) {
    for (const path of await list(git, guard.base, signal)) {
      if (known.has(path) || OF_GIT_AND_US.test(path) || !(await isOf(root, path))) continue;
      await moveOut(join(root, path), await keptPath(path));
      changed.push(path);
    }
  }
  return changed.sort();
}

/** False for what was moved with its folder, and for what lies elsewhere, behind a link. */
async function isOf(root: string, path: string): Promise<boolean> {
  const file = join(root, path);
  return (await ifThere(lstat(file))) !== undefined && (await realpath(dirname(file))) === dirname(file);
}

/** Runs a command that lists paths with a fresh index of a commit: it has no flags that hide changes. */
async function withIndexOf(
  git: GitProgram,
  commit: string,
  args: readonly [string, ...string[]],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const scratch = temporaryFolder("troupe-git-");
  try {
    const own = { signal, env: { GIT_INDEX_FILE: join(scratch.path, "index") } };
    await git.run(["read-tree", commit], own);
    return (await git.run(args, own)).split("\0").filter((path) => path !== "");
  } finally {
    await scratch.remove();
  }
}

async function keptFolder(root: string, name: string): Promise<string> {
  await mkdir(join(root, KEPT_FOLDER), { recursive: true });
  return mkdtemp(join(root, KEPT_FOLDER, `${name}-`));
}

async function keep(file: string, copy: string): Promise<void> {
  const found = await ifThere(lstat(file));
  if (found?.isFile() !== true && found?.isDirectory() !== true) return;
  await mkdir(dirname(copy), { recursive: true });
  await cp(file, copy, { recursive: true, verbatimSymlinks: true });
}

async function moveOut(file: string, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true });
  try {
    await rename(file, copy);
  } catch {
    // It is on another device, or a part of it was moved before.
    await cp(file, copy, { recursive: true, verbatimSymlinks: true });
    await rm(file, { recursive: true, force: true });
  }
}
