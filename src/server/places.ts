import { onAbort } from "../kernel/abort.ts";
import { UsageError } from "../kernel/errors.ts";

/**
 * A bound on what a tenant has at once. It owns the number of taken places, and those who wait for one.
 *
 * Places.P1 (`take`) no more places are taken than the bound, unless one owner alone needs more. Places.P2 (`take`) a place is given back once, whatever its owner does.
 * Places.P3 (`free`) when a place is given back, the one who waits longest hears of it.
 * Places.P4 (`passOn`) A waiter that was woken and took no place wakes the next one.
 */
export class Places {
  readonly #most: number;
  readonly #code: string;
  readonly #what: string;
  readonly #then: string;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  /** @param what the things with places, such as "open streams" @param then the advice to a client that gets none */
  constructor(most: number, code: string, what: string, then: string) {
    this.#most = most;
    this.#code = code;
    this.#what = what;
    this.#then = then;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes places. The returned function gives them back. @param besides places that others have taken @throws UsageError with the code of the places */
  take(places: number = 1, besides: number = 0): () => void {
    const taken = this.#taken + besides;
    if (taken > 0 && taken + places > this.#most) {
      const text = `Expected at most ${this.#most} ${this.#what}, got ${places === 1 ? "one" : places} more. ${this.#then}`;
      throw new UsageError(this.#code, text, { data: { limit: this.#most } });
    }
    this.#taken += places;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken -= places;
      this.passOn();
    };
  }

  /** Tells the one who waits longest, while there is a place. */
  passOn(): void {
    if (this.#taken >= this.#most) return;
    const [first] = this.#waiting;
    first?.();
  }

  /** Resolves when there may be a place, or when the signal aborts. */
  free(signal: AbortSignal): Promise<void> {
    if (this.#taken < this.#most || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end);
        letGo();
        resolve();
      };
      this.#waiting.add(end);
      const letGo = onAbort(signal, end);
    });
  }
}
