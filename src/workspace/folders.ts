import { isMissing, systemCode } from "../kernel/system-error.ts";
import type { Stats } from "node:fs";
import { lstat, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

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

/** What is at a path, links not followed; undefined when nothing is. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
