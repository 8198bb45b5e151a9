import { systemCode } from "../kernel/system-error.ts";
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Deletes a folder with all it holds, also from under folders that a program has locked.
 *
 * @returns a line to show when that failed
 */
export async function removeAll(scratch: string): Promise<string | undefined> {
  try {
    await rm(scratch, { recursive: true, force: true });
    return undefined;
  } catch {
    return removeStubborn(scratch);
  }
}

/** A program may have taken the right to enter a folder away; its owner can take it back. */
async function removeStubborn(scratch: string): Promise<string | undefined> {
  try {
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
