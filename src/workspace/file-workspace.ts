import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, realpath, rename, rm, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { GitRepository, type GitState, withAdvice } from "./git.ts";
import { ioError, isMissing } from "./io-error.ts";
import { checkStillInside, locate, type LocatedFile, makeFolders, statsOf } from "./located-file.ts";
import { checkPath, isHidden, isNormalPath, TEMPORARY_SUFFIX, visible } from "./path-rules.ts";
import { limitError, Quota } from "./quota.ts";
import { Turns } from "./turns.ts";
import { walkFiles } from "./walk-files.ts";
import { type CommitRequest, LISTED_FILES, type Workspace, type WorkspaceLimits, type WrittenFile } from "./workspace.ts";

/** How a workspace on disk behaves. */
export interface FileWorkspaceOptions {
  /** The project's folder; made with the first write when it is not there. */
  readonly root: string;
  /** Default: {@link defaultWorkspaceLimits}. */
  readonly limits?: Partial<WorkspaceLimits>;
  /** `"auto"` (the default) commits when git is there, `true` demands it, `false` keeps no history. */
  readonly git?: boolean | "auto";
}

/** A workspace on disk. */
export interface FileWorkspace extends Workspace {
  /** What became of git; `untried` until the first commit or {@link FileWorkspace.prepareGit}. */
  readonly git: GitState;
  /**
   * Finds git, and makes the repository when the root has none.
   *
   * @throws WorkspaceError `WORKSPACE_GIT` when git was demanded and cannot be used.
   */
  prepareGit(signal?: AbortSignal): Promise<GitState>;
}

/** A workspace on disk, without any question about what the folder holds; see `openWorkspace` for those. */
export function fileWorkspace(options: FileWorkspaceOptions): FileWorkspace {
  return new DiskWorkspace(options);
}

/**
 * Owns what was written and is not committed yet, and whose turn it is: one write, removal or commit at a time, so that a commit never
 * sees half of a change. git.ts owns how a commit is made, quota.ts how much there may be. W1-W5 of workspace.ts hold here.
 */
class DiskWorkspace implements FileWorkspace {
  readonly root: string;
  readonly #quota: Quota;
  readonly #turns = new Turns();
  readonly #uncommitted = new Set<string>();
  readonly #wantsGit: boolean | "auto";
  #repository: GitRepository | undefined;
  #git: GitState = { kind: "untried" };

  constructor({ root, limits, git = "auto" }: FileWorkspaceOptions) {
    this.root = resolve(root);
    this.#quota = new Quota(limits);
    this.#wantsGit = git;
    if (git === false) this.#git = { kind: "none", reason: "git is switched off" };
  }

  get git(): GitState {
    return this.#git;
  }

  write(path: string, content: string): Promise<WrittenFile> {
    return this.#change(path, "write", (normal) => this.#write(normal, Buffer.from(content, "utf8")));
  }

  remove(path: string): Promise<void> {
    return this.#change(path, "remove", (normal) => this.#remove(normal));
  }

  async read(path: string): Promise<string | undefined> {
    const normal = checkPath(path);
    try {
      const root = await this.#realRoot(false);
      const place = root === undefined ? undefined : await locate(root, normal, false);
      return place?.stats === undefined ? undefined : await this.#text(place.file, normal);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw ioError(error, `read ${normal}`, normal);
    }
  }

  async list(under?: string): Promise<readonly string[]> {
    const start = under === undefined ? "" : checkPath(under);
    try {
      const root = await this.#realRoot(false);
      if (root === undefined || !(await isFolder(root, start))) return [];
      const { files } = await walkFiles(join(root, start), { skip: isHidden, limit: LISTED_FILES });
      return files.map((file) => (start === "" ? file : `${start}/${file}`)).filter(isNormalPath);
    } catch (error) {
      throw ioError(error, `list ${start === "" ? "the project" : start}`, start);
    }
  }

