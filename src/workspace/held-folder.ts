import { ifThere, succeeds, systemCode } from "../kernel/system-error.ts";
import { type BigIntStats, constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, realpath, rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { makeFolder, statsOf } from "./folders.ts";
import { pathError } from "./path-rules.ts";
import { temporaryName } from "./temporary-owner.ts";

/** The access to names in a folder: through the open folder itself, or through its path on systems without that. */
export type Reach = "descriptor" | "path";

/** Linux: a descriptor that stands for a folder, also for one whose names may not be read. Node.js does not name the flag. */
const O_PATH = 0o10000000;
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const OPEN_FILES = "/proc/self/fd";

let reachHere: Reach | undefined;

/**
 * HeldFile: where one path of a project leads, held while a file there is read, replaced or removed. Another process may put links in the
 * place of folders meanwhile.
 *
 * It owns a descriptor of every folder on the way; {@link HeldFile.close} gives them back.
 * `HeldFile.F1` no link is followed from the root to the file: {@link holdFile} enters folder by folder.
 * `HeldFile.F2` no byte is read or written before the opened file is known to lie inside the root: `#assertInPlace`. With the reach
 * "descriptor" not even an empty file comes to be elsewhere.
 * `HeldFile.F3` the file has its old content or all of the new one: {@link HeldFile.replace} renames.
 */
export class HeldFile {
  readonly #path: string;
  readonly #name: string;
  readonly #folders: readonly HeldFolder[];

  /** @param folders from the root to the file's own */
  constructor(path: string, name: string, folders: readonly HeldFolder[]) {
    this.#path = path;
    this.#name = name;
    this.#folders = folders;
  }

  async stats(): Promise<Stats | undefined> {
    const stats = await statsOf(this.#folder.at(this.#name));
    if (stats?.isSymbolicLink() === true) throw pathError(this.#path, "is a symbolic link");
    if (stats?.isDirectory() === true) throw pathError(this.#path, "names a folder that is there already");
    if (stats !== undefined && !stats.isFile()) throw pathError(this.#path, "is a device, a pipe or a socket");
    return stats;
  }

  async open(): Promise<FileHandle> {
    const file = this.#folder.at(this.#name);
    const handle = await open(file, constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0));
    try {
      await this.#assertInPlace(handle, file);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Writes aside, then renames. Whatever fails, the old file is still there. @param mode of a new file; an old one keeps its own */
  async replace(bytes: Buffer, mode: number = bytes.subarray(0, 2).toString("latin1") === "#!" ? 0o777 : 0o666): Promise<void> {
    const old = await this.stats();
    const temporary = this.#folder.at(temporaryName(this.#name));
    const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, mode);
    try {
      try {
        await this.#assertInPlace(handle, temporary);
        await handle.writeFile(bytes);
        if (old !== undefined) await handle.chmod(old.mode & 0o777);
        await this.#assertInPlace(handle, temporary);
      } finally {
        await handle.close();
      }
      await rename(temporary, this.#folder.at(this.#name));
    } catch (error) {
      // The caller must know the first failure; a leftover is hidden from every listing and swept later.
      await rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** Removes the file, and the folders this left empty, as git does: a file may come to stand where one was. */
  async remove(): Promise<void> {
    await this.unlink();
    for (const [at, folder] of [...this.#folders.entries()].reverse()) {
      const above = this.#folders[at - 1];
      if (above === undefined) return;
      if (!(await succeeds(rmdir(above.at(folder.name))))) return;
    }
  }

  async unlink(): Promise<void> {
    await unlink(this.#folder.at(this.#name));
  }

  async close(): Promise<void> {
    await closeAll(this.#folders);
  }

  get #folder(): HeldFolder {
    const last = this.#folders.at(-1);
    if (last === undefined) throw new RangeError("a way without a folder");
    return last;
  }

  /** Looks before and after: a link that was there when the file was opened may be gone by now, and come again. */
  async #assertInPlace(handle: FileHandle, file: string): Promise<void> {
    const [opened, named] = [await handle.stat({ bigint: true }), await identityOf(file)];
    const isInPlace =
      (await this.#isInside()) && isSame(opened, named) && isSame(opened, await identityOf(file)) && (await this.#isInside());
    if (!isInPlace) throw pathError(this.#path, "leads outside the project through a link, or its folder was moved");
  }

  async #isInside(): Promise<boolean> {
    const root = this.#folders[0];
    return root !== undefined && (await this.#folder.isBelow(root.path));
  }
}

/** Finds a path below a root, folder by folder, and follows no link. Undefined when a folder is missing and may not be made. */
export async function holdFile(root: string, path: string, make: boolean, reach: Reach = bestReach()): Promise<HeldFile | undefined> {
  const segments = path.split("/");
  const name = segments.pop() ?? "";
  const folders: HeldFolder[] = [];
  try {
    let folder = await HeldFolder.open(root, root, "", reach);
    folders.push(folder);
    for (const segment of segments) {
      const entered = await folder.enter(segment, { make, path, reach });
      if (entered === undefined) {
        await closeAll(folders);
        return undefined;
      }
      folders.push(entered);
      folder = entered;
    }
  } catch (error) {
    await closeAll(folders);
    throw error;
  }
  return new HeldFile(path, name, folders);
}

class HeldFolder {
  readonly path: string;
  readonly name: string;
  readonly #handle: FileHandle | undefined;
  readonly #identity: BigIntStats;

  private constructor(path: string, name: string, handle: FileHandle | undefined, identity: BigIntStats) {
    this.path = path;
    this.name = name;
    this.#handle = handle;
    this.#identity = identity;
  }

  /** @param door where to find it now, @param path where it is said to be */
  static async open(door: string, path: string, name: string, reach: Reach): Promise<HeldFolder> {
    if (reach === "path") return new HeldFolder(path, name, undefined, await lstat(door, { bigint: true }));
    const handle = await open(door, O_PATH | constants.O_DIRECTORY | NO_FOLLOW);
    try {
      return new HeldFolder(path, name, handle, await handle.stat({ bigint: true }));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The path by which something in this folder is reached, whatever has taken the folder's place where it can be held. */
  at(name: string): string {
    return this.#handle === undefined ? join(this.path, name) : `${OPEN_FILES}/${this.#handle.fd}/${name}`;
  }

  /** Enters a folder in this one. Undefined when it is not there and may not be made. */
  async enter(name: string, options: { make: boolean; path: string; reach: Reach }): Promise<HeldFolder | undefined> {
    const door = this.at(name);
    const found = await statsOf(door);
    if (found === undefined && !options.make) return undefined;
    if (found === undefined) await makeFolder(door);
    const stats = found ?? (await statsOf(door));
    if (stats?.isSymbolicLink() === true) throw pathError(options.path, `goes through ${name}, which is a symbolic link`);
    if (stats?.isDirectory() === false) throw pathError(options.path, `goes through ${name}, which is a file`);
    try {
      return await HeldFolder.open(door, join(this.path, name), name, options.reach);
    } catch (error) {
      // Something else was put there since: a link answers ENOTDIR or ELOOP.
      if (["ENOTDIR", "ELOOP"].includes(systemCode(error))) throw pathError(options.path, `goes through ${name}, which is no folder`);
      throw error;
    }
  }

  /** True when this folder still is where it was entered, and that is the root or below it. */
  async isBelow(root: string): Promise<boolean> {
    if (!isSame(this.#identity, await identityOf(this.path))) return false;
    const way = relative(root, await realpath(this.path));
    return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

function bestReach(): Reach {
  reachHere ??= process.platform === "linux" && existsSync(OPEN_FILES) ? "descriptor" : "path";
  return reachHere;
}

async function closeAll(folders: readonly HeldFolder[]): Promise<void> {
  for (const folder of folders) await folder.close();
}

function identityOf(path: string): Promise<BigIntStats | undefined> {
  return ifThere(lstat(path, { bigint: true }));
}

function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

/** The folder of this package in a project: never listed, never copied into a sandbox, never in git. */
const OWN = ".troupe";
const IGNORE = ".gitignore";
/** Stands for a file, so that its folder is made. */
const PLACE = "place";

/** Makes a folder below `.troupe` that git does not see, and returns its path. @param root as `realpath` gives it @param path such as `trees` */
export async function makeOwnFolder(root: string, path: string): Promise<string> {
  await withHeld(root, `${OWN}/${path}/${PLACE}`, true, async () => {});
  await withHeld(root, `${OWN}/${IGNORE}`, true, async (file) => {
    if ((await file.stats()) === undefined) await file.replace(Buffer.from("*\n"));
  });
  return join(root, OWN, path);
}

/** Removes a folder below `.troupe`, unless a link leads there from the project. @param root as `realpath` gives it */
export async function removeOwnFolder(root: string, path: string): Promise<void> {
  const folder = join(root, OWN, path);
  const above = dirname(folder);
  if ((await ifThere(realpath(above))) === above) await rm(folder, { recursive: true, force: true });
}

/** Does some work with a file that is held. Undefined when a folder on the way is missing and may not be made. */
export async function withHeld<T>(root: string, path: string, make: boolean, work: (file: HeldFile) => Promise<T>): Promise<T | undefined> {
  const file = await holdFile(root, path, make);
  if (file === undefined) return undefined;
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
