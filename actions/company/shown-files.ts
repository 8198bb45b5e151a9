import type { RoleContext } from "../../src/index.ts";
import { TroupeError } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { fileInPrompt } from "../project-files.ts";

/** Files of a project as a worker is shown them before its first step. */
export interface ShownFiles {
  /** The files, and the names of those that are left out; empty where there is none. */
  readonly text: string;
  /** The whole text of each file that is shown, by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** Bytes of the files that are shown at once: some 8,000 tokens. */
const SHOWN_BYTES = 30_000;
/** Files that are read for one prompt; of others only the names are told. */
const MOST_READ = 60;
/** Names of files that are left out. */
const MOST_NAMED = 100;

interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  /** Null for a file that does not fit, or is no text. */
  readonly text: string | null;
}

/**
 * Reads files of the project for a prompt, as a step: whole ones while they fit, in the order of the paths, and the names of the others.
 *
 * @param rank of a file where not all fit: those with the lowest are chosen first
 */
export async function shownFiles(
  rc: Pick<RoleContext, "step">,
  workspace: Workspace,
  paths: readonly string[],
  rank: (path: string) => number,
): Promise<ShownFiles> {
  const chosen = paths.toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST_READ);
  if (chosen.length === 0) return { text: "", files: new Map() };
  const found = await rc.step("read project", { paths: chosen }, () => readEach(workspace, chosen), { fresh: true });
  const files = new Map(found.flatMap(({ path, text }) => (text === null ? [] : [[path, text] as const])));
  const sizes = new Map(found.map(({ path, bytes }) => [path, bytes]));
  const shown = paths.flatMap((path) => {
    const content = files.get(path);
    return content === undefined ? [] : [fileInPrompt({ path, content })];
  });
  return { text: [...shown, ...leftOut(paths, files, sizes)].join("\n\n"), files };
}

/** One file is read after another, so that a project of any size is held in parts. */
async function readEach(workspace: Workspace, paths: readonly string[]): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  let room = SHOWN_BYTES;
  for (const path of paths) {
    const bytes = await bytesOf(workspace, path);
    if (bytes === undefined) continue;
    const isShown = bytes !== null && bytes.length <= room && !bytes.includes(0);
    if (isShown) room -= bytes.length;
    found.push({ path, bytes: bytes?.length ?? SHOWN_BYTES, text: isShown ? Buffer.from(bytes).toString("utf8") : null });
  }
  return found;
}

/** @returns null for a file that is too large to be shown, undefined where there is none */
async function bytesOf(workspace: Workspace, path: string): Promise<Uint8Array | null | undefined> {
  try {
    return await workspace.readBytes(path, SHOWN_BYTES);
  } catch (error) {
    if (!TroupeError.isInstance(error) || error.code !== "WORKSPACE_LIMIT") throw error;
    return null;
  }
}

function leftOut(paths: readonly string[], files: ReadonlyMap<string, string>, sizes: ReadonlyMap<string, number>): readonly string[] {
  const others = paths.filter((path) => !files.has(path));
  if (others.length === 0) return [];
  const named = others.slice(0, MOST_NAMED).map((path) => {
    const bytes = sizes.get(path);
    return bytes === undefined ? path : bytes < SHOWN_BYTES ? `${path} (${bytes} bytes)` : `${path} (large)`;
  });
  const more = others.length > MOST_NAMED ? `, and ${others.length - MOST_NAMED} more` : "";
  return [`Not shown: ${named.join(", ")}${more}.`];
}
