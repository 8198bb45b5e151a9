import { lstat, mkdir, readdir, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { shown } from "./screen/text.ts";

/** Where projects go when nobody says where. */
const SHELF = "workspace";
/** The most projects of one name that are looked past. */
const MOST_SIBLINGS = 1_000;
/** Longest folder name made of an idea. */
const SLUG_LENGTH = 40;
/** How ideas begin without telling one from another. */
const OPENING =
  /^(please|can|could|you|i|want|need|would|like|to|let|us|lets|create|make|build|write|develop|implement|design|generate|code|program|me|us|a|an|the|some|simple|small)-/;

/** A folder that this run has for itself. */
export interface Claim {
  /** Absolute. */
  readonly path: string;
  /** Gives it back: what the claim made and nobody filled is gone afterwards. */
  release(): Promise<void>;
}

/** Takes a folder, unless it holds something or somebody else has taken it. */
export type ClaimFolder = (path: string) => Promise<Claim | undefined>;

/** Where a project shall go. */
export interface OutFolderRequest {
  readonly cwd: string;
  readonly out: string | undefined;
  readonly name: string;
  readonly force: boolean;
  /** Default {@link claimFolder}. */
  readonly claim?: ClaimFolder;
}

/**
 * Works in the folder a project goes to: the one the user named, else `workspace/<name>`, else the first free `workspace/<name>-2`, `-3`
 * ... A folder nobody named belongs to this run alone while the work lasts. Whether the user's own is fit is asked when it is opened.
 *
 * @throws WorkspaceError `WORKSPACE_CROWDED` when there is none left.
 */
export async function inOutFolder<T>(request: OutFolderRequest, work: (folder: string) => Promise<T>): Promise<T> {
  const { path, release } = await outFolder(request);
  try {
    return await work(path);
  } finally {
    await release();
  }
}

async function outFolder({ cwd, out, name, force, claim = claimFolder }: OutFolderRequest): Promise<Claim> {
  if (out !== undefined) return unclaimed(resolve(cwd, out));
  const first = join(cwd, SHELF, name);
  if (force) return unclaimed(first);
  for (let n = 1; n <= MOST_SIBLINGS; n++) {
    const claimed = await claim(n === 1 ? first : `${first}-${n}`);
    if (claimed !== undefined) return claimed;
  }
  throw new WorkspaceError(
    "WORKSPACE_CROWDED",
    `Expected a free folder beside "${shown(first)}", but ${MOST_SIBLINGS} are taken. Name one: --out <dir>.`,
  );
}

function unclaimed(path: string): Claim {
  return { path, release: () => Promise.resolve() };
}

/**
 * Claims a folder by making `.troupe` in it, which only one of many can. A folder that holds anything but a repository is taken, and so
 * is a name that something else has. What is wrong with the place otherwise is told when it is opened, in the words of the workspace.
 */
export async function claimFolder(path: string): Promise<Claim | undefined> {
  let made: readonly string[];
  try {
    const top = await mkdir(path, { recursive: true });
    made = top === undefined ? [] : foldersUpTo(top, path);
  } catch {
    return (await isThere(path)) ? undefined : unclaimed(path);
  }
  const mark = join(path, ".troupe");
  try {
    if ((await readdir(path)).some((name) => name !== ".git")) return undefined;
    await mkdir(mark);
    return { path, release: () => removeEmpty([mark, ...made]) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Somebody else was quicker, to take it or to give it back.
    return code === "EEXIST" || code === "ENOENT" ? undefined : unclaimed(path);
  }
}

/** A folder and those above it, up to the highest. */
function foldersUpTo(top: string, folder: string): readonly string[] {
  return folder === top || folder === dirname(folder) ? [folder] : [folder, ...foldersUpTo(top, dirname(folder))];
}

async function removeEmpty(folders: readonly string[]): Promise<void> {
  // What holds something by now, or is gone, is as it should be.
  for (const folder of folders) await rmdir(folder).catch(() => {});
}

/** A folder name for an idea: its first telling words, in small letters. */
export function slugOf(idea: string): string {
  const plain = idea
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  let telling = plain;
  while (OPENING.test(telling)) telling = telling.replace(OPENING, "");
  if (telling.length <= SLUG_LENGTH) return telling === "" ? "project" : telling;
  const cut = telling.slice(0, SLUG_LENGTH + 1);
  const atWord = cut.slice(0, Math.max(cut.lastIndexOf("-"), 0));
  return atWord === "" ? telling.slice(0, SLUG_LENGTH) : atWord;
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
