import { readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import { makeFolders } from "./folders.ts";
import { GitRepository } from "./git.ts";
import { GitProgram } from "./git-program.ts";
import { visible } from "./path-rules.ts";
import { presentFiles } from "./project-changes.ts";
import { temporaryFolder } from "./project-copy.ts";
import { sha256Of } from "./recorded-files.ts";
import { limitError } from "./workspace.ts";

/*
 * A project with its history as one file, which git makes and reads: a bundle. It has the branches, the tags, and one commit more, which holds
 * the present files, those that are not committed too. So what commands made moves as well, but nothing that git ignores: packages and build
 * outputs are made again.
 *
 * Bundle.B1 (`restoreBundle`) files are written only into a folder that is missing or empty. Bundle.B2 (`refsOf`) a bundle names branches, tags
 * and the present files, and no other ref, so it cannot change how git works in the folder. Bundle.B3 (`restoreBundle`) bytes with another
 * sha256 than expected are not given to git. Bundle.B4 (`bundleWorkspace`) the user's index and branches are left as they are.
 */

const PRESENT = "refs/troupe/present";
/** Milliseconds: a large history takes longer than other commands. */
const BUNDLE_TIME = 600_000;
const BUNDLE_BYTES = 256 * 1024 * 1024;
const REF = /^refs\/(?:heads|tags)\/[^\s~^:?*[\\\p{Cc}]+$/u;

export interface WorkspaceBundle {
  readonly bytes: Uint8Array;
  /** Of the bytes, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The branch that was checked out; undefined: none. */
  readonly branch: string | undefined;
}

/** Options of {@link bundleWorkspace}. */
export interface BundleOptions {
  readonly root: string;
  /** Bytes that the bundle may have. Default 256 MiB. */
  readonly mostBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link restoreBundle}. */
export interface RestoreBundleOptions {
  /** A folder that is missing or empty. */
  readonly root: string;
  readonly bundle: WorkspaceBundle;
  readonly signal?: AbortSignal | undefined;
}

/** Makes a bundle of a project: its history and present files, without what git ignores and open forks. A folder without a repository gets one. */
export async function bundleWorkspace(options: BundleOptions): Promise<WorkspaceBundle> {
  const { mostBytes = BUNDLE_BYTES, signal } = options;
  const git = await repositoryAt(options.root, signal);
  await git.run(["update-ref", PRESENT, (await presentFiles(git, signal)).commit], { signal });
  const scratch = temporaryFolder("troupe-bundle-");
  try {
    const file = join(scratch.path, "bundle");
    await git.run(["bundle", "create", "--quiet", file, PRESENT, "--branches", "--tags"], { signal, timeout: BUNDLE_TIME });
    const { size } = await stat(file);
    if (size > mostBytes) throw limitError(git.root, `a bundle of at most ${mostBytes} bytes`, `${size} bytes`);
    const bytes = new Uint8Array(await readFile(file));
    return { bytes, sha256: sha256Of(bytes), branch: await git.branch(signal) };
  } finally {
    await scratch.remove();
  }
}

/** Restores a project from its bundle; its uncommitted files are uncommitted again. */
export async function restoreBundle(options: RestoreBundleOptions): Promise<void> {
  const { bundle, signal } = options;
  if (sha256Of(bundle.bytes) !== bundle.sha256) throw bundleError("bytes with the sha256 that was recorded", "others");
  const root = resolve(options.root);
  const held = (await ifThere(readdir(root))) ?? [];
  if (held.length > 0) {
    throw new WorkspaceError(
      "WORKSPACE_NOT_EMPTY",
      `Expected a missing or empty folder at "${visible(root)}", got one with files. Move them.`,
      {
        data: { path: visible(root), entries: held.length },
      },
    );
  }
  await makeFolders(root);
  const git = await repositoryAt(root, signal);
  const scratch = temporaryFolder("troupe-bundle-");
  try {
    const file = join(scratch.path, "bundle");
    await writeFile(file, bundle.bytes, { mode: 0o600 });
    const refs = refsOf(await git.run(["bundle", "list-heads", file], { signal }));
    await git.run(["bundle", "unbundle", file], { signal, timeout: BUNDLE_TIME });
    await checkOut(git, refs, bundle.branch, signal);
  } finally {
    await scratch.remove();
  }
}

async function checkOut(
  git: GitProgram,
  refs: ReadonlyMap<string, string>,
  branch: string | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const present = refs.get(PRESENT) ?? "";
  const own = [...refs].filter(([ref]) => ref !== PRESENT);
  await git.run(["update-ref", "--stdin"], { signal, stdin: own.map(([ref, id]) => `create ${ref} ${id}\n`).join("") });
  const at = `refs/heads/${branch ?? ""}`;
  const head = refs.get(at);
  if (branch !== undefined && !REF.test(at)) throw bundleError("the name of a branch", visible(branch, 100));
  if (branch !== undefined) await git.run(["symbolic-ref", "HEAD", at], { signal });
  else await git.run(["update-ref", "--no-deref", "HEAD", `${present}^`], { signal });
  await git.run(["read-tree", "--reset", "-u", present], { signal, timeout: BUNDLE_TIME });
  const isUnborn = branch !== undefined && head === undefined;
  await git.run(isUnborn ? ["read-tree", "--empty"] : ["read-tree", "HEAD"], { signal });
}

function refsOf(listed: string): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const line of listed.split("\n")) {
    const [, id = "", ref = ""] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
    if (ref !== PRESENT && !REF.test(ref)) throw bundleError("branches, tags and the present files", visible(ref, 100));
    refs.set(ref, id);
  }
  if (!refs.has(PRESENT)) throw bundleError("the present files", "a bundle without them");
  return refs;
}

function bundleError(expected: string, came: string): WorkspaceError {
  return new WorkspaceError("WORKSPACE_BUNDLE", `Expected ${expected} in the bundle of a workspace, got ${came}. Make it again.`);
}

async function repositoryAt(folder: string, signal: AbortSignal | undefined): Promise<GitProgram> {
  const root = await ifThere(realpath(folder));
  if (root === undefined) throw new WorkspaceError("WORKSPACE_IO", `Expected the folder "${visible(folder)}", but it is not there.`);
  const opened = await GitRepository.open(root, signal);
  const git = GitProgram.find(root);
  if (typeof opened === "string" || git === undefined) {
    throw new WorkspaceError(
      "WORKSPACE_GIT",
      `Expected git to make a bundle with, but ${typeof opened === "string" ? opened : "it is gone"}. Mend that.`,
    );
  }
  await git.disarm(signal);
  return git;
}

/** True where forks of the project are open: their folders are below `.troupe`, and in no bundle. */
export async function hasOpenForks(root: string): Promise<boolean> {
  const found = await ifThere(readdir(join(root, ".troupe", "trees")));
  return found !== undefined && found.length > 0;
}
