import { kinds } from "../kernel/option-kinds.ts";
import { aText, either, object, type Shape, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { createHash } from "node:crypto";
import { WorkspaceError } from "../kernel/errors.ts";
import { visible } from "./path-rules.ts";

/**
 * The project a company writes: files under one root, and a commit for each action that made some.
 *
 * A workspace owns the rules for paths and sizes of files. It does not know roles, messages or runs: names, dates and
 * trailers of a commit are given from outside, so the same writes at the same times give the same commit ids.
 *
 * Workspace.W1 no path leads outside the root, into `.git`, `.troupe` or `node_modules`, or through a link, also when another process changes
 * folders meanwhile.
 * Workspace.W2 a file is whole or absent: it is written under another name and renamed.
 * Workspace.W3 a repeated call changes nothing: `write` of equal content, `remove` of a missing file, `commit` of an equal tree, or of an equal
 * key and equal contents whatever was committed since.
 * Workspace.W4 a commit holds the paths this workspace wrote and no other changes, staged or not.
 * Workspace.W5 the limits count what this workspace wrote, so an existing project of any size can be worked on.
 */
export interface Workspace {
  /** Absolute path of the project's folder. */
  readonly root: string;

  readonly pending: readonly string[];

  /** Writes a string as UTF-8, or bytes; makes the folders of the file, and replaces an existing one. @throws WorkspaceError */
  write(path: string, content: string | Uint8Array): Promise<WrittenFile>;

  /** The text of a file; undefined when it is not there. Bytes that are not UTF-8 come back as U+FFFD. @throws WorkspaceError */
  read(path: string): Promise<string | undefined>;

  /** The bytes of a file; undefined when it is not there. @throws WorkspaceError `WORKSPACE_LIMIT` when it has more than `most` */
  readBytes(path: string, most: number): Promise<Uint8Array | undefined>;

  /** Paths of the files, or those below a folder: relative to the root, sorted by code unit, each fit for `read`. @throws WorkspaceError */
  list(under?: string): Promise<readonly string[]>;

  /** Removes a file, and the folders it leaves empty; one that is not there is no error. Throws as {@link Workspace.write} does. */
  remove(path: string): Promise<void>;

  /**
   * Commits the changes since the last commit. Returns its id; undefined when the tree is equal or no history is kept.
   * @throws WorkspaceError `WORKSPACE_GIT`: the changes stay to be committed
   */
  commit(request: CommitRequest): Promise<string | undefined>;
}

/** A written file. The same content at the same path gives an equal value. */
export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
  /** Of the bytes, as 64 hexadecimal digits. */
  readonly sha256: string;
}

export function writtenFile(path: string, content: string | Uint8Array): WrittenFile {
  return { path, bytes: Buffer.byteLength(content), sha256: createHash("sha256").update(content).digest("hex") };
}

export interface CommitRequest {
  readonly message: string;
  readonly author: string;
  /** Milliseconds since 1970; git keeps whole seconds. */
  readonly date: number;
  /** Lines `key: value` below the message, such as `Troupe-Message`. */
  readonly trailers?: Readonly<Record<string, string>>;
  /** No commit is made if the history has one with this key and these contents (trailer `Troupe-Step`). Default: each call makes one. */
  readonly key?: string;
  /** Only these paths; the others stay for a later commit. Default: everything written since the last one. */
  readonly paths?: readonly string[];
  readonly signal?: AbortSignal;
}

/** The shape of the content of a file. @internal */
export const aContent: Shape = either(aText, { says: "bytes", fits: (value) => value instanceof Uint8Array });

const commitRequest: Known<CommitRequest> = {
  message: kinds.checked,
  author: kinds.checked,
  date: kinds.checked,
  trailers: kinds.record(aText),
  key: kinds.text,
  paths: kinds.texts,
  signal: kinds.signal,
};
/** The shape of a request of a commit. @internal */
export const aCommitRequest: Shape = object("a request of a commit { message, author, date }", {
  message: aText,
  author: aText,
  date: kinds.number,
});

export function checkCommit(request: CommitRequest): void {
  checkGivenOptions("commit", request, commitRequest);
  takes("commit", "request", request, aCommitRequest);
}

export interface WorkspaceLimits {
  /** Different files. Default 500. */
  readonly files: number;
  /** Bytes of all of them together. Default 10 MiB. */
  readonly bytes: number;
  /** Bytes of one file. Default 1 MiB. */
  readonly fileBytes: number;
}

export const workspaceLimits: Shape = kinds.options(kinds.each(kinds.count, "files", "bytes", "fileBytes"));
const defaultWorkspaceLimits: WorkspaceLimits = { files: 500, bytes: 10 * 1024 * 1024, fileBytes: 1024 * 1024 };

export const LISTED_FILES = 200_000;

/** Counts what a workspace wrote against its limits. Owns the sizes of the files written; knows no disk. */
export class Quota {
  readonly #limits: WorkspaceLimits;
  readonly #sizes = new Map<string, number>();
  #total = 0;

  constructor(limits: Partial<WorkspaceLimits> = {}) {
    this.#limits = { ...defaultWorkspaceLimits, ...limits };
  }

  /** Bytes one file may have. */
  get fileBytes(): number {
    return this.#limits.fileBytes;
  }

  /** Counts a file of `bytes` at `path` in place of its earlier size. The returned function undoes that. */
  count(path: string, bytes: number): () => void {
    const before = this.#sizes.get(path);
    const { files, bytes: allBytes, fileBytes } = this.#limits;
    if (bytes > fileBytes) throw limitError(path, `a file of at most ${fileBytes} bytes`, `${bytes} bytes`);
    if (before === undefined && this.#sizes.size >= files) throw limitError(path, `at most ${files} files`, "one more");
    const total = this.#total - (before ?? 0) + bytes;
    if (total > allBytes) throw limitError(path, `at most ${allBytes} bytes in all files together`, `${total} bytes`);
    this.#set(path, bytes);
    return () => this.#set(path, before);
  }

  /** Stops counting a file that is gone. */
  forget(path: string): void {
    this.#set(path, undefined);
  }

  #set(path: string, bytes: number | undefined): void {
    this.#total += (bytes ?? 0) - (this.#sizes.get(path) ?? 0);
    if (bytes === undefined) this.#sizes.delete(path);
    else this.#sizes.set(path, bytes);
  }
}

export function limitError(path: string, expected: string, came: string): WorkspaceError {
  const shown = visible(path);
  return new WorkspaceError(
    "WORKSPACE_LIMIT",
    `Expected ${expected}, got ${came} with "${shown}". Write less, or raise the limits of the workspace.`,
    { data: { path: shown, expected, came } },
  );
}

/** Runs one piece of work at a time, in the order of the calls. Its callers bound it, because each waits for its own. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after everything asked before it has ended, well or badly. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
