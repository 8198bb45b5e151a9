import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { succeeds, systemCode } from "../kernel/system-error.ts";
import { shown } from "./screen/text.ts";

const SHELF = "workspace";
const MARK = ".troupe";
const MOST_SIBLINGS = 1_000;
const SLUG_LENGTH = 40;
const OPENING =
  /^(please|can|could|you|i|want|need|would|like|to|let|us|lets|create|make|build|write|develop|implement|design|generate|code|program|me|us|a|an|the|some|simple|small)-/;

export interface Claim {
  /** Absolute. */
  readonly path: string;
  /** Ends the claim: folders that it made and that stayed empty are removed. */
  release(): Promise<void>;
}

/** Claims a folder; undefined when it holds files or another run has claimed it. */
export type ClaimFolder = (path: string) => Promise<Claim | undefined>;

export interface OutFolderRequest {
  readonly cwd: string;
  readonly out: string | undefined;
  readonly name: string;
  readonly force: boolean;
  readonly claim?: ClaimFolder;
}

/**
 * Works in the folder of a project: the one the user named, else `workspace/<name>`, else the first free `workspace/<name>-2`, `-3` ... A
 * folder that the user did not name belongs to this run alone while the work lasts. A named one is checked when it is opened.
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
  const shelf = join(cwd, SHELF);
  const first = join(shelf, name);
  if (force) return unclaimed(first);
  const hadShelf = await succeeds(lstat(shelf));
  for (let n = 1; n <= MOST_SIBLINGS; n++) {
    const claimed = await claim(n === 1 ? first : `${first}-${n}`);
    if (claimed !== undefined) return hadShelf ? claimed : withFolder(claimed, shelf);
  }
  throw new WorkspaceError(
    "WORKSPACE_CROWDED",
    `Expected a free folder beside "${shown(first)}", but ${MOST_SIBLINGS} are taken. Name one: --out <dir>.`,
  );
}

function withFolder({ path, release }: Claim, above: string): Claim {
  return { path, release: () => release().then(() => removeEmpty([above])) };
}

function unclaimed(path: string): Claim {
  return { path, release: () => Promise.resolve() };
}

/**
 * Claims a folder that holds nothing, or nothing but a repository, by making `.troupe` in it, which only one process can. A missing folder
 * is moved to its place with the mark in it, so that nobody finds it without. Other faults of the place are reported when it is opened.
 */
export async function claimFolder(path: string): Promise<Claim | undefined> {
  const wasThere = await succeeds(lstat(path));
  if (!wasThere && !(await succeeds(mkdir(dirname(path), { recursive: true })))) return unclaimed(path);
  try {
    const isTaken = wasThere ? await isMarked(path) : await isMadeMarked(path);
    return isTaken ? { path, release: () => removeEmpty([join(path, MARK), ...(wasThere ? [] : [path])]) } : undefined;
  } catch (error) {
    return isQuicker(error) ? undefined : unclaimed(path);
  }
}

async function isMarked(folder: string): Promise<boolean> {
  if ((await readdir(folder)).some((name) => name !== ".git")) return false;
  await mkdir(join(folder, MARK));
  return true;
}

/** Makes the folder under another name, marks it, and moves it to its place, which fails where another process has made one. */
async function isMadeMarked(folder: string): Promise<boolean> {
  const draft = `${folder}${MARK}-${randomUUID()}`;
  try {
    await mkdir(join(draft, MARK), { recursive: true });
    await rename(draft, folder);
    return true;
  } finally {
    await removeEmpty([join(draft, MARK), draft]);
  }
}

/** True when another process has claimed the folder, given it back, or put a file there in between. */
function isQuicker(error: unknown): boolean {
  return ["EEXIST", "ENOTEMPTY", "ENOENT", "ENOTDIR"].includes(systemCode(error));
}

async function removeEmpty(folders: readonly string[]): Promise<void> {
  // A folder that is gone or holds files by now stays as it is.
  for (const folder of folders) await rmdir(folder).catch(() => {});
}

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
