import { abortReason, interruptionBy, onAbort } from "./abort.ts";
import type { ControlError } from "./errors.ts";
import type { Clock } from "./clock.ts";

/** The read side of work that may be cancelled from outside. */
export interface Cancellation {
  readonly ended: { readonly reason: Error } | undefined;
  readonly signal: AbortSignal;
  /** The returned function unsubscribes. */
  onEnd(cancelled: (reason: Error) => void): () => void;
}

export function cancellationOf(given: AbortSignal | Cancellation): Cancellation {
  if ("onEnd" in given) return given;
  return {
    signal: given,
    get ended() {
      return given.aborted ? { reason: abortReason(given) } : undefined;
    },
    onEnd: (cancelled) => onAbort(given, () => cancelled(abortReason(given))),
  };
}

export function throwIfEnded({ ended }: Cancellation): void {
  if (ended !== undefined) throw interruptionBy(ended.reason);
}

/**
 * The open scopes of work below one outer cancellation. It owns the set of open scopes.
 *
 * CancellationScopes.C1 (`begin`) the outer cancellation has one subscriber for all scopes, and none before the first scope.
 * CancellationScopes.C2 (`close`) afterwards the outer cancellation, which may live longer, holds no reference to the scopes.
 */
export class CancellationScopes {
  readonly #open = new Set<CancellationScope>();
  #outer: Pick<Cancellation, "ended" | "onEnd"> | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(outer: AbortSignal | Cancellation | undefined) {
    this.#outer = outer === undefined ? undefined : cancellationOf(outer);
  }

  get ended(): { readonly reason: ControlError } | undefined {
    const ended = this.#outer?.ended;
    return ended && { reason: interruptionBy(ended.reason) };
  }

  close(): void {
    this.#unsubscribe?.();
    this.#outer = { ended: this.#outer?.ended, onEnd: () => () => {} };
  }

  begin(): CancellationScope {
    const scope = new CancellationScope((closed) => this.#open.delete(closed));
    this.#open.add(scope);
    const { ended } = this;
    if (ended !== undefined) scope.end(ended.reason);
    else this.#unsubscribe ??= this.#outer?.onEnd((reason) => this.#endAll(interruptionBy(reason)));
    return scope;
  }

  #endAll(reason: ControlError): void {
    for (const scope of this.#open) scope.end(reason);
  }
}

/**
 * A piece of work that is closed when it is done, or cancelled from outside before. It owns its subscribers, and its signal, which is made
 * on first use.
 *
 * CancellationScope.S1 (`end`) the first reason is kept, and every subscriber is called once.
 */
export class CancellationScope implements Cancellation {
  readonly #leave: ((scope: CancellationScope) => void) | undefined;
  #controller: AbortController | undefined;
  ended: { readonly reason: Error } | undefined;
  #subscribers: Set<(reason: Error) => void> | undefined;

  constructor(leave?: (scope: CancellationScope) => void) {
    this.#leave = leave;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.ended !== undefined) this.#controller.abort(this.ended.reason);
    }
    return this.#controller.signal;
  }

  end(reason: Error): void {
    if (this.ended !== undefined) return;
    this.ended = { reason };
    this.#controller?.abort(reason);
    const subscribers = this.#subscribers ?? [];
    this.#subscribers = undefined;
    for (const cancelled of subscribers) cancelled(reason);
  }

  onEnd(cancelled: (reason: Error) => void): () => void {
    const subscribers = (this.#subscribers ??= new Set());
    subscribers.add(cancelled);
    return () => void subscribers.delete(cancelled);
  }

  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = (this.#subscribers ??= new Set());
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

  close(): void {
    this.#leave?.(this);
  }
}

/**
 * The limit on the time of an activation. It owns one timer.
 *
 * TimeLimit.L1 (`hold`) the time of waiting for a person, or for a model, does not count: the timer is stopped meanwhile.
 * TimeLimit.L2 (`stop`) it fires once, and not after `stop`.
 */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #fire: () => void;
  #left: number;
  #since = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, ms: number, fire: () => void) {
    this.#clock = clock;
    this.#fire = fire;
    this.#left = ms;
    this.#run();
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#halt();
    else this.#run();
  }

  stop(): void {
    this.#halt();
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

  #halt(): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    this.#left = Math.max(0, this.#left - (this.#clock.now() - this.#since));
  }
}
