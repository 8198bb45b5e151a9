import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { throwIfAborted } from "../kernel/abort.ts";
import { ifThere } from "../kernel/system-error.ts";
import { isOnDisk } from "./file-workspace.ts";
import { GitProgram } from "./git-program.ts";
import { checkPath, isNormalPath } from "./path-rules.ts";
import type { Workspace } from "./workspace.ts";

interface SurveyOptions {
  /** A folder. Default: the project. */
  readonly under?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface FileSurvey {
  readonly paths: readonly string[];
  /** False when there are more than were asked for: then these are the first. */
  readonly isWhole: boolean;
}

const MOST = 100_000;
const TOGETHER = 64;

/** The files that a reader looks at: those that git tracks or would take, else all. A folder that git ignores is shown when it is named itself. */
export async function surveyFiles(workspace: Workspace, options: SurveyOptions = {}): Promise<FileSurvey> {
  const { signal } = options;
  const under = options.under === undefined ? undefined : checkPath(options.under);
  const known = isOnDisk(workspace) ? await knownToGit(workspace.root, under, signal) : undefined;
  const paths = known === undefined || (known.length === 0 && under !== undefined) ? await workspace.list(under) : known;
  return { paths: paths.slice(0, MOST), isWhole: paths.length <= MOST };
}

async function knownToGit(folder: string, under: string | undefined, signal: AbortSignal | undefined): Promise<string[] | undefined> {
  const root = await ifThere(realpath(folder));
  const entry = root === undefined ? undefined : await ifThere(lstat(join(root, ".git")));
  if (root === undefined || entry === undefined || entry.isSymbolicLink()) return undefined;
  const git = GitProgram.find(root);
  if (git === undefined) return undefined;
  const ls = async (...args: readonly string[]): Promise<string[] | undefined> => {
    const place = under === undefined ? [] : ["--", `:(literal)${under}`];
    const found = await git.call(["ls-files", "-z", ...args, ...place], { signal });
    throwIfAborted(signal);
    if (found.kind !== "exited" || found.code !== 0 || found.isCut) return undefined;
    return found.stdout.split("\0").filter((path) => path !== "");
  };
  const [staged, deleted, others] = [await ls("--stage"), await ls("--deleted"), await ls("--others", "--exclude-standard")];
  if (staged === undefined || deleted === undefined || others === undefined) return undefined;
  // A mode that begins with 100 is a plain file; the path follows a tab.
  const tracked = staged.flatMap((line) => (line.startsWith("100") ? [line.slice(line.indexOf("\t") + 1)] : []));
  const gone = new Set(deleted);
  const all = new Set([...tracked.filter((path) => !gone.has(path)), ...(await plainFiles(root, others))]);
  return [...all].filter(isNormalPath).sort();
}

async function plainFiles(root: string, paths: readonly string[]): Promise<string[]> {
  const plain: string[] = [];
  for (let at = 0; at < paths.length; at += TOGETHER) {
    const some = paths.slice(at, at + TOGETHER);
    const stats = await Promise.all(some.map((path) => ifThere(lstat(join(root, path)))));
    plain.push(...some.filter((_, n) => stats[n]?.isFile() === true));
  }
  return plain;
}
