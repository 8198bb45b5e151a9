import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
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

/** Whether a folder is there and holds something. A repository and this command's own records are nothing. */
export type IsTaken = (path: string) => Promise<boolean>;

/**
 * The folder a project goes to: the one the user named, else `workspace/<name>`, else the first free `workspace/<name>-2`, `-3` ...
 * Whether the user's own is fit is asked when it is opened.
 *
 * @throws WorkspaceError `WORKSPACE_CROWDED` when there is none left.
 */
export async function outFolder(o: {
  readonly cwd: string;
  readonly out: string | undefined;
  readonly name: string;
  readonly force: boolean;
  readonly isTaken: IsTaken;
}): Promise<string> {
  if (o.out !== undefined) return resolve(o.cwd, o.out);
  const first = join(o.cwd, SHELF, o.name);
  for (let n = 1; n <= MOST_SIBLINGS; n++) {
    const folder = n === 1 ? first : `${first}-${n}`;
    if (o.force || !(await o.isTaken(folder))) return folder;
  }
  throw new WorkspaceError(
    "WORKSPACE_CROWDED",
    `Expected a free folder beside "${shown(first)}", but ${MOST_SIBLINGS} are taken. Name one: --out <dir>.`,
  );
}

/** Looks at the disk: a folder that holds something is taken, and so is a name that a file has. */
export async function isFolderTaken(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).some((name) => name !== ".git" && name !== ".troupe");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What else is wrong with the place is told when it is opened, in the words of the workspace.
    return code === "ENOTDIR" && (await isFile(path));
  }
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

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
