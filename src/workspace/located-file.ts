import type { Stats } from "node:fs";
import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { isMissing, systemCode } from "./io-error.ts";
import { pathError } from "./path-rules.ts";

/** Where a path in normal form is on disk. */
export interface LocatedFile {
  /** Absolute; every folder on the way is a real folder below the root. */
  readonly file: string;
  readonly folder: string;
  /** What is there now; a plain file, or undefined. */
  readonly stats: Stats | undefined;
}

/**
 * Finds a file below a real root, folder by folder, and follows no link.
 *
 * @param root as `realpath` gives it
 * @param path in normal form
 * @param make whether folders on the way are made
 * @returns undefined when a folder on the way is missing and may not be made
 * @throws WorkspaceError `WORKSPACE_PATH` when a link, or a file in place of a folder, is on the way, or something else than a file is there.
 */
export async function locate(root: string, path: string, make: boolean): Promise<LocatedFile | undefined> {
  const segments = path.split("/");
  const name = segments.pop() ?? "";
  let folder = root;
  for (const segment of segments) {
    folder = join(folder, segment);
    const found = await statsOf(folder);
    if (found === undefined) {
      if (!make) return undefined;
      await makeFolder(folder, path);
    } else {
      checkFolder(found, segment, path);
    }
  }
  const file = join(folder, name);
  const stats = await statsOf(file);
  if (stats?.isSymbolicLink() === true) throw pathError(path, "is a symbolic link");
  if (stats?.isDirectory() === true) throw pathError(path, "names a folder that is there already");
  if (stats !== undefined && !stats.isFile()) throw pathError(path, "is a device, a pipe or a socket");
  return { file, folder, stats };
}

/**
 * Looks again, right before a rename, whether the folder still is where it was: a link put in its place in the meantime is refused.
 *
 * @throws WorkspaceError `WORKSPACE_PATH`
 */
export async function checkStillInside(root: string, folder: string, path: string): Promise<void> {
  if (!isInside(root, await realpath(folder))) throw pathError(path, "leads outside the project through a link");
}

/**
 * Makes a folder and those above it. Unlike `mkdir` with `recursive`, it ends where the system answers ENOENT for ever, as below /proc.
 *
 * @param path absolute
 */
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
  for (const folder of missing.reverse()) {
    await mkdir(folder).catch((error: unknown) => {
      if (systemCode(error) !== "EEXIST") throw error;
    });
  }
}

/** Whether an absolute path is the root or below it. */
function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** What is at a path, links not followed; undefined when nothing is. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function makeFolder(folder: string, path: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const found = systemCode(error) === "EEXIST" ? await statsOf(folder) : undefined;
    if (found === undefined) throw error;
    checkFolder(found, folder, path);
  }
}

function checkFolder(found: Stats, segment: string, path: string): void {
  if (found.isSymbolicLink()) throw pathError(path, `goes through ${segment}, which is a symbolic link`);
  if (!found.isDirectory()) throw pathError(path, `goes through ${segment}, which is a file`);
}
