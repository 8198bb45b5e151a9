import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { errorRecord } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** Milliseconds for which an answer of the journal counts, because each question is a write; and those for its answer. */
const FRESH = 1_000;
const WITHIN = 2_000;

/**
 * Finds out by a real write whether the journal of a server can write; one without `probe` always can. Owns the last answer.
 *
 * Readiness.W1 (`canWrite`) the journal is asked at most once a second, one question at a time. Readiness.W2 (`canWrite`) one that does not
 * answer in time cannot write. Readiness.W3 (`#asked`) a change of the answer is logged, with the reason.
 */
export class Readiness {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #answer: { readonly at: number; readonly value: Promise<boolean> } | undefined;
  #isAsked = false;
  #could = true;

  constructor(parts: { readonly journal: Journal; readonly clock: Clock; readonly logger: Logger }) {
    ({ journal: this.#journal, clock: this.#clock, logger: this.#logger } = parts);
  }

  async canWrite(): Promise<boolean> {
    const now = this.#clock.now();
    if (this.#answer === undefined || (!this.#isAsked && now - this.#answer.at >= FRESH)) this.#answer = { at: now, value: this.#asked() };
    const { at, value } = this.#answer;
    return trueWithin(this.#clock, Math.max(0, at + WITHIN - now), value);
  }

  async #asked(): Promise<boolean> {
    this.#isAsked = true;
    let reason = "";
    try {
      await this.#journal.probe?.();
    } catch (error) {
      reason = errorRecord(error).message;
    }
    this.#isAsked = false;
    const can = reason === "";
    if (can !== this.#could) {
      if (can) this.#logger.info("The journal can write again.");
      else this.#logger.error("The journal cannot write.", { reason });
    }
    this.#could = can;
    return can;
  }
}

export async function trueWithin(clock: Clock, ms: number, work: Promise<boolean>): Promise<boolean> {
  let cancel = (): void => {};
  const late = new Promise<boolean>((resolve) => (cancel = clock.timer(ms, () => resolve(false))));
  const answer = await Promise.race([work, late]);
  cancel();
  return answer;
}
