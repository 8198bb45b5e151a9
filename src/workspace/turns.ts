/**
 * Lets one piece of work run at a time, in the order asked. It has no bound: whoever asks waits for the answer, so there are never more
 * waiting than there are callers.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after everything asked before it has ended, well or badly. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
