import { WorkspaceError } from "../kernel/errors.ts";
import { visible } from "./path-rules.ts";
import { defaultWorkspaceLimits, type WorkspaceLimits } from "./workspace.ts";

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

  /**
   * Counts a file of `bytes` at `path`, in place of what was counted there. The function given back undoes it.
   *
   * @throws WorkspaceError `WORKSPACE_LIMIT`; then nothing is counted.
   */
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

/** The error for a size or count above its limit. */
export function limitError(path: string, expected: string, came: string): WorkspaceError {
  const shown = visible(path);
  return new WorkspaceError(
    "WORKSPACE_LIMIT",
    `Expected ${expected}, got ${came} with "${shown}". Write less, or raise the limits of the workspace.`,
    { data: { path: shown, expected, came } },
  );
}
