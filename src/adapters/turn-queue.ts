import { nextMacrotask } from "../kernel/clock.ts";

/**
 * Collects what is asked in one turn of the event loop, and works on it together. It owns what waits; its callers bound that.
 *
 * TurnQueue.Q1 (`add`) what is asked in one turn is one batch, in the order asked. TurnQueue.Q2 (`#drain`) one batch is worked on at a time;
 * what is asked meanwhile is the next one. TurnQueue.Q3 (`settled`) it resolves when nothing waits and no batch is worked on.
 */
export class TurnQueue<T> {
  readonly #work: (batch: readonly T[]) => Promise<void>;
  #waiting: T[] = [];
  #running: Promise<void> | undefined;

  constructor(work: (batch: readonly T[]) => Promise<void>) {
    this.#work = work;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.#running ??= this.#drain();
  }

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
