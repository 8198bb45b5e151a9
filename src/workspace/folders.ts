import { ifThere, succeeds, systemCode } from "../kernel/system-error.ts";
import type { Stats, Dirent } from "node:fs";
import { lstat, mkdir, stat, chmod, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TroupeError, WorkspaceError } from "../kernel/errors.ts";
import { visible, TEMPORARY_SUFFIX } from "./path-rules.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { limitError } from "./workspace.ts";

/** Unlike `mkdir` with `recursive`, it ends where the system answers ENOENT for ever, as below /proc. */
export async function makeFolders(path: string): Promise<void> {
  const missing: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    const isThere = await stat(folder).then(
      () => true,
      (error: unknown) => {
        if (systemCode(error) === "ENOENT") return false;
        throw error;
      },
    );
    if (isThere || folder === dirname(folder)) break;
    missing.push(folder);
  }
  for (const folder of missing.reverse()) await makeFolder(folder);
}

export async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: unknown) => {
    if (systemCode(error) !== "EEXIST") throw error;
  });
}

/** The entry at a path, links not followed, if any. */
export function statsOf(path: string): Promise<Stats | undefined> {
  return ifThere(lstat(path));
}

/** A failed file operation as a typed error; one that is typed already stays as it is. @param doing such as "write src/app.js" */
export function ioError(error: unknown, doing: string, path: string): TroupeError {
  if (TroupeError.isInstance(error)) return error;
  const code = systemCode(error);
  const shown = visible(path);
  const what = `Expected to ${visible(doing)}, got ${code === "" ? "an unknown failure" : code}`;
  const detail = { cause: error, data: { path: shown, system: code } };
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new WorkspaceError(
        "WORKSPACE_FULL",
        `${what}: there is no space left. Free some, then resume; what was written is kept.`,
        detail,
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
    // A folder that takes no new file answers ENOENT on some file systems, /proc for one; so does one that was removed meanwhile.
    case "ENOENT":
      return new WorkspaceError("WORKSPACE_UNWRITABLE", `${what}: "${shown}" cannot be changed. Choose a folder you may write to.`, detail);
    case "ENOTDIR":
    case "EEXIST":
      return new WorkspaceError(
        "WORKSPACE_NOT_A_FOLDER",
        `${what}: there is a file where a folder is needed, at or above "${shown}". Choose another folder, or move the file away.`,
        detail,
      );
    default:
      return new WorkspaceError("WORKSPACE_IO", `${what} at "${shown}". Check the disk and the folder, then resume.`, detail);
  }
}

/** Deletes a folder, also from under folders that a program has locked. Returns a line to show when that failed. */
export async function removeAll(scratch: string): Promise<string | undefined> {
  if (await succeeds(rm(scratch, { recursive: true, force: true }))) return undefined;
  try {
    // A program may have taken the right to enter a folder away; its owner can take it back.
    await unlock(scratch);
    await rm(scratch, { recursive: true, force: true });
    return undefined;
  } catch (error) {
    return `[the copy of the project at ${scratch} could not be removed: ${systemCode(error)}]\n`;
  }
}

async function unlock(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlock(join(folder, entry.name));
  }
}

export interface WalkOptions {
  /** True when a file or folder of this name is left out. */
  readonly skip: (name: string) => boolean;
  /** Limit on the files and folders to visit. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** The result of a walk; paths relative to its start, joined by `/`, sorted by code unit. */
export interface WalkedFiles {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** All plain files and folders below a folder, without links, devices and files still being written. */
export async function walkFiles(start: string, options: WalkOptions): Promise<WalkedFiles> {
  const files: string[] = [];
  const folders: string[] = [];
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    throwIfAborted(options.signal);
    for (const entry of await entriesOf(join(start, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (options.skip(entry.name) || entry.name.endsWith(TEMPORARY_SUFFIX)) continue;
      if (entry.isDirectory()) {
        folders.push(path);
        open.push(path);
      } else if (entry.isFile()) {
        files.push(path);
      }
      if (files.length + folders.length > options.limit) throw limitError(path, `at most ${options.limit} files and folders`, "more");
    }
  }
  return { files: files.sort(), folders: folders.sort() };
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return (await ifThere(readdir(folder, { withFileTypes: true }))) ?? [];
  } catch (error) {
    throw ioError(error, "read a folder of the project", folder);
  }
}
