// Keeps one list in one JSON file.
//
// - A reader sees the old list or the new one, never half a file: the new list is
//   written to a temporary file and renamed over it.
// - Two commands at the same time do not lose each other's change: a lock file is
//   held from reading to renaming.
// - A file that is not a list is never overwritten.

import { open, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { emptyList, isList } from "./list.mjs";

/** How long a command waits for another one that is writing, in milliseconds. */
const LOCK_WAIT_MS = 5000;
const LOCK_RETRY_MS = 20;

/** The file cannot be read or written. The message is for the user. */
export class StoreError extends Error {
  name = "StoreError";
}

/** The list in the file at `path`. A file that does not exist is an empty list. */
export function createStore(path, { lockWaitMs = LOCK_WAIT_MS } = {}) {
  return {
    path,
    read: () => readList(path),

    /** Replaces the list by `change(list).list` and gives back what `change` returned. */
    async update(change) {
      const target = await resolveLink(path);
      return withLock(target, lockWaitMs, async () => {
        const result = change(await readList(target));
        await writeList(target, result.list);
        return result;
      });
    },
  };
}

async function readList(path) {
  let text;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return emptyList();
    throw new StoreError(`Cannot read ${path}: ${reasonOf(error)}.`, { cause: error });
  }
  const list = parse(text);
  if (!isList(list)) {
    throw new StoreError(
      `${path} is not a to-do list. It was left as it is; mend it, move it away or choose another with --file.`,
    );
  }
  return list;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function writeList(path, list) {
  const draft = join(tmpdir(), `todo-${process.pid}.tmp`);
  try {
    await writeFile(draft, `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw new StoreError(`Cannot write ${path}: ${reasonOf(error)}.`, { cause: error });
  }
}

/** Runs `work` while no other command changes the file. */
async function withLock(path, waitMs, work) {
  const lock = `${path}.lock`;
  const deadline = Date.now() + waitMs;
  while (!(await tryLock(lock, path))) {
    if (Date.now() >= deadline) {
      throw new StoreError(`Another command is writing to ${path}. If none is running, delete ${lock}.`);
    }
    await sleep(LOCK_RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Takes the lock by creating its file, which only one process can do. */
async function tryLock(lock, path) {
  try {
    const file = await open(lock, "wx", 0o600);
    await file.close();
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw new StoreError(`Cannot write ${path}: ${reasonOf(error)}.`, { cause: error });
  }
}

/** The file a link points to, so that the link itself is not replaced. */
async function resolveLink(path) {
  try {
    return await realpath(path);
  } catch (error) {
    if (error.code === "ENOENT") return path;
    throw new StoreError(`Cannot read ${path}: ${reasonOf(error)}.`, { cause: error });
  }
}

const REASONS = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EISDIR: "it is a folder",
  ENOTDIR: "part of the path is a file and not a folder",
};

function reasonOf(error) {
  if (error.code === "ENOENT") return `the folder ${dirname(error.path ?? ".")} does not exist`;
  return REASONS[error.code] ?? error.message;
}
