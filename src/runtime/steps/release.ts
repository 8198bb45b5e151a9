import { nextMacrotask } from "../../kernel/clock.ts";
import type { StepOutcome } from "../record/role-state.ts";

/**
 * Releases answers in the order they were asked for, a macrotask apart. It owns the time of the last released answer. The steps that follow
 * from one answer are asked for before the next is known, so the order of an activation's steps does not depend on latency.
 *
 * The price: `Promise.race` between steps yields the first one asked; racing work belongs inside one enclosing step.
 *
 * Release.R1 (`inOrder`) an answer is released after all answers that were asked for before it.
 */
export class Release {
  /** Settles when all answers asked for so far are released. Never rejects. */
  #last: Promise<unknown> | undefined;
  #now: number;

  constructor(startedAt: number) {
    this.#now = startedAt;
  }

  /** Milliseconds: the time of the last released answer. */
  get now(): number {
    return this.#now;
  }

  /** Resolves with the answer once it is there and all earlier ones are released. */
  inOrder(answer: Promise<StepOutcome>): Promise<StepOutcome> {
    const before = this.#last;
    const released = this.#releaseAfter(before, answer);
    this.#last = released.catch(() => {});
    // The answer may fail before it is awaited.
    if (before !== undefined) answer.catch(() => {});
    return released;
  }

  async #releaseAfter(before: Promise<unknown> | undefined, answer: Promise<StepOutcome>): Promise<StepOutcome> {
    if (before !== undefined) await before;
    const outcome = await answer;
    await nextMacrotask();
    this.#now = Math.max(this.#now, outcome.at);
    return outcome;
  }
}
