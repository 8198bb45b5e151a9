import { constants, existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { copyFile, lchown, lstat, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { throwIfAborted } from "../kernel/abort.ts";
import { ControlError, WorkspaceError } from "../kernel/errors.ts";
import { atExit } from "./process.ts";
import { ioError, removeAll, walkFiles } from "./folders.ts";
import { limitError } from "./workspace.ts";
import type { Refusal, SandboxResult } from "./sandbox.ts";
import { sweepFoldersOnce } from "./sweep.ts";
import { temporaryPrefix } from "./temporary-owner.ts";

const COPIED_FILES = 100_000;
const COPIED_BYTES = 512 * 1024 * 1024;
const TOGETHER = 32;

export interface ProjectCopy {
  readonly scratch: string;
  readonly project: string;
  readonly bytes: number;
  readonly entries: number;
  remove(): Promise<string | undefined>;
}

export interface CopyOptions {
  readonly owner?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Copies a project without `.git`, `.troupe` and links. Only the owner can enter the copy. */
export async function copyProject(root: string, options: CopyOptions = {}): Promise<ProjectCopy> {
  const { path: scratch, remove } = temporaryFolder("troupe-sandbox-");
  try {
    const project = join(scratch, "project");
    await mkdir(project);
    const { bytes, entries } = await copyInto(root, project, options);
    await own([scratch, project], options.owner);
    return { scratch, project, bytes, entries, remove };
  } catch (error) {
    await remove();
    throw ioError(error, "copy the project", root);
  }
}

export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<string | undefined>;
}

/** Makes a temporary folder, deleted at the latest when this process ends, or by a later one. @param prefix such as `troupe-git-` */
export function temporaryFolder(prefix: string): TemporaryFolder {
  try {
    const path = realpathSync(mkdtempSync(join(tmpdir(), temporaryPrefix(prefix))));
    const settle = atExit(() => removeNow(path));
    return { path, remove: () => removeAll(path).finally(settle) };
  } catch (error) {
    throw ioError(error, "make a temporary folder", tmpdir());
  }
}

/** Copies what a command has made to the place where it is kept. Does nothing where it made no such folder. */
export async function keepFolder(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  try {
    await mkdir(to);
    await copyInto(from, to);
  } catch (error) {
    throw ioError(error, "keep a folder of the sandbox", to);
  }
}

function removeNow(folder: string): void {
  try {
    // Programs that were killed this moment may still be writing.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    // The process ends: no caller can get the error, and the other functions must run.
  }
}

/** Works in a copy of a project and removes it. A project that is too large is refused. */
export async function inCopy(
  root: string,
  options: CopyOptions,
  work: (copy: ProjectCopy) => Promise<Exclude<SandboxResult, Refusal>>,
): Promise<SandboxResult> {
  let copy: ProjectCopy;
  await sweepFoldersOnce();
  try {
    copy = await copyProject(root, options);
  } catch (error) {
    if (error instanceof ControlError) return { kind: "aborted", stdout: "", stderr: "", isCut: false };
    if (!(error instanceof WorkspaceError) || error.code !== "WORKSPACE_LIMIT") throw error;
    return { kind: "refused", reason: error.message, hint: "Remove large files or installed packages from the project." };
  }
  const result = await work(copy).catch(async (error: unknown) => {
    await copy.remove();
    throw error;
  });
  const leftover = await copy.remove();
  return leftover !== undefined && "stderr" in result ? { ...result, stderr: result.stderr + leftover } : result;
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += TOGETHER) {
    const ended = await Promise.allSettled(items.slice(at, at + TOGETHER).map(work));
    const failed = ended.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

export async function own(paths: readonly string[], owner: number | undefined): Promise<void> {
  if (owner === undefined) return;
  await eachOf(paths, (path) => lchown(path, owner, owner));
}

/** Copies files and folders without `.git`, `.troupe` and links other than those of installed programs. */
export async function copyInto(
  root: string,
  project: string,
  { owner, signal }: CopyOptions = {},
): Promise<{ bytes: number; entries: number }> {
  const skip = (name: string): boolean => [".git", ".troupe"].includes(name.toLowerCase());
  const { files, folders } = await walkFiles(root, { skip, limit: COPIED_FILES, signal });
  for (const folder of folders) await mkdir(join(project, folder));
  let bytes = 0;
  await eachOf(files, async (file) => {
    throwIfAborted(signal);
    const { size } = await lstat(join(root, file));
    bytes += size;
    if (bytes > COPIED_BYTES) throw limitError(file, `a project of at most ${COPIED_BYTES} bytes`, "more");
    await copyOne(join(root, file), join(project, file), file);
  });
  const links = await copyProgramLinks(root, project, folders);
  await own(
    [...folders, ...files, ...links].map((path) => join(project, path)),
    owner,
  );
  return { bytes, entries: files.length + folders.length + links.length };
}

/** Packages are run through links in `node_modules/.bin`: those that lead into the same `node_modules` are copied. */
async function copyProgramLinks(root: string, project: string, folders: readonly string[]): Promise<string[]> {
  const made: string[] = [];
  for (const folder of folders) {
    // The folder that is copied may itself be the one of the packages.
    const place = `${basename(root)}/${folder}`;
    if (!place.endsWith("/node_modules/.bin") && place !== "node_modules/.bin") continue;
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      const target = entry.isSymbolicLink() ? await readlink(join(root, path)) : "/";
      if (isAbsolute(target) || !normalize(join(place, target)).startsWith(`${dirname(place)}/`)) continue;
      await symlink(target, join(project, path));
      made.push(path);
    }
  }
  return made;
}

async function copyOne(from: string, to: string, path: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  } catch (error) {
    throw ioError(error, `copy ${path} for a sandbox`, path);
  }
}
