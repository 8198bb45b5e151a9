import { onAbort } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** Milliseconds for which a run works or waits alone: enough for one call of a model. It also ends a wait for an effect of the same worker. */
export const MAX_ALONE = 600_000;

export interface Slot {
  /** Lets others work beside a run that was alone. */
  share(): void;
  leave(): void;
}

export interface SlotOptions {
  readonly isAlone: boolean;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly isAlone: boolean;
  end(slot?: Slot): void;
}

/**
 * Admits runs to a worker. A run that may kill the process runs alone, so its death is not counted against other runs. It owns the queue of
 * waiting runs, first in, first out.
 *
 * Isolation.A1 (`#admit`) no run is at work beside one that is alone.
 * Isolation.A2 (`enter`) a run that is not admitted in time leaves the queue, and the next one is tried.
 * Isolation.A3 (`#slot`) a run shares its slot after `MAX_ALONE`.
 */
export class Isolation {
  readonly #clock: Clock;
  #line: Waiting[] = [];
  #atWork = 0;
  #isTaken = false;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#line.splice(0)) waiting.end();
  }

  async enter({ isAlone, limit, signal }: SlotOptions): Promise<Slot | undefined> {
    if (signal.aborted || this.#isClosed) return undefined;
    const over = new AbortController();
    let slot: Slot | undefined;
    const waiting: Waiting = {
      isAlone,
      end(given) {
        slot = given;
        over.abort();
      },
    };
    this.#line.push(waiting);
    this.#admit();
    const letGo = onAbort(signal, () => over.abort());
    // It has a slot already, or gets one during the wait.
    if (!over.signal.aborted) await sleep(this.#clock, limit, over.signal).catch(() => undefined);
    letGo();
    if (slot === undefined) {
      this.#line = this.#line.filter((one) => one !== waiting);
      this.#admit();
    }
    return slot;
  }

  #admit(): void {
    for (let [first] = this.#line; first !== undefined; [first] = this.#line) {
      if (this.#isTaken || (first.isAlone && this.#atWork > 0)) return;
      this.#line.shift();
      this.#atWork += 1;
      this.#isTaken = first.isAlone;
      first.end(this.#slot(first.isAlone));
    }
  }

  #slot(isAlone: boolean): Slot {
    let isMine = isAlone;
    let hasLeft = false;
    const share = (): void => {
      if (!isMine) return;
      isMine = false;
      cancelTimer();
      this.#isTaken = false;
      this.#admit();
    };
    const cancelTimer = isAlone ? this.#clock.timer(MAX_ALONE, share) : (): void => undefined;
    return {
      share,
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        this.#atWork -= 1;
        share();
        this.#admit();
      },
    };
  }
}

/** Events at the end of a record that are searched for deaths: a run without an answer adds few. */
const TAIL = 1_000;

/** True for a run not at rest whose owner died and that had no answer since. One recorded death may be two: only the next owner knows of the last. */
export async function mayEndProcess(journal: Journal, runId: string, events: number): Promise<boolean> {
  let deaths = 0;
  for await (const event of journal.read(runId, Math.max(0, events - TAIL))) {
    if (event.type === "step.ended" || event.type === "act.ended") deaths = 0;
    else if (event.type === "run.resumed" && event.cause === "died") deaths += 1;
  }
  return deaths > 0;
}