  commit(request: CommitRequest): Promise<string | undefined> {
    return this.#turns.take(async () => {
      const named = request.paths?.map(checkPath);
      const paths = [...this.#uncommitted].filter((path) => named?.includes(path) ?? true).sort();
      if (paths.length === 0) return undefined;
      await this.#prepareGit(request.signal);
      const id = await this.#repository?.commit({ ...request, paths });
      for (const path of paths) this.#uncommitted.delete(path);
      return id;
    });
  }

  prepareGit(signal?: AbortSignal): Promise<GitState> {
    return this.#turns.take(() => this.#prepareGit(signal));
  }

  async #prepareGit(signal?: AbortSignal): Promise<GitState> {
    if (this.#git.kind !== "untried") return this.#git;
    const opened = await this.#openRepository(signal);
    if (opened instanceof GitRepository) {
      this.#repository = opened;
      this.#git = { kind: "repository", isNew: opened.isNew };
    } else if (this.#wantsGit === true) {
      throw new WorkspaceError(
        "WORKSPACE_GIT",
        withAdvice(`Expected to keep the project's history with git, but ${opened}`, "Mend that, or say `git: false` to keep none."),
      );
    } else {
      this.#git = { kind: "none", reason: opened };
    }
    return this.#git;
  }

  async #openRepository(signal: AbortSignal | undefined): Promise<GitRepository | string> {
    try {
      return await GitRepository.open((await this.#realRoot(true)) ?? this.root, signal);
    } catch (error) {
      throw ioError(error, "look for git in the project", this.root);
    }
  }

  /** Runs a change of one file in its turn, with the path checked and every failure typed. */
  async #change<T>(path: string, doing: string, work: (normal: string) => Promise<T>): Promise<T> {
    const normal = checkPath(path);
    return this.#turns.take(async () => {
      try {
        return await work(normal);
      } catch (error) {
        throw ioError(error, `${doing} ${normal}`, normal);
      }
    });
  }

  async #write(path: string, bytes: Buffer): Promise<WrittenFile> {
    const uncount = this.#quota.count(path, bytes.length);
    try {
      const root = await this.#realRoot(true);
      const place = root === undefined ? undefined : await locate(root, path, true);
      if (root === undefined || place === undefined)
        throw new WorkspaceError(
          "WORKSPACE_IO",
          `Expected the folder "${visible(this.root)}", but it is gone. Make it again, then resume.`,
        );
      await replaceFile(root, place, path, bytes);
    } catch (error) {
      uncount();
      throw error;
    }
    this.#uncommitted.add(path);
    return { path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  }

  async #remove(path: string): Promise<void> {
    const root = await this.#realRoot(false);
    const place = root === undefined ? undefined : await locate(root, path, false);
    if (root !== undefined && place?.stats !== undefined) {
      await unlink(place.file);
      await removeEmptied(root, place.folder);
    }
    this.#quota.forget(path);
    this.#uncommitted.add(path);
  }

  async #text(file: string, path: string): Promise<string> {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { size } = await handle.stat();
      if (size > this.#quota.fileBytes) throw limitError(path, `a file of at most ${this.#quota.fileBytes} bytes`, `${size} bytes`);
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  }

  /** The root with its own links resolved: the user may have chosen a link. Undefined when it is not there and may not be made. */
  async #realRoot(make: boolean): Promise<string | undefined> {
    try {
      return await realpath(this.root);
    } catch (error) {
      if (!isMissing(error) || !make) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    }
    await makeFolders(this.root);
    return realpath(this.root);
  }
}

/** Writes aside, then renames. Whatever fails, the old file is still there and the new one's beginnings are not. */
async function replaceFile(root: string, place: LocatedFile, path: string, bytes: Buffer): Promise<void> {
  const temporary = join(place.folder, `.${basename(place.file).slice(0, 40)}.${randomBytes(6).toString("hex")}${TEMPORARY_SUFFIX}`);
  try {
    const handle = await open(temporary, "wx");
    try {
      await handle.writeFile(bytes);
      if (place.stats !== undefined) await handle.chmod(place.stats.mode & 0o777);
    } finally {
      await handle.close();
    }
    await checkStillInside(root, place.folder, path);
    await rename(temporary, place.file);
  } catch (error) {
    // What failed first is what the caller must know; a leftover is hidden from every listing.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Removes the folders a removal left empty, as git does: a file may come to stand where one was. */
async function removeEmptied(root: string, folder: string): Promise<void> {
  for (let empty = folder; empty !== root; empty = dirname(empty)) {
    const isRemoved = await rmdir(empty).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

/** Whether every part of the way to a folder is a folder and none a link. */
async function isFolder(root: string, path: string): Promise<boolean> {
  const segments = path === "" ? [] : path.split("/");
  for (let depth = 1; depth <= segments.length; depth++) {
    const stats = await statsOf(join(root, ...segments.slice(0, depth)));
    if (stats?.isDirectory() !== true) return false;
  }
  return true;
}
