import type { Clock } from "./clock.ts";
import { AbortedError, ControlError, TimeoutError } from "./errors.ts";

export function abortReason(signal: AbortSignal): ControlError {
  return interruptionBy(signal.reason);
}

export function interruptionBy(reason: unknown): ControlError {
  return reason instanceof ControlError ? reason : new AbortedError(undefined, reason);
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortReason(signal);
}

/** Waits for `work` until the signal aborts. Pass the signal to the work too: it is not stopped here. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      work.catch(() => {});
      return reject(abortReason(signal));
    }
    const letGo = onAbort(signal, () => reject(abortReason(signal)));
    work.then(
      (value) => {
        letGo();
        resolve(value);
      },
      (error: Error) => {
        letGo();
        reject(error);
      },
    );
  });
}

const joined = new WeakMap<AbortSignal, { readonly other: AbortSignal; readonly both: AbortSignal }>();

/** The last one is kept, because the calls of a run ask for the same pair. */
export function eitherSignal(one: AbortSignal, other: AbortSignal): AbortSignal {
  if (one === other) return one;
  const known = joined.get(one);
  if (known?.other === other) return known.both;
  const both = AbortSignal.any([one, other]);
  joined.set(one, { other, both });
  return both;
}

export interface StopSignal {
  readonly signal: AbortSignal;
  readonly stop: (reason?: string) => void;
  readonly end: () => void;
}

/** Returns a signal that aborts when `outer` does, or by `stop`. `end` leaves the outer signal, which may live longer. */
export function stopSignal(outer: AbortSignal | undefined): StopSignal {
  const own = new AbortController();
  const end = abortWith(own, outer);
  return { signal: own.signal, stop: (reason) => own.abort(new AbortedError(reason)), end };
}

/**
 * Aborts `own` when `outer` does; the returned function leaves the outer signal, which may live longer. Node never forgets a signal of
 * `AbortSignal.any` while a source of it lives, and one with a listener not even then.
 */
export function abortWith(own: AbortController, outer: AbortSignal | undefined): () => void {
  if (outer === undefined) return () => {};
  if (outer.aborted) own.abort(outer.reason);
  return onAbort(outer, () => own.abort(outer.reason));
}

/** @throws TimeoutError naming `what`, even if the work ignores its signal; ControlError when the outer signal aborts */
export async function withTimeout<T>(
  clock: Clock,
  ms: number,
  what: string,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  throwIfAborted(outer);
  const limit = new AbortController();
  const late = new TimeoutError(what, ms);
  const cancel = clock.timer(ms, () => limit.abort(late));
  const letGo = abortWith(limit, outer);
  try {
    return await untilAborted(work(limit.signal), limit.signal);
  } catch (error) {
    if (limit.signal.aborted && !outer.aborted) throw late;
    throw error;
  } finally {
    letGo();
    cancel();
  }
}

interface AbortCallbacks {
  readonly all: Set<() => void>;
  readonly notify: () => void;
}

const waiting = new WeakMap<AbortSignal, AbortCallbacks>();

/**
 * Calls `aborted` when the signal aborts; the returned function unsubscribes it. All callbacks of a signal share one listener, because Node
 * warns of more than ten, and a derived signal for each would cost more than most waits.
 */
export function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  const { all, notify } = waiting.get(signal) ?? beginWaiting(signal);
  all.add(aborted);
  return () => {
    if (!all.delete(aborted) || all.size > 0) return;
    signal.removeEventListener("abort", notify);
    waiting.delete(signal);
  };
}

function beginWaiting(signal: AbortSignal): AbortCallbacks {
  const all = new Set<() => void>();
  const notify = (): void => {
    for (const aborted of all) aborted();
  };
  waiting.set(signal, { all, notify });
  signal.addEventListener("abort", notify, { once: true });
  return { all, notify };
}
