import { QueueFullError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";

export type StoreChange =
  | { readonly type: "add"; readonly message: Message }
  | { readonly type: "delete"; readonly id: string }
  | { readonly type: "older"; readonly than: number }
  | { readonly type: "clear" };

/** Limit on the additions that are stored together. */
const MAX_BATCH = 1_000;

/**
 * Changes of a memory that are stored in the background.
 *
 * Owns the changes that wait. WriteBehind.Q1 (`#drain`) a change leaves the queue after it was stored; after a failure it stays, and the next
 * change or `flush` tries again. WriteBehind.Q2 (`#batch`) changes are stored in order, and additions made together are stored together.
 */
export class WriteBehind {
  readonly #store: (changes: readonly StoreChange[]) => Promise<unknown>;
  readonly #limit: number;
  readonly #onError: (error: unknown) => void;
  readonly #waiting: StoreChange[] = [];
  #work: Promise<void> | undefined;

  /** @param store stores consecutive additions, or one other change */
  constructor(store: (changes: readonly StoreChange[]) => Promise<unknown>, limit: number, onError: (error: unknown) => void) {
    this.#store = store;
    this.#limit = limit;
    this.#onError = onError;
  }

  get size(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.size >= this.#limit;
  }

  get changes(): readonly StoreChange[] {
    return this.#waiting;
  }

  push(change: StoreChange): void {
    this.#waiting.push(change);
    if (this.#work !== undefined) return;
    this.#work = this.#drain();
    this.#work.catch(this.#onError);
  }

  assertRoom(): void {
    if (this.isFull) throw new QueueFullError(this.#limit);
  }

  async flush(): Promise<void> {
    await this.#work?.catch(() => {});
    while (this.size > 0) await (this.#work ??= this.#drain());
  }

  async #drain(): Promise<void> {
    try {
      // Changes made in the same turn are stored together.
      await Promise.resolve();
      while (this.size > 0) {
        const batch = this.#batch();
        await this.#store(batch);
        this.#waiting.splice(0, batch.length);
      }
    } finally {
      this.#work = undefined;
    }
  }

  #batch(): readonly StoreChange[] {
    const batch = this.#waiting.slice(0, MAX_BATCH);
    const additions = batch.findIndex(({ type }) => type !== "add");
    return additions === -1 ? batch : batch.slice(0, Math.max(1, additions));
  }
}
