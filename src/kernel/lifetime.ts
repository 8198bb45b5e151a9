import { abortReason, interruptionBy, onAbort } from "./abort.ts";
import type { ControlError } from "./errors.ts";
import type { Clock } from "./clock.ts";

/** What may be ended from outside, as those see it who stop then. A signal is made for who needs one: it costs more than most work below it. */
export interface Ending {
  /** Why it was ended, if it was. */
  readonly ended: { readonly reason: Error } | undefined;
  /** Aborts when it is ended. */
  readonly signal: AbortSignal;
  /** Calls `heard` when it is ended from now on; the returned function stops that. */
  onEnd(heard: (reason: Error) => void): () => void;
}

/** What ends when a signal aborts. What can be ended is given back as it is. */
export function endingOf(given: AbortSignal | Ending): Ending {
  return "onEnd" in given ? given : new SignalledEnding(given);
}

class SignalledEnding implements Ending {
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  get ended(): { readonly reason: Error } | undefined {
    return this.signal.aborted ? { reason: abortReason(this.signal) } : undefined;
  }

  onEnd(heard: (reason: Error) => void): () => void {
    return onAbort(this.signal, () => heard(abortReason(this.signal)));
  }
}

/** @throws ControlError when it was ended. */
export function throwIfEnded({ ended }: Ending): void {
  if (ended !== undefined) throw interruptionBy(ended.reason);
}

/**
 * The spans of work under way below one that holds them all. It owns which are open, and hears for all of them together, once there is one.
 */
export class Lifetimes {
  readonly #open = new Set<Lifetime>();
  /** What ends them all; once these are closed, how it stood then. */
  #above: Above | undefined;
  #unheard: (() => void) | undefined;

  /** @param above ends them all; without it they end by themselves alone */
  constructor(above: AbortSignal | Ending | undefined) {
    this.#above = above === undefined ? undefined : endingOf(above);
  }

  /** Why they were all ended, if they were. What is over in the turn in which it began asks this, and needs no span. */
  get ended(): { readonly reason: ControlError } | undefined {
    const ended = this.#above?.ended;
    return ended && { reason: interruptionBy(ended.reason) };
  }

  /** Lets go of what is above, which would keep all of this alive as long as it lives. Spans begun later end by themselves alone. */
  close(): void {
    this.#unheard?.();
    this.#above = new PastEnding(this.#above?.ended);
  }

  /** Begins a span. It must be closed. */
  begin(): Lifetime {
    const lifetime = new Lifetime((closed) => this.#open.delete(closed));
    this.#open.add(lifetime);
    const { ended } = this;
    if (ended !== undefined) lifetime.end(ended.reason);
    else this.#unheard ??= this.#above?.onEnd((reason) => this.#endAll(interruptionBy(reason)));
    return lifetime;
  }

  #endAll(reason: ControlError): void {
    for (const lifetime of this.#open) lifetime.end(reason);
  }
}

/** What spans ask of what is above them. */
type Above = Pick<Ending, "ended" | "onEnd">;

/** How it stood when nobody heard of it any more. */
class PastEnding implements Above {
  readonly ended: Ending["ended"];

  constructor(ended: Ending["ended"]) {
    this.ended = ended;
  }

  onEnd(): () => void {
    return () => {};
  }
}

/** A span of work that closes when it is done, or is ended from outside before. Its signal is made when somebody asks for it. */
export class Lifetime implements Ending {
  readonly #leave: ((lifetime: Lifetime) => void) | undefined;
  #controller: AbortController | undefined;
  /** Why it was ended from outside, if it was: looked at every turn, and written here alone. */
  ended: { readonly reason: Error } | undefined;
  #heard: Set<(reason: Error) => void> | undefined;

  /** @param leave told when it is closed */
  constructor(leave?: (lifetime: Lifetime) => void) {
    this.#leave = leave;
  }

  /** Aborts when the span is ended from outside. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.ended !== undefined) this.#controller.abort(this.ended.reason);
    }
    return this.#controller.signal;
  }

  /** Ends it from outside. The first reason counts. */
  end(reason: Error): void {
    if (this.ended !== undefined) return;
    this.ended = { reason };
    this.#controller?.abort(reason);
    const heard = this.#heard;
    this.#heard = undefined;
    if (heard !== undefined) for (const each of heard) each(reason);
  }

  onEnd(heard: (reason: Error) => void): () => void {
    const all = (this.#heard ??= new Set());
    all.add(heard);
    return () => void all.delete(heard);
  }

  /** Waits for work of the span, but not longer than the span. Any number may wait at once. */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = (this.#heard ??= new Set());
      if (this.ended === undefined) waiting.add(reject);
      else reject(this.ended.reason);
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
    this.#leave?.(this);
  }
}

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
