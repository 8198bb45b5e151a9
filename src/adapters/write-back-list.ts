import type { Clock } from "../kernel/clock.ts";

/** Most keys of the list. A key that finds no room is not lost: its next read compares both copies again. */
const MOST_KEYS = 10_000;

interface WriteBackParts {
  readonly clock: Clock;
  /** Returns the milliseconds until the next try. */
  readonly wait: () => number;
  /** Writes one entry back. @returns false when it has to be tried again */
  readonly write: (key: string) => Promise<boolean>;
}

/**
 * The keys of the entries that a remote cache missed. It owns the keys, the timer of the next try, and the try under way.
 *
 * WriteBackList.L1 (`#startIn`) there is at most one timer or one try under way, and while there are keys there is one of them. After `stop`
 * there is none.
 * WriteBackList.L2 (`writeAll`) a try removes only the write that it has made: a newer write of the same key stays.
 */
export class WriteBackList {
  readonly #parts: WriteBackParts;
  /** Each key with a mark of its latest write. */
  readonly #keys = new Map<string, symbol>();
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #isStopped = false;

  constructor(parts: WriteBackParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#keys.size;
  }

  add(key: string): void {
    if (this.#keys.size >= MOST_KEYS && !this.#keys.has(key)) return;
    this.#keys.set(key, Symbol("write"));
    this.#startIn(this.#parts.wait());
  }

  /** Makes the next try at once. */
  startNow(): void {
    if (this.#keys.size === 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#startIn(0);
  }

  /** Cancels the timer and waits for the try under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#writing;
  }

  /** Writes the entries back, up to the first that fails: the others would fail too. */
  async writeAll(): Promise<void> {
    for (const [key, mark] of [...this.#keys]) {
      if (!(await this.#parts.write(key).catch(() => false))) return;
      if (this.#keys.get(key) === mark) this.#keys.delete(key);
    }
  }

  #startIn(ms: number): void {
    if (this.#cancelTimer !== undefined || this.#writing !== undefined || this.#isStopped) return;
    this.#cancelTimer = this.#parts.clock.timer(ms, () => {
      this.#cancelTimer = undefined;
      this.#writing = this.writeAll().finally(() => {
        this.#writing = undefined;
        if (this.#keys.size > 0) this.#startIn(this.#parts.wait());
      });
    });
  }
}
