import { ifThere, isMissing } from "../kernel/system-error.ts";
import { aText, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { GitRepository, type GitState, type RepositoryState } from "./git.ts";
import { withAdvice } from "./git-program.ts";
import { type HeldFile, withHeld } from "./held-folder.ts";
import { ioError, makeFolders, statsOf, walkFiles } from "./folders.ts";
import { contentOf, type IsOwn, type KeptFile, KeptFiles } from "./kept-files.ts";
import { checkPath, isHidden, isNormalPath, pathError, visible } from "./path-rules.ts";
import {
  aContent,
  checkCommit,
  type CommitRequest,
  limitError,
  LISTED_FILES,
  Quota,
  Turns,
  type Workspace,
  type WorkspaceLimits,
  type WrittenFile,
  workspaceLimits,
  writtenFile,
} from "./workspace.ts";
import { sweepProject } from "./sweep.ts";

export interface FileWorkspaceOptions {
  /** The project's folder; made with the first write when it is not there. */
  readonly root: string;
  /** Default: 500 files, 10 MiB together, 1 MiB each. */
  readonly limits?: Partial<WorkspaceLimits>;
  /** `"auto"` (the default) commits when git is there, `true` demands it, `false` keeps no history. */
  readonly git?: boolean | "auto";
  /** True for contents that the run wrote. Others are kept in `.troupe/kept` before they are replaced. Default: nothing is kept. */
  readonly isOwn?: IsOwn;
  /** Folders that nothing is written into, such as submodules. Default: repositories inside the project, where `isOwn` is given. */
  readonly closed?: readonly string[];
}

/** Their names. @internal */
export const fileWorkspaceOptions: Known<FileWorkspaceOptions> = {
  root: kinds.text,
  limits: workspaceLimits,
  git: kinds.oneOf(true, false, "auto"),
  isOwn: kinds.function,
  closed: kinds.texts,
};

/** A workspace on disk. */
export interface FileWorkspace extends Workspace {
  /** The state of git; `untried` until the first commit or {@link FileWorkspace.prepareGit}. */
  readonly git: GitState;
  /** Finds git, and makes the repository when there is none. @throws WorkspaceError `WORKSPACE_GIT` when a demanded git cannot be used. */
  prepareGit(signal?: AbortSignal): Promise<GitState>;
  readonly changed: readonly string[];
  readonly kept: readonly KeptFile[];
  /** Returns those paths that hold what the run wrote, here or, as `isOwn` says, before; the next commit has them. */
  adopt(paths: readonly string[]): Promise<readonly string[]>;
  /** Returns the state of the repository, with changes of other programs; undefined without one. @throws WorkspaceError `WORKSPACE_GIT` */
  inspectGit(signal?: AbortSignal): Promise<RepositoryState | undefined>;
  /** Returns those paths that the repository's ignore rules match; none without a repository. @throws WorkspaceError `WORKSPACE_GIT` */
  ignoredByGit(paths: readonly string[], signal?: AbortSignal): Promise<readonly string[]>;
}

export function isOnDisk(workspace: Workspace): workspace is FileWorkspace {
  return "inspectGit" in workspace;
}

/** A workspace on disk, without any question about what the folder holds; see `openWorkspace` for those. */
export function fileWorkspace(options: FileWorkspaceOptions): FileWorkspace {
  checkGivenOptions("fileWorkspace", options, fileWorkspaceOptions);
  takes("fileWorkspace", "root", options.root, aText);
  return new DiskWorkspace(options);
}

/** Owns the changes and their order: one at a time, so that no commit has half of one. The invariants of {@link Workspace} hold here. */
class DiskWorkspace implements FileWorkspace {
  readonly root: string;
  readonly #quota: Quota;
  readonly #turns = new Turns();
  readonly #uncommitted = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #wantsGit: boolean | "auto";
  readonly #others: KeptFiles | undefined;
  readonly #closed: readonly string[];
  #swept: Promise<unknown> | undefined;
  #repository: GitRepository | undefined;
  #git: GitState = { kind: "untried" };

  constructor({ root, limits, git = "auto", isOwn, closed = [] }: FileWorkspaceOptions) {
    this.root = resolve(root);
    this.#others = isOwn && new KeptFiles(isOwn);
    this.#closed = closed;
    this.#quota = new Quota(limits);
    this.#wantsGit = git;
    if (git === false) this.#git = { kind: "none", reason: "git is switched off" };
  }

  get git(): GitState {
    return this.#git;
  }

  write(path: string, content: string | Uint8Array): Promise<WrittenFile> {
    takes("Workspace.write", "content", content, aContent);
    return this.#change(path, "write", (normal) => this.#write(normal, Buffer.from(content)));
  }

  remove(path: string): Promise<void> {
    return this.#change(path, "remove", (normal) => this.#remove(normal));
  }

  async read(path: string): Promise<string | undefined> {
    return (await this.#bytes(path, this.#quota.fileBytes))?.toString("utf8");
  }

  readBytes(path: string, most: number): Promise<Uint8Array | undefined> {
    takes("Workspace.readBytes", "most", most, kinds.amount);
    return this.#bytes(path, most);
  }

  async #bytes(path: string, most: number): Promise<Buffer | undefined> {
    const normal = checkPath(path);
    try {
      const root = await this.#realRoot(false);
      return root === undefined ? undefined : await withHeld(root, normal, false, (file) => bytesOf(file, normal, most));
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

  async commit(request: CommitRequest): Promise<string | undefined> {
    checkCommit(request);
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

  get pending(): readonly string[] {
    return [...this.#uncommitted].sort();
  }

  get changed(): readonly string[] {
    return [...this.#changed].sort();
  }

  get kept(): readonly KeptFile[] {
    return this.#others?.list ?? [];
  }

  adopt(paths: readonly string[]): Promise<readonly string[]> {
    return this.#turns.take(async () => {
      const own: string[] = [];
      const root = await this.#realRoot(false);
      for (const path of paths) if (isNormalPath(path) && root !== undefined && (await this.#isOwn(root, path))) own.push(path);
      for (const path of own) this.#note(path);
      return own;
    });
  }

  async #isOwn(root: string, path: string): Promise<boolean> {
    const found = await withHeld(root, path, false, (file) => contentOf(file, path));
    if (this.#others === undefined) return true;
    return found === undefined ? this.#uncommitted.has(path) : this.#others.isOwn(path, found.content);
  }

  inspectGit(signal?: AbortSignal): Promise<RepositoryState | undefined> {
    return this.#turns.take(async () => {
      await this.#prepareGit(signal);
      return this.#repository?.state(signal);
    });
  }

  ignoredByGit(paths: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
    return this.#turns.take(async () => {
      await this.#prepareGit(signal);
      return (await this.#repository?.ignored(paths.map(checkPath), signal)) ?? [];
    });
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
      if (root === undefined) throw this.#goneError();
      await this.#sweep(root);
      await this.#prepareChange(root, path, bytes);
      const isWritten = await withHeld(root, path, true, (file) => file.replace(bytes).then(() => true));
      if (isWritten !== true) throw this.#goneError();
    } catch (error) {
      uncount();
      throw error;
    }
    this.#others?.wrote(path, bytes);
    this.#note(path);
    return writtenFile(path, bytes);
  }

  async #remove(path: string): Promise<void> {
    const root = await this.#realRoot(false);
    if (root !== undefined) {
      await this.#prepareChange(root, path, undefined);
      await withHeld(root, path, false, async (file) => {
        if ((await file.stats()) !== undefined) await file.remove();
      });
    }
    this.#quota.forget(path);
    this.#note(path);
  }

  #note(path: string): void {
    this.#uncommitted.add(path);
    this.#changed.add(path);
  }

  async #prepareChange(root: string, path: string, next: Buffer | undefined): Promise<void> {
    const closed = this.#closed.find((folder) => path.startsWith(`${folder}/`));
    const nested = closed ?? (this.#others === undefined ? undefined : await nestedRepository(root, path));
    if (nested !== undefined) throw pathError(path, `lies in another repository, at ${nested}`);
    await this.#others?.keep(root, path, next);
  }

  #sweep(root: string): Promise<unknown> {
    this.#swept ??= sweepProject(root);
    return this.#swept;
  }

  #goneError(): WorkspaceError {
    const text = `Expected the folder "${visible(this.root)}", but it is gone. Make it again, then resume.`;
    return new WorkspaceError("WORKSPACE_IO", text);
  }

  /** The root with its own links resolved: the user may have chosen a link. Undefined when it is not there and may not be made. */
  async #realRoot(make: boolean): Promise<string | undefined> {
    const found = await ifThere(realpath(this.root));
    if (found !== undefined || !make) return found;
    await makeFolders(this.root);
    return realpath(this.root);
  }
}

/** True when every part of the way to a folder is a folder and none a link. */
async function isFolder(root: string, path: string): Promise<boolean> {
  const segments = path === "" ? [] : path.split("/");
  for (let depth = 1; depth <= segments.length; depth++) {
    const stats = await statsOf(join(root, ...segments.slice(0, depth)));
    if (stats?.isDirectory() !== true) return false;
  }
  return true;
}

async function nestedRepository(root: string, path: string): Promise<string | undefined> {
  const segments = path.split("/");
  for (let depth = 1; depth < segments.length; depth++) {
    const folder = segments.slice(0, depth).join("/");
    if ((await statsOf(join(root, folder, ".git"))) !== undefined) return folder;
  }
  return undefined;
}

async function bytesOf(file: HeldFile, path: string, most: number): Promise<Buffer | undefined> {
  if ((await file.stats()) === undefined) return undefined;
  const handle = await file.open();
  try {
    const { size } = await handle.stat();
    if (size > most) throw limitError(path, `a file of at most ${most} bytes`, `${size} bytes`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
