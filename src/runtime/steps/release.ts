import { nextMacrotask } from "../../kernel/clock.ts";
import type { StepOutcome } from "../record/role-state.ts";

/**
 * Hands out answers in the order they were asked for, a macrotask apart, so that what follows from one answer has been asked
 * before the next is known: the order of an activation's steps then does not depend on how fast they are.
 *
 * The price: `Promise.race` between steps yields the first one asked; what races belongs inside one enclosing step.
 */
export class Release {
  /** Settles, and never rejects, when all asked so far are out. */
  #last: Promise<unknown> | undefined;
  #now: number;

  constructor(startedAt: number) {
    this.#now = startedAt;
  }

  /** Milliseconds: when the last released answer came. */
  get now(): number {
    return this.#now;
  }

  /** Resolves with the answer when it is there and all asked before it are out. */
  inOrder(answer: Promise<StepOutcome>): Promise<StepOutcome> {
    const before = this.#last;
    const released = this.#releaseAfter(before, answer);
    this.#last = released.catch(() => {});
    // Before it is waited for it may have failed.
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
