import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import { ioError, walkFiles } from "../workspace/folders.ts";
import { isHidden } from "../workspace/path-rules.ts";
import { LISTED_FILES } from "../workspace/workspace.ts";

/** Bytes of a file of a project that is read. */
const MOST = 500_000;

/** The files of a project but hidden ones, by their paths. @throws WorkspaceError */
export async function filesIn(root: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  return (await walkFiles(root, { skip: isHidden, limit: LISTED_FILES, signal })).files;
}

/** The text of a file of a project; undefined where there is none, or a larger one. @throws WorkspaceError */
export async function textIn(root: string, file: string, most: number = MOST): Promise<string | undefined> {
  const path = join(root, file);
  try {
    const stats = await ifThere(stat(path));
    return stats?.isFile() === true && stats.size <= most ? await readFile(path, "utf8") : undefined;
  } catch (error) {
    throw ioError(error, `read ${file}`, file);
  }
}
