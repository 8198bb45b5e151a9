import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { shown } from "./screen/text.ts";

/** Where projects go when nobody says where. */
const SHELF = "workspace";
/** What a run makes in the folder it takes. */
const MARK = ".troupe";
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
  const shelf = join(cwd, SHELF);
  const first = join(shelf, name);
  if (force) return unclaimed(first);
  const hadShelf = await isThere(shelf);
  for (let n = 1; n <= MOST_SIBLINGS; n++) {
    const claimed = await claim(n === 1 ? first : `${first}-${n}`);
    if (claimed !== undefined) return hadShelf ? claimed : withFolder(claimed, shelf);
  }
  throw new WorkspaceError(
    "WORKSPACE_CROWDED",
    `Expected a free folder beside "${shown(first)}", but ${MOST_SIBLINGS} are taken. Name one: --out <dir>.`,
  );
}

/** A claim for which the folder above was made too. */
function withFolder({ path, release }: Claim, above: string): Claim {
  return { path, release: () => release().then(() => removeEmpty([above])) };
}

function unclaimed(path: string): Claim {
  return { path, release: () => Promise.resolve() };
}

/**
 * Claims a folder that holds nothing, or nothing but a repository, by making `.troupe` in it, which only one of many can. One that is not
 * there comes into being with its mark in it, so that nobody finds it without. What is wrong with the place otherwise is told when it is
 * opened, in the words of the workspace.
 */
export async function claimFolder(path: string): Promise<Claim | undefined> {
  const wasThere = await isThere(path);
  if (!wasThere && !(await isMade(dirname(path)))) return unclaimed(path);
  try {
    const isTaken = wasThere ? await isMarked(path) : await isMadeMarked(path);
    return isTaken ? { path, release: () => removeEmpty([join(path, MARK), ...(wasThere ? [] : [path])]) } : undefined;
  } catch (error) {
    return isQuicker(error) ? undefined : unclaimed(path);
  }
}

async function isMade(folder: string): Promise<boolean> {
  return mkdir(folder, { recursive: true }).then(
    () => true,
    () => false,
  );
}

/** @returns whether the mark could be made in a folder that is there. */
async function isMarked(folder: string): Promise<boolean> {
  if ((await readdir(folder)).some((name) => name !== ".git")) return false;
  await mkdir(join(folder, MARK));
  return true;
}

/** Makes the folder under another name, marks it, and moves it to its place, which fails where somebody else's has come in between. */
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

/** Whether somebody else came in between, to take the folder or to give it back, or has put a file there. */
function isQuicker(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["EEXIST", "ENOTEMPTY", "ENOENT", "ENOTDIR"].includes(String(error.code));
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
