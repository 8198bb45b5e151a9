import { constants } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import { walkFiles } from "../workspace/folders.ts";
import { sha256Of } from "../workspace/recorded-files.ts";
import { type FileChanges, MAX_FILES, UNSEEN } from "./sandboxed-command.ts";

/** The files in which a copy differs from its project. */
export interface OutsideChanges {
  readonly written: readonly { readonly path: string; readonly base64: string; readonly mode: number }[];
  readonly removed: readonly string[];
}

/** Limit on the bytes that are carried into the copy for one command. */
const CARRIED_BYTES = 16 * 1024 ** 2;

/**
 * Knows what a copy of a project has, so that it can be kept equal to the project while programs work in it.
 *
 * `CopiedFiles.F1` what came from the copy into the project is not carried back, where a program may have written more of it meanwhile.
 * `CopiedFiles.F2` what came from the copy and did not reach the project is undone in the copy.
 */
export class CopiedFiles {
  readonly #root: string;
  /** For each file of the copy the mark of the same file in the project, and the hash of its content, as far as they are known. */
  readonly #known: Map<string, { readonly mark?: string; readonly hash?: string }>;

  private constructor(root: string, files: Map<string, ProjectFile>) {
    this.#root = root;
    this.#known = new Map(files);
  }

  /** Call it before the copy is made: a file that changes meanwhile is carried again, and none is missed. */
  static async of(root: string, signal: AbortSignal): Promise<CopiedFiles> {
    return new CopiedFiles(root, await filesIn(root, signal));
  }

  /** Returns what the copy lacks, and takes it for carried; undefined when it is too much. */
  async changes(signal: AbortSignal): Promise<OutsideChanges | undefined> {
    const now = await filesIn(this.#root, signal);
    const removed = [...this.#known.keys()].filter((path) => !now.has(path));
    for (const path of removed) this.#known.delete(path);
    const written: OutsideChanges["written"][number][] = [];
    let room = CARRIED_BYTES;
    for (const [path, { mark, mode }] of now) {
      const known = this.#known.get(path);
      if (known?.mark === mark) continue;
      const bytes = await ifThere(readFile(join(this.#root, path), { flag: constants.O_RDONLY | constants.O_NOFOLLOW }));
      if (bytes === undefined) continue;
      const hash = sha256Of(bytes);
      this.#known.set(path, { mark, hash });
      if (known?.hash === hash) continue;
      room -= bytes.length;
      if (room < 0) return undefined;
      written.push({ path, base64: bytes.toString("base64"), mode });
    }
    return { written, removed };
  }

  /** Takes in the changes that a command made in the copy, whether they reach the project or not. */
  changed({ written, removed }: FileChanges): void {
    for (const path of removed) this.#known.delete(path);
    for (const change of written)
      this.#known.set(change.path, { hash: sha256Of("base64" in change ? Buffer.from(change.base64, "base64") : change.content) });
  }
}

interface ProjectFile {
  readonly mark: string;
  readonly mode: number;
}

async function filesIn(root: string, signal: AbortSignal): Promise<Map<string, ProjectFile>> {
  const skip = (name: string): boolean => UNSEEN.includes(name.toLowerCase());
  const found = new Map<string, ProjectFile>();
  for (const path of (await walkFiles(root, { skip, limit: MAX_FILES, signal })).files) {
    const seen = await ifThere(lstat(join(root, path), { bigint: true }));
    if (seen?.isFile() !== true) continue;
    found.set(path, { mark: [seen.size, seen.mtimeNs, seen.ctimeNs, seen.ino, seen.mode].join(), mode: Number(seen.mode) & 0o777 });
  }
  return found;
}
