import { aFunction, aNumber, misfit, type Shape, takes } from "../kernel/argument.ts";
import { type Clock, nextMacrotask } from "../kernel/clock.ts";

const finite: Shape = { says: "a finite number of milliseconds, 0 or more", fits: (value) => Number.isFinite(value) && Number(value) >= 0 };

interface Timer {
  readonly due: number;
  readonly fire: () => void;
}

/**
 * A clock that only a test moves.
 *
 * SimulatedClock.S1 timers fire in order of their due time, then of their creation. SimulatedClock.S2 every ready promise reaction runs
 * before, between and after them. SimulatedClock.S3 while a timer fires, `now()` is its due time. SimulatedClock.S4 calls of `advance` and
 * `advanceToNext` run one after another.
 */
export class SimulatedClock implements Clock {
  #now: number;
  /** In the order they fire. */
  #timers: Timer[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  /** @param start milliseconds since 1970 */
  constructor(start = 0) {
    takes("simulatedClock", "start", start, finite);
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  get pending(): number {
    return this.#timers.length;
  }

  /** Never fires at once: a timer of 0 ms waits for the next `advance`, as a real one waits for the event loop. */
  timer(ms: number, fire: () => void): () => void {
    takes("SimulatedClock.timer", "ms", ms, aNumber);
    takes("SimulatedClock.timer", "fire", fire, aFunction);
    const timer = { due: this.#now + (ms > 0 ? ms : 0), fire };
    const later = this.#timers.findIndex((other) => other.due > timer.due);
    this.#timers.splice(later === -1 ? this.#timers.length : later, 0, timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves time by `ms` and fires what comes due. Rejects with what a timer threw. @throws UsageError `ARGUMENT_INVALID` */
  advance(ms: number): Promise<void> {
    if (!finite.fits(ms)) return Promise.reject(misfit("ARGUMENT_INVALID", "SimulatedClock.advance", "ms", ms, finite));
    return this.#afterOthers(async () => {
      const end = this.#now + ms;
      await nextMacrotask();
      while (await this.#fireNext(end));
      this.#now = end;
    });
  }

  /** Moves time on to the next timer and fires it; false when none waits. */
  advanceToNext(): Promise<boolean> {
    return this.#afterOthers(async () => {
      await nextMacrotask();
      return this.#fireNext(Number.MAX_VALUE);
    });
  }

  async #fireNext(end: number): Promise<boolean> {
    const next = this.#timers[0];
    if (next === undefined || next.due > end) return false;
    this.#timers.shift();
    this.#now = next.due;
    next.fire();
    await nextMacrotask();
    return true;
  }

  #afterOthers<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

/**
 * Starts at `start` (default 0) milliseconds since 1970.
 *
 * @example
 * import { simulatedClock } from "troupe/testing";
 *
 * console.log(simulatedClock(1_000).now()); // 1000
 */
export function simulatedClock(start = 0): SimulatedClock {
  return new SimulatedClock(start);
}
