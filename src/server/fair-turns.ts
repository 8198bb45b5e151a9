import { type Clock, nextMacrotask } from "../kernel/clock.ts";

/** Bytes of requests that work at the same time, where there is more than one. */
const AT_WORK = 256 * 1024;
/** Bytes that a request counts for at least: a short one takes time too. */
const LEAST = 16 * 1024;
/** Milliseconds after which others begin although a request still works: it may wait for a run, a team or a person. */
const LONGEST_TURN = 250;

/** Turns of the event loop between two turns of requests. Each may accept one connection only, and takes microseconds when there is none. */
const BETWEEN = 50;

/** The turn of a request. */
export interface Turn {
  readonly isOver: boolean;
  end(): void;
}

interface Waiting {
  readonly size: number;
  readonly begin: () => void;
}

/**
 * The order in which requests with a body are worked on, so that those of one tenant do not hold up those of another. Owns the queues.
 *
 * FairTurns.F1 (`#next`) tenants that wait have turns one after the other, however many requests each has. FairTurns.F2 (`#next`) requests
 * at work have at most {@link AT_WORK} bytes together, or there is one. FairTurns.F3 (`#ended`) between the end of a turn and the next one the
 * event loop turns {@link BETWEEN} times, so that everything else gets its time. FairTurns.F4 (`take`) a turn ends once: by its owner, or by its time.
 */
export class FairTurns {
  readonly #clock: Clock;
  /** By tenant. The first has the next turn. */
  readonly #waiting = new Map<string, Waiting[]>();
  #atWork = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when it is the request's turn. */
  take(tenant: string, bytes: number): Promise<Turn> {
    const size = Math.max(bytes, LEAST);
    return new Promise((resolve) => {
      const begin = (): void => {
        this.#atWork += size;
        let isOver = false;
        const end = (): void => {
          if (isOver) return;
          isOver = true;
          cancel();
          void this.#ended(size);
        };
        const cancel = this.#clock.timer(LONGEST_TURN, end);
        resolve({
          get isOver() {
            return isOver;
          },
          end,
        });
      };
      const queue = this.#waiting.get(tenant) ?? [];
      queue.push({ size, begin });
      this.#waiting.set(tenant, queue);
      this.#next();
    });
  }

  async #ended(size: number): Promise<void> {
    for (let n = 0; n < BETWEEN; n += 1) await nextMacrotask();
    this.#atWork -= size;
    this.#next();
  }

  #next(): void {
    for (const [tenant, queue] of this.#waiting) {
      const [first] = queue;
      if (first === undefined || (this.#atWork > 0 && this.#atWork + first.size > AT_WORK)) return;
      queue.shift();
      // Behind those of the others: this loop comes to it again.
      this.#waiting.delete(tenant);
      if (queue.length > 0) this.#waiting.set(tenant, queue);
      first.begin();
    }
  }
}
