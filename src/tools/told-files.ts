import { constants } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import { ioError, walkFiles } from "../workspace/folders.ts";
import { sha256Of } from "../workspace/recorded-files.ts";
import { type FileChanges, MOST_FILES, UNSEEN } from "./sandboxed-command.ts";

/** The files of a project that changed, for a copy of it. */
export interface OutsideChanges {
  readonly written: readonly { readonly path: string; readonly base64: string; readonly mode: number }[];
  readonly removed: readonly string[];
}

/** Most bytes that are carried over for one command. */
const CARRIED_BYTES = 16 * 1024 ** 2;

/**
 * Knows which files of a project a copy of it has, so that the copy can be kept equal while a program works in it.
 *
 * It owns a mark of each file of the project, as it was when the copy heard of it. `ToldFiles.F1` what came from the copy and was kept is not
 * carried back, where a program may have written more of it meanwhile (`#isTold`). `ToldFiles.F2` what came and was not kept is undone in the copy
 * (`#undone`).
 */
export class ToldFiles {
  readonly #root: string;
  #marks = new Map<string, string>();
  readonly #told = new Map<string, string>();
  readonly #undone = new Set<string>();

  private constructor(root: string) {
    this.#root = root;
  }

  /** Call it before the copy is made: a file that changes meanwhile is carried over again, and none is missed. */
  static async of(root: string, signal: AbortSignal): Promise<ToldFiles> {
    const files = new ToldFiles(root);
    files.#marks = await files.#now(signal);
    return files;
  }

  /** Returns what changed since the last call, and takes it for carried over; undefined when it is too much. */
  async changes(signal: AbortSignal): Promise<OutsideChanges | undefined> {
    const [before, now] = [this.#marks, await this.#now(signal)];
    const removed = [...new Set([...before.keys(), ...this.#undone])].filter((path) => !now.has(path));
    const written: OutsideChanges["written"][number][] = [];
    let room = CARRIED_BYTES;
    for (const [path, mark] of now) {
      if (before.get(path) === mark && !this.#undone.has(path)) continue;
      const found = await this.#read(path);
      if (found === undefined || this.#isTold(path, found.bytes)) continue;
      room -= found.bytes.length;
      if (room < 0) return undefined;
      written.push({ path, base64: found.bytes.toString("base64"), mode: found.mode });
    }
    this.#marks = now;
    this.#told.clear();
    this.#undone.clear();
    return { written, removed };
  }

  /** Hears which changes of the copy reached the project. */
  keep({ written, removed }: FileChanges, kept: { readonly written: readonly string[]; readonly removed: readonly string[] }): void {
    const isKept = new Set([...kept.written, ...kept.removed]);
    for (const change of written) {
      if (!isKept.has(change.path)) this.#undone.add(change.path);
      else this.#told.set(change.path, sha256Of("base64" in change ? Buffer.from(change.base64, "base64") : Buffer.from(change.content)));
    }
    for (const path of removed) {
      if (isKept.has(path)) this.#marks.delete(path);
      else this.#undone.add(path);
    }
  }

  #isTold(path: string, bytes: Buffer): boolean {
    return !this.#undone.has(path) && this.#told.get(path) === sha256Of(bytes);
  }

  async #now(signal: AbortSignal): Promise<Map<string, string>> {
    const skip = (name: string): boolean => UNSEEN.includes(name.toLowerCase());
    const marks = new Map<string, string>();
    for (const path of (await walkFiles(this.#root, { skip, limit: MOST_FILES, signal })).files) {
      const seen = await ifThere(lstat(join(this.#root, path), { bigint: true }));
      if (seen?.isFile() === true) marks.set(path, [seen.size, seen.mtimeNs, seen.ctimeNs, seen.ino, seen.mode].join());
    }
    return marks;
  }

  /** Undefined when it is gone. */
  async #read(path: string): Promise<{ readonly bytes: Buffer; readonly mode: number } | undefined> {
    const at = join(this.#root, path);
    try {
      const bytes = await ifThere(readFile(at, { flag: constants.O_RDONLY | constants.O_NOFOLLOW }));
      const seen = await ifThere(lstat(at));
      return bytes === undefined || seen === undefined ? undefined : { bytes, mode: seen.mode & 0o777 };
    } catch (error) {
      throw ioError(error, "carry a file into the sandbox", path);
    }
  }
}
