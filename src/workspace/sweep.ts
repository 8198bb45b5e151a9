import { constants, type Dirent, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, rmdir, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stateOfProcess } from "../adapters/process-identity.ts";
import { succeeds } from "../kernel/system-error.ts";
import { holdFile } from "./held-folder.ts";
import { isHidden } from "./path-rules.ts";
import { removeAll } from "./folders.ts";
import { NOBODY, ownerOfFile, ownerOfFolder } from "./temporary-owner.ts";

const MAX_ENTRIES = 20_000;

export interface Swept {
  readonly removed: number;
  readonly left: number;
}

/** Removes the files that killed processes left half written. A name must be one that this package makes. Never throws. */
export async function sweepProject(root: string): Promise<Swept> {
  let [removed, left, seen] = [0, 0, 0];
  const ahead = [""];
  for (let folder = ahead.pop(); folder !== undefined && seen < MAX_ENTRIES; folder = ahead.pop()) {
    for (const entry of await entriesOf(join(root, folder))) {
      seen += 1;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !isHidden(entry.name)) ahead.push(path);
      const owner = entry.isFile() ? ownerOfFile(entry.name) : undefined;
      if (owner === undefined || stateOfProcess(owner) === "running") continue;
      if (stateOfProcess(owner) === "gone" && (await succeeds(removeFile(root, path)))) removed += 1;
      else left += 1;
    }
  }
  return { removed, left };
}

/** Removes the temporary folders that killed processes left. Never throws. */
export async function sweepFolders(parent: string = tmpdir()): Promise<Swept> {
  let [removed, left] = [0, 0];
  for (const entry of await entriesOf(parent)) {
    const owner = entry.isDirectory() ? ownerOfFolder(entry.name) : undefined;
    if (owner === undefined || stateOfProcess(owner) === "running") continue;
    if (stateOfProcess(owner) === "gone" && (await succeeds(removeFolder(join(parent, entry.name))))) removed += 1;
    else left += 1;
  }
  return { removed, left };
}

let sweptFolders: Promise<Swept> | undefined;

/** {@link sweepFolders} of the system's temporary folder, once in the life of this process. */
export function sweepFoldersOnce(): Promise<Swept> {
  sweptFolders ??= sweepFolders();
  return sweptFolders;
}

async function removeFile(root: string, path: string): Promise<void> {
  const file = await holdFile(root, path, false);
  try {
    await file?.unlink();
  } finally {
    await file?.close();
  }
}

/** Only what this user owns: in a folder that all may write in, others can make folders of any name. */
async function removeFolder(path: string): Promise<void> {
  const stats = await lstat(path);
  if (!isOurs(stats)) throw new Error("another user's");
  if (process.platform === "linux" && process.getuid?.() === 0) return removeTree(path);
  const trouble = await removeAll(path);
  if (trouble !== undefined) throw new Error(trouble);
}

function isOurs({ uid }: Stats): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own || (own === 0 && uid === NOBODY);
}

/** Removes a tree through open folders: the owner of a part of it could replace a folder by a link while root empties it. */
async function removeTree(door: string): Promise<void> {
  const folder: FileHandle = await open(door, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const inside = `/proc/self/fd/${folder.fd}`;
    for (const entry of await readdir(inside, { withFileTypes: true })) {
      const path = `${inside}/${entry.name}`;
      await (entry.isDirectory() ? removeTree(path) : unlink(path));
    }
  } finally {
    await folder.close();
  }
  await rmdir(door);
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
