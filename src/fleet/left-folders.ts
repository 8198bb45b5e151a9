import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../kernel/emit.ts";
import { errorRecord } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import { removeAll } from "../workspace/folders.ts";
import { onlyHere } from "../workspace/only-here.ts";

const PLACE = ".left";

export interface LeftFoldersOptions {
  /** The folder of all runs. */
  readonly folder: string;
  readonly runId: string;
  /** The name of the folder of the run. */
  readonly name: string;
  /** Limit on the folders that stay. */
  readonly most: number;
  readonly logger: Logger;
}

/**
 * The older folders of a run, which were set aside before a newer one was restored. It owns `.left/<name>.<number>`.
 *
 * LeftFolders.L1 (`#isNeedless`) a folder is removed if all its contents are in the restored folder or in its history: see `onlyHere`.
 * LeftFolders.L2 (`sweep`) of the others, the newest stay.
 * LeftFolders.L3 (`setAside`) no folder replaces another.
 */
export class LeftFolders {
  readonly #place: string;
  readonly #o: LeftFoldersOptions;

  constructor(options: LeftFoldersOptions) {
    this.#o = options;
    this.#place = join(options.folder, PLACE);
  }

  async setAside(root: string): Promise<void> {
    await mkdir(this.#place, { recursive: true });
    const newest = (await this.#all()).at(-1)?.number ?? 0;
    await rename(root, join(this.#place, `${this.#o.name}.${newest + 1}`));
  }

  /** Removes what the newer folder at `root` makes needless. @throws ControlError when the signal aborts */
  async sweep(root: string, signal: AbortSignal | undefined): Promise<void> {
    const { most, logger, runId: run } = this.#o;
    const kept: string[] = [];
    for (const { left } of await this.#all()) {
      if (await this.#isNeedless(left, root, signal)) await this.#remove(left);
      else kept.push(left);
    }
    for (const left of kept.splice(0, Math.max(0, kept.length - most))) {
      logger.warn("An old folder of a run is removed: newer ones were set aside since.", { run, left, kept: most });
      await this.#remove(left);
    }
  }

  /** A folder that cannot be read is needed. */
  async #isNeedless(left: string, root: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { logger, runId: run } = this.#o;
    try {
      const only = await onlyHere(left, root, signal);
      if (only !== undefined)
        logger.warn("A folder that was set aside has files or commits that the restored one lacks. Check it, then delete it.", {
          run,
          left,
          only,
        });
      return only === undefined;
    } catch (error) {
      if (signal?.aborted === true) throw error;
      const { code, message: reason } = errorRecord(error);
      logger.warn("An old folder of a run cannot be compared with the restored one, and stays.", { run, left, code, reason });
      return false;
    }
  }

  async #remove(left: string): Promise<void> {
    const failure = await removeAll(left);
    if (failure !== undefined) this.#o.logger.warn(failure.trim(), { run: this.#o.runId, left });
  }

  /** The oldest first. */
  async #all(): Promise<readonly { readonly left: string; readonly number: number }[]> {
    const start = `${this.#o.name}.`;
    const names = ((await ifThere(readdir(this.#place))) ?? []).filter((name) => name.startsWith(start));
    const numbers = names.map((name) => Number(name.slice(start.length))).filter(Number.isSafeInteger);
    return numbers.sort((a, b) => a - b).map((number) => ({ number, left: join(this.#place, `${start}${number}`) }));
  }
}
