import type { Clock } from "./clock.ts";

/**
 * The time an activation may take. It owns one timer.
 *
 * L1 time that is spent waiting for a person does not count: the limit stands still meanwhile. L2 it fires once, and not after `stop`.
 */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #fire: () => void;
  #left: number;
  #since = 0;
  #cancel: (() => void) | undefined;

  /** @param ms milliseconds from now */
  constructor(clock: Clock, ms: number, fire: () => void) {
    this.#clock = clock;
    this.#fire = fire;
    this.#left = ms;
    this.#run();
  }

  /** Lets the limit stand still, or run on. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#stand();
    else this.#run();
  }

  /** The work is done. */
  stop(): void {
    this.#stand();
    this.#left = Infinity;
  }

  #run(): void {
    if (this.#cancel !== undefined || this.#left === Infinity) return;
    this.#since = this.#clock.now();
    this.#cancel = this.#clock.timer(this.#left, () => {
      this.stop();
      this.#fire();
    });
  }

  #stand(): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    this.#left = Math.max(0, this.#left - (this.#clock.now() - this.#since));
  }
}
