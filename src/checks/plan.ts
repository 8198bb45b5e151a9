import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { TroupeError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import { ioError } from "../workspace/folders.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import type { Fault } from "./verification.ts";

/** Most faults of one plan. */
const MOST_FAULTS = 50;
/** Files that are empty in good projects. */
const MAY_BE_EMPTY = /(^|\/)(__init__\.py|conftest\.py|py\.typed|\.gitkeep|\.nojekyll)$/;

/**
 * Returns a fault for each planned path that is missing, no file, or empty.
 *
 * @param planned paths relative to the root
 * @throws WorkspaceError when the project cannot be read.
 */
export async function planFaults(root: string, planned: readonly string[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const path of new Set(planned)) {
    const message = await faultOf(root, path);
    if (message !== undefined && faults.length < MOST_FAULTS) faults.push({ kind: "plan", file: visible(path, 400), message });
  }
  return faults;
}

async function faultOf(root: string, path: string): Promise<string | undefined> {
  try {
    const stats = await ifThere(lstat(join(root, checkPath(path))));
    if (stats === undefined) return "It is planned, and is not there.";
    if (!stats.isFile()) return "It is planned as a file, and is none.";
    return stats.size === 0 && !MAY_BE_EMPTY.test(path) ? "It is planned, and is empty." : undefined;
  } catch (error) {
    if (TroupeError.isInstance(error)) return "Its path is not one of a file inside the project.";
    throw ioError(error, `read ${path}`, path);
  }
}
