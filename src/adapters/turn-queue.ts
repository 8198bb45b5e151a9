import { nextMacrotask } from "../kernel/clock.ts";

/**
 * Works on all requests of one turn of the event loop together. TurnQueue.Q1 (`add`) the requests of one turn are one batch, in their order.
 * TurnQueue.Q2 (`#drain`) one batch is worked on at a time; later requests are the next one. TurnQueue.Q3 (`settled`) resolves when nothing waits and
 * no batch is worked on.
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
