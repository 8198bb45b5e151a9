import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { Random } from "../../src/kernel/random.ts";

/** How many macrotasks without anything new count as: nobody can go on without a card. */
const QUIET = 4;

/**
 * Latency without time: whoever waits is dealt a card in an order that chance decides, and only when nobody can go on otherwise or chance
 * says so.
 */
export class Deck {
  readonly #random: Random;
  #waiting: (() => void)[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Resolves when the card is dealt. */
  wait(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** Deals until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => void (isDone = true);
    work.then(done, done);
    while (!isDone) {
      const patience = Math.floor(this.#random() * QUIET);
      for (let i = 0; i <= patience; i += 1) await nextMacrotask();
      this.#deal();
    }
    return work;
  }

  #deal(): void {
    const place = Math.floor(this.#random() * this.#waiting.length);
    const [card] = this.#waiting.splice(place, 1);
    card?.();
  }
}
