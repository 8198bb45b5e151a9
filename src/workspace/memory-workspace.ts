import { aText, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { contentHash } from "../kernel/json.ts";
import { checkPath, pathError } from "./path-rules.ts";
import {
  aCommitRequest,
  type CommitRequest,
  limitError,
  Quota,
  type Workspace,
  type WorkspaceLimits,
  type WrittenFile,
  writtenFile,
} from "./workspace.ts";

/** A commit of a workspace in memory. */
export interface MemoryCommit {
  readonly id: string;
  readonly message: string;
  readonly author: string;
  readonly date: number;
  readonly trailers: Readonly<Record<string, string>>;
  /** Paths that changed, sorted. */
  readonly paths: readonly string[];
}

/** A workspace that keeps everything in memory: for tests and dry runs. */
export interface MemoryWorkspace extends Workspace {
  /** Oldest first. */
  readonly commits: readonly MemoryCommit[];
}

/** Options of a workspace in memory. */
export interface MemoryWorkspaceOptions {
  /** Default: {@link defaultWorkspaceLimits}. */
  readonly limits?: Partial<WorkspaceLimits>;
  /** Files that are there already, by path; like a user's own they are not committed and not counted. */
  readonly files?: Readonly<Record<string, string>>;
}

const memoryWorkspaceOptions: Known<MemoryWorkspaceOptions> = { limits: kinds.record(kinds.count), files: kinds.record(kinds.text) };

/**
 * Makes a workspace in memory, under the same rules as one on disk. Its root, `/memory`, is no folder.
 *
 * @example
 * import { memoryWorkspace } from "troupe/workspace";
 *
 * const workspace = memoryWorkspace();
 * await workspace.write("src/board.js", "export const size = 4;");
 * console.log(await workspace.list()); // [ 'src/board.js' ]
 */
export function memoryWorkspace(options: MemoryWorkspaceOptions = {}): MemoryWorkspace {
  checkKnownOptions("memoryWorkspace", options, memoryWorkspaceOptions);
  return new HeldWorkspace(options);
}

/** Owns the files, the tree of the last commit, and the uncommitted changes. Every method settles in one turn of the event loop. */
class HeldWorkspace implements MemoryWorkspace {
  readonly root = "/memory";
  readonly commits: MemoryCommit[] = [];
  readonly #quota: Quota;
  readonly #files = new Map<string, string>();
  readonly #tree = new Map<string, string>();
  readonly #uncommitted = new Set<string>();

  constructor({ limits, files = {} }: MemoryWorkspaceOptions) {
    this.#quota = new Quota(limits);
    for (const [path, content] of Object.entries(files)) this.#files.set(checkPath(path), content);
  }

  get pending(): readonly string[] {
    return [...this.#uncommitted].sort();
  }

  async write(path: string, content: string): Promise<WrittenFile> {
    takes("Workspace.write", "content", content, aText);
    const normal = checkPath(path);
    const bytes = Buffer.from(content, "utf8");
    const uncount = this.#quota.count(normal, bytes.length);
    try {
      this.#checkPlace(normal);
    } catch (error) {
      uncount();
      throw error;
    }
    this.#files.set(normal, bytes.toString("utf8"));
    this.#uncommitted.add(normal);
    return writtenFile(normal, bytes);
  }

  async read(path: string): Promise<string | undefined> {
    const normal = checkPath(path);
    this.#checkPlace(normal);
    return this.#files.get(normal);
  }

  async readBytes(path: string, most: number): Promise<Uint8Array | undefined> {
    takes("Workspace.readBytes", "most", most, kinds.amount);
    const text = await this.read(path);
    const bytes = text === undefined ? undefined : Buffer.from(text, "utf8");
    if (bytes !== undefined && bytes.length > most) throw limitError(path, `a file of at most ${most} bytes`, `${bytes.length} bytes`);
    return bytes;
  }

  async list(under?: string): Promise<readonly string[]> {
    const start = under === undefined ? "" : `${checkPath(under)}/`;
    return [...this.#files.keys()].filter((path) => path.startsWith(start)).sort();
  }

  async remove(path: string): Promise<void> {
    const normal = checkPath(path);
    this.#checkPlace(normal);
    this.#files.delete(normal);
    this.#quota.forget(normal);
    this.#uncommitted.add(normal);
  }

  async commit(request: CommitRequest): Promise<string | undefined> {
    takes("Workspace.commit", "request", request, aCommitRequest);
    const named = request.paths?.map(checkPath);
    const paths = [...this.#uncommitted].filter((path) => named?.includes(path) ?? true).sort();
    const changed = paths.filter((path) => this.#files.get(path) !== this.#tree.get(path));
    for (const path of paths) this.#commitPath(path);
    if (changed.length === 0) return undefined;
    const { message, author, date, trailers = {} } = request;
    const content = { message, author, date, trailers, paths: changed };
    const id = contentHash({ ...content, parent: this.commits.at(-1)?.id ?? "", tree: Object.fromEntries(this.#tree) }).slice(0, 40);
    this.commits.push({ id, ...content });
    return id;
  }

  #commitPath(path: string): void {
    const content = this.#files.get(path);
    if (content === undefined) this.#tree.delete(path);
    else this.#tree.set(path, content);
    this.#uncommitted.delete(path);
  }

  /** A disk cannot hold a file where a folder is, nor a folder where a file is. */
  #checkPlace(path: string): void {
    for (const other of this.#files.keys()) {
      if (other.startsWith(`${path}/`)) throw pathError(path, "names a folder that is there already");
      if (path.startsWith(`${other}/`)) throw pathError(path, `goes through ${other.split("/").at(-1) ?? other}, which is a file`);
    }
  }
}
