import { abortReason } from "./abort.ts";
import type { ControlError } from "./errors.ts";

/**
 * The spans of work under way below one signal. It owns which are open; one listener on the signal serves them all, because a
 * listener and a signal for every span would cost more than most spans do.
 */
export class Lifetimes {
  readonly #open = new Set<Lifetime>();
  readonly #signal: AbortSignal | undefined;
  readonly #endAll: () => void;
  #ended: { readonly reason: ControlError } | undefined;

  /** @param signal without it spans end by themselves alone */
  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#endAll = (): void => {
      if (signal === undefined) return;
      this.#ended = { reason: abortReason(signal) };
      for (const lifetime of this.#open) lifetime.end(this.#ended.reason);
    };
    if (signal?.aborted === true) this.#endAll();
    else signal?.addEventListener("abort", this.#endAll, { once: true });
  }

  /** Why the signal ended them all, if it did. What is over in the turn in which it began asks this, and needs no span. */
  get ended(): { readonly reason: ControlError } | undefined {
    return this.#ended;
  }

  /** Lets go of the signal, which would keep all of this alive as long as it lives. Spans begun later end by themselves alone. */
  close(): void {
    this.#signal?.removeEventListener("abort", this.#endAll);
  }

  /** Begins a span. It must be closed. */
  begin(): Lifetime {
    const lifetime = new Lifetime((closed) => this.#open.delete(closed));
    this.#open.add(lifetime);
    if (this.#signal?.aborted === true) lifetime.end(abortReason(this.#signal));
    return lifetime;
  }
}

/** A span of work that closes when it is done, or is ended from outside before. Its signal is made when somebody asks for it. */
export class Lifetime {
  readonly #leave: (lifetime: Lifetime) => void;
  #controller: AbortController | undefined;
  #ended: { readonly reason: Error } | undefined;
  #waiting: Set<(reason: Error) => void> | undefined;

  constructor(leave: (lifetime: Lifetime) => void) {
    this.#leave = leave;
  }

  /** Why it was ended from outside, if it was. */
  get ended(): { readonly reason: Error } | undefined {
    return this.#ended;
  }

  /** Aborts when the span is ended from outside. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  /** Ends it from outside. The first reason counts. */
  end(reason: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#controller?.abort(reason);
    for (const reject of this.#waiting ?? []) reject(reason);
    this.#waiting = undefined;
  }

  /** Waits for work of the span, but not longer than the span. Any number may wait at once. */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = (this.#waiting ??= new Set());
      if (this.#ended === undefined) waiting.add(reject);
      else reject(this.#ended.reason);
      work.then(
        (value) => {
          waiting.delete(reject);
          resolve(value);
        },
        (error: Error) => {
          waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** The work is done. */
  close(): void {
    this.#leave(this);
  }
}
