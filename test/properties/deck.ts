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
  readonly #whenEmpty: () => Promise<unknown> | void;
  #waiting: (() => void)[] = [];

  /** @param whenEmpty done when nobody waits for a card: for those who wait for time to pass */
  constructor(random: Random, whenEmpty: () => Promise<unknown> | void = () => {}) {
    this.#random = random;
    this.#whenEmpty = whenEmpty;
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
      if (this.#waiting.length === 0) await this.#whenEmpty();
      else this.#deal();
    }
    return work;
  }

  #deal(): void {
    const place = Math.floor(this.#random() * this.#waiting.length);
    const [card] = this.#waiting.splice(place, 1);
    card?.();
  }
}
