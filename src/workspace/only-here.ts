import { createHash } from "node:crypto";
import { lstat, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import { walkFiles } from "./folders.ts";
import { GitProgram } from "./git-program.ts";
import { LISTED_FILES } from "./workspace.ts";

const COMPARED_BYTES = 64 * 1024 * 1024;
/** Not compared: packages are installed again, and the repository is compared by its commits. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * Returns a path or a commit that a folder of a project has and another folder of it has neither among its files nor in its history; undefined when
 * there is none. Links, the index of git and packages in `node_modules` do not count.
 */
export async function onlyHere(folder: string, other: string, signal?: AbortSignal): Promise<string | undefined> {
  const { files, folders } = await walkFiles(folder, { skip: (name) => SKIPPED.has(name), limit: LISTED_FILES, signal });
  for (const path of folders) if ((await ifThere(lstat(join(folder, path, ".git"))))?.isDirectory() === true) return path;
  const wanted = new Map<string, string>();
  for (const path of files) {
    const id = await blobAt(join(folder, path));
    if (id === undefined) return path;
    if (id !== (await blobAt(join(other, path)))) wanted.set(id, path);
  }
  for (const commit of await commitsAt(folder, signal)) wanted.set(commit, commit);
  const missing = await missingIn(other, [...wanted.keys()], signal);
  return missing === undefined ? undefined : wanted.get(missing);
}

/** The id that git has for the content of a file; undefined where there is none to compare. */
async function blobAt(path: string): Promise<string | undefined> {
  const found = await ifThere(lstat(path));
  if (found?.isFile() !== true || found.size > COMPARED_BYTES) return undefined;
  const bytes = await readFile(path);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

async function commitsAt(folder: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const git = await repositoryAt(folder);
  if (git === undefined) return [];
  const refs = await git.run(["for-each-ref", "--format=%(objectname) %(refname)"], { signal });
  // The refs of this package name present files, which are compared as files.
  const own = refs.split("\n").filter((line) => line !== "" && !line.includes(" refs/troupe/"));
  const head = await git.idOf("HEAD^{commit}", signal);
  return [...own.map((line) => line.slice(0, line.indexOf(" "))), ...(head === undefined ? [] : [head])];
}

async function missingIn(folder: string, ids: readonly string[], signal: AbortSignal | undefined): Promise<string | undefined> {
  const git = ids.length === 0 ? undefined : await repositoryAt(folder);
  if (git === undefined) return ids[0];
  const reported = await git.run(["cat-file", "--batch-check=%(objectname)"], { signal, stdin: ids.map((id) => `${id}\n`).join("") });
  const lines = reported.split("\n");
  return ids.find((id, at) => lines[at] !== id);
}

async function repositoryAt(folder: string): Promise<GitProgram | undefined> {
  const root = await ifThere(realpath(folder));
  const isRepository = root !== undefined && (await ifThere(lstat(join(root, ".git"))))?.isDirectory() === true;
  return isRepository ? GitProgram.find(root) : undefined;
}
