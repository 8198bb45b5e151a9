import { realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import { type HeldFile, holdFile } from "./held-folder.ts";

/** The folder of this package in a project: never listed, never copied into a sandbox, never in git. */
const OWN = ".troupe";
/** Keeps everything in the folder out of git, itself too. */
const IGNORE = ".gitignore";
/** Stands for a file, so that its folder is made. */
const PLACE = "place";

/**
 * Makes a folder below `.troupe` of a project, and keeps git from seeing it.
 *
 * @param root as `realpath` gives it
 * @param path below `.troupe`, such as `trees`
 * @returns its absolute path
 */
export async function makeOwnFolder(root: string, path: string): Promise<string> {
  await withHeld(root, `${OWN}/${path}/${PLACE}`, true, async () => {});
  await withHeld(root, `${OWN}/${IGNORE}`, true, async (file) => {
    if ((await file.stats()) === undefined) await file.replace(Buffer.from("*\n"));
  });
  return join(root, OWN, path);
}

/**
 * Removes a folder below `.troupe` with all that it holds. Where a link leads there from the project, nothing is removed.
 *
 * @param root as `realpath` gives it
 */
export async function removeOwnFolder(root: string, path: string): Promise<void> {
  const folder = join(root, OWN, path);
  const above = dirname(folder);
  if ((await ifThere(realpath(above))) === above) await rm(folder, { recursive: true, force: true });
}

/** Does some work with a file that is held. Undefined when a folder on the way is missing and may not be made. */
export async function withHeld<T>(root: string, path: string, make: boolean, work: (file: HeldFile) => Promise<T>): Promise<T | undefined> {
  const file = await holdFile(root, path, make);
  if (file === undefined) return undefined;
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
