import { takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { contentHash } from "../kernel/json.ts";
import { KEY_TRAILER, trailersOf } from "./commit-text.ts";
import { checkPath, pathError } from "./path-rules.ts";
import {
  aContent,
  checkCommit,
  type CommitRequest,
  limitError,
  Quota,
  type Workspace,
  type WorkspaceLimits,
  type WrittenFile,
  workspaceLimits,
  writtenFile,
} from "./workspace.ts";

export interface MemoryCommit {
  readonly id: string;
  readonly message: string;
  readonly author: string;
  readonly date: number;
  readonly trailers: Readonly<Record<string, string>>;
  readonly paths: readonly string[];
}

/** A workspace that keeps everything in memory: for tests and dry runs. */
export interface MemoryWorkspace extends Workspace {
  /** Oldest first. */
  readonly commits: readonly MemoryCommit[];
}

export interface MemoryWorkspaceOptions {
  /** Default: 500 files, 10 MiB together, 1 MiB each. */
  readonly limits?: Partial<WorkspaceLimits>;
  readonly files?: Readonly<Record<string, string>>;
}

const memoryWorkspaceOptions: Known<MemoryWorkspaceOptions> = { limits: workspaceLimits, files: kinds.record(kinds.text) };

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

/** Begins the content of a file that is no text: half a character, which no text in UTF-8 has. Base64 follows. */
const BINARY = "\ud800";

function heldContent(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : `${BINARY}${bytes.toString("base64")}`;
}

/** Owns the files, the tree of the last commit, and the uncommitted changes. Every method settles in one turn of the event loop. */
class HeldWorkspace implements MemoryWorkspace {
  readonly root = "/memory";
  readonly commits: MemoryCommit[] = [];
  readonly #quota: Quota;
  readonly #files = new Map<string, string>();
  readonly #tree = new Map<string, string>();
  readonly #uncommitted = new Set<string>();
  readonly #keyed = new Map<string, ReadonlyMap<string, string>>();

  constructor({ limits, files = {} }: MemoryWorkspaceOptions) {
    this.#quota = new Quota(limits);
    for (const [path, content] of Object.entries(files)) this.#files.set(checkPath(path), content);
  }

  get pending(): readonly string[] {
    return [...this.#uncommitted].sort();
  }

  async write(path: string, content: string | Uint8Array): Promise<WrittenFile> {
    takes("Workspace.write", "content", content, aContent);
    const normal = checkPath(path);
    const bytes = Buffer.from(content);
    const uncount = this.#quota.count(normal, bytes.length);
    try {
      this.#checkPlace(normal);
    } catch (error) {
      uncount();
      throw error;
    }
    this.#files.set(normal, heldContent(bytes));
    this.#uncommitted.add(normal);
    return writtenFile(normal, bytes);
  }

  async read(path: string): Promise<string | undefined> {
    return this.#bytes(path)?.toString("utf8");
  }

  async readBytes(path: string, most: number): Promise<Uint8Array | undefined> {
    takes("Workspace.readBytes", "most", most, kinds.amount);
    const bytes = this.#bytes(path);
    if (bytes !== undefined && bytes.length > most) throw limitError(path, `a file of at most ${most} bytes`, `${bytes.length} bytes`);
    return bytes;
  }

  #bytes(path: string): Buffer | undefined {
    const normal = checkPath(path);
    this.#checkPlace(normal);
    const held = this.#files.get(normal);
    if (held === undefined) return undefined;
    return held.startsWith(BINARY) ? Buffer.from(held.slice(1), "base64") : Buffer.from(held);
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
    checkCommit(request);
    const named = request.paths?.map(checkPath);
    const paths = [...this.#uncommitted].filter((path) => named?.includes(path) ?? true).sort();
    const changed = paths.filter((path) => this.#files.get(path) !== this.#tree.get(path));
    for (const path of paths) this.#commitPath(path);
    const trailers = trailersOf(request);
    const { [KEY_TRAILER]: key = "" } = trailers;
    const made = changed.length === 0 ? this.#tree : this.#keyed.get(key);
    if (made !== undefined && changed.every((path) => made.get(path) === this.#files.get(path))) return undefined;
    const { message, author, date } = request;
    const content = { message, author, date, trailers, paths: changed };
    const id = contentHash({ ...content, parent: this.commits.at(-1)?.id ?? "", tree: Object.fromEntries(this.#tree) }).slice(0, 40);
    this.commits.push({ id, ...content });
    if (key !== "") this.#keyed.set(key, new Map(this.#tree));
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
