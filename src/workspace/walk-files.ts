import { isMissing } from "../kernel/system-error.ts";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { throwIfAborted } from "../kernel/abort.ts";
import { ioError } from "./io-error.ts";
import { TEMPORARY_SUFFIX } from "./path-rules.ts";
import { limitError } from "./quota.ts";

/** What a walk leaves out and where it ends. */
export interface WalkOptions {
  /** Whether a file or folder of this name is left out. */
  readonly skip: (name: string) => boolean;
  /** How many files and folders may be met. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a walk found; paths relative to its start, joined by `/`, sorted by code unit. */
export interface WalkedFiles {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/**
 * All plain files and folders below a folder. Links, devices and files still being written are left out; a folder that is not there is empty.
 *
 * @throws WorkspaceError `WORKSPACE_LIMIT` when there are more than `limit`; `WORKSPACE_IO` and its kin.
 * @throws ControlError when the signal aborts.
 */
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
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw ioError(error, "read a folder of the project", folder);
  }
}
