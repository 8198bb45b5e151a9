import { mkdir, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { shown } from "./screen/text.ts";

const MAX_SIBLINGS = 1_000;
const SLUG_LENGTH = 40;
const OPENING =
  /^(please|can|could|you|i|want|need|would|like|to|let|us|lets|create|make|build|write|develop|implement|design|generate|code|program|me|us|a|an|the|some|simple|small)-/;

export interface OutFolderRequest {
  readonly cwd: string;
  readonly out: string | undefined;
  readonly name: string;
  readonly force: boolean;
}

/**
 * Works in the folder of a project: the one the user named, else `workspace/<name>`, else the first new `workspace/<name>-2`, `-3` ... A
 * folder that the user did not name is made here, which only one process can; it is removed if it stays empty.
 */
export async function inOutFolder<T>({ cwd, out, name, force }: OutFolderRequest, work: (folder: string) => Promise<T>): Promise<T> {
  if (out !== undefined) return work(resolve(cwd, out));
  const shelf = join(cwd, "workspace");
  if (force) return work(join(shelf, name));
  // Other errors than a taken name are reported when the folder is opened.
  const made = await mkdir(shelf, { recursive: true }).catch(() => undefined);
  const folder = await newFolder(join(shelf, name));
  try {
    return await work(folder);
  } finally {
    for (const empty of [folder, ...(made === undefined ? [] : [shelf])]) await rmdir(empty).catch(() => {});
  }
}

async function newFolder(first: string): Promise<string> {
  for (let n = 1; n <= MAX_SIBLINGS; n++) {
    const folder = n === 1 ? first : `${first}-${n}`;
    const error = await mkdir(folder).then(() => undefined, systemCode);
    if (error !== "EEXIST") return folder;
  }
  const expected = `Expected a free folder beside "${shown(first)}", but ${MAX_SIBLINGS} are taken`;
  throw new WorkspaceError("WORKSPACE_CROWDED", `${expected}. Name one: --out <dir>.`);
}

export function slugOf(idea: string): string {
  const plain = idea
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  let words = plain;
  while (OPENING.test(words)) words = words.replace(OPENING, "");
  if (words.length <= SLUG_LENGTH) return words === "" ? "project" : words;
  const cut = words.slice(0, SLUG_LENGTH + 1);
  const atWord = cut.slice(0, Math.max(cut.lastIndexOf("-"), 0));
  return atWord === "" ? words.slice(0, SLUG_LENGTH) : atWord;
}
