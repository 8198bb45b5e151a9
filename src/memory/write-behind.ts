import { QueueFullError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";

/** A change of a memory that is to be stored. */
export type StoreChange =
  | { readonly type: "add"; readonly message: Message }
  | { readonly type: "delete"; readonly id: string }
  | { readonly type: "older"; readonly than: number }
  | { readonly type: "clear" };

/** Stores the changes of a memory. */
export interface ChangeTarget {
  add(messages: readonly Message[]): Promise<unknown>;
  delete(id: string): Promise<unknown>;
  deleteOlderThan?(timestampMs: number): Promise<unknown>;
  clear?(): Promise<unknown>;
  /** Returns true for messages that were stored although `add` failed. */
  holds?(messages: readonly Message[]): boolean;
}

/** Limit on the additions that are stored together. */
const MAX_BATCH = 1_000;

/**
 * Changes of a memory that are stored in the background.
 *
 * Owns the changes that wait. WriteBehind.Q1 (`#drain`) a change leaves the queue after it was stored; after a failure it stays, and the next
 * change or `flush` tries again. WriteBehind.Q2 (`#batch`) changes are stored in order, and additions made together are stored together.
 */
export class WriteBehind {
  readonly #target: ChangeTarget;
  readonly #limit: number;
  readonly #onError: (error: unknown) => void;
  #waiting: StoreChange[] = [];
  #work: Promise<void> | undefined;

  constructor(target: ChangeTarget, limit: number, onError: (error: unknown) => void) {
    this.#target = target;
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
    while (this.#waiting.length > 0) await (this.#work ??= this.#drain());
  }

  async #drain(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    try {
      // Changes made in the same turn are stored together.
      await Promise.resolve();
      for (let change = this.#waiting[0]; change !== undefined; change = this.#waiting[0]) {
        const messages = this.#batch();
        try {
          await this.#store(change, messages);
        } catch (error) {
          if (messages.length === 0 || this.#target.holds?.(messages) !== true) throw error;
          failure ??= { error };
        }
        this.#waiting.splice(0, Math.max(1, messages.length));
      }
    } finally {
      this.#work = undefined;
    }
    if (failure !== undefined) throw failure.error;
  }

  #batch(): readonly Message[] {
    const messages: Message[] = [];
    for (const change of this.#waiting) {
      if (change.type !== "add" || messages.length === MAX_BATCH) break;
      messages.push(change.message);
    }
    return messages;
  }

  async #store(change: StoreChange, messages: readonly Message[]): Promise<void> {
    if (change.type === "add") await this.#target.add(messages);
    else if (change.type === "delete") await this.#target.delete(change.id);
    else if (change.type === "older") await this.#target.deleteOlderThan?.(change.than);
    else await this.#target.clear?.();
  }
}
