import { nextMacrotask } from "../kernel/clock.ts";

/**
 * Collects what is asked in one turn of the event loop and works on it together, one batch after the other. What is asked during a batch
 * waits for the next one. It owns what waits; its callers bound that.
 */
export class TurnQueue<T> {
  readonly #work: (batch: readonly T[]) => Promise<void>;
  #waiting: T[] = [];
  #running: Promise<void> | undefined;

  /** @param work must not reject */
  constructor(work: (batch: readonly T[]) => Promise<void>) {
    this.#work = work;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.#running ??= this.#drain();
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextMacrotask();
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#work(batch);
    }
    this.#running = undefined;
  }
}
