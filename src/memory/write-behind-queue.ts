import { QueueFullError } from "../kernel/errors.ts";

/** Options of a {@link WriteBehindQueue}. */
export interface WriteBehindOptions<C> {
  /** Most changes that may wait. */
  readonly limit: number;
  /** Most additions that are stored together. Other changes are stored alone. */
  readonly maxBatch: number;
  readonly store: (changes: readonly C[]) => Promise<void>;
  /** Returns true when changes were stored although `store` failed. Default: they were not. */
  readonly isStored?: (changes: readonly C[]) => boolean;
  /** Called when storing in the background has failed. */
  readonly onError: ((error: unknown) => void) | undefined;
}

/**
 * Changes that are stored in the background, in the order they were made.
 *
 * Owns the changes that wait. WriteBehindQueue.Q1 (`#drain`) a change leaves the queue after it was stored; after a failure it stays, and the next
 * change or `flush` tries again. WriteBehindQueue.Q2 (`#batch`) changes are stored in order, and additions made together are stored together.
 */
export class WriteBehindQueue<C extends { readonly type: string }> {
  readonly #options: WriteBehindOptions<C>;
  #waiting: C[] = [];
  #work: Promise<void> | undefined;

  constructor(options: WriteBehindOptions<C>) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.size >= this.#options.limit;
  }

  /** The changes that wait, in order. */
  get changes(): readonly C[] {
    return this.#waiting;
  }

  push(change: C): void {
    this.#waiting.push(change);
    if (this.#work !== undefined) return;
    this.#work = this.#drain();
    this.#work.catch((error: unknown) => this.#options.onError?.(error));
  }

  /** @throws QueueFullError */
  assertRoom(): void {
    if (this.isFull) throw new QueueFullError(this.#options.limit);
  }

  /** Stores every change that waits. Tries again what failed in the background. @throws the error of `store` */
  async flush(): Promise<void> {
    await this.#work?.catch(() => {});
    while (this.#waiting.length > 0) await (this.#work ??= this.#drain());
  }

  async #drain(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    try {
      // Changes made in the same turn are stored together.
      await Promise.resolve();
      while (this.#waiting.length > 0) {
        const changes = this.#batch();
        try {
          await this.#options.store(changes);
        } catch (error) {
          if (this.#options.isStored?.(changes) !== true) throw error;
          failure ??= { error };
        }
        this.#waiting.splice(0, changes.length);
      }
    } finally {
      this.#work = undefined;
    }
    if (failure !== undefined) throw failure.error;
  }

  /** Returns the first additions, or the first other change. */
  #batch(): readonly C[] {
    const end = this.#waiting.findIndex(({ type }) => type !== "add");
    return this.#waiting.slice(0, Math.max(1, Math.min(end === -1 ? this.#waiting.length : end, this.#options.maxBatch)));
  }
}
