import type { Clock } from "./clock.ts";
import { AbortedError, ControlError, TimeoutError } from "./errors.ts";

/** Returns the error of an aborted signal: a control error given as its reason, else an AbortedError around the reason. */
export function abortReason(signal: AbortSignal): ControlError {
  return interruptionBy(signal.reason);
}

/** Returns the interruption of a reason: the reason itself if it is a control error, else an AbortedError. */
export function interruptionBy(reason: unknown): ControlError {
  return reason instanceof ControlError ? reason : new AbortedError(undefined, reason);
}

/** @throws ControlError when the signal has aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortReason(signal);
}

/**
 * Waits for `work`, but no longer than the signal allows. The work itself is not stopped: pass it the signal too.
 *
 * @throws ControlError when the signal aborts first.
 */
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

/** The signal that was last made of a signal and another. */
const joined = new WeakMap<AbortSignal, { readonly other: AbortSignal; readonly both: AbortSignal }>();

/**
 * Returns a signal that aborts when one of two does. The last one of a pair is reused, because the calls of a run ask for the same pair.
 */
export function eitherSignal(one: AbortSignal, other: AbortSignal): AbortSignal {
  if (one === other) return one;
  const known = joined.get(one);
  if (known?.other === other) return known.both;
  const both = AbortSignal.any([one, other]);
  joined.set(one, { other, both });
  return both;
}

/** The signal of a run that can be stopped by its handle. */
export interface StopSignal {
  /** Aborts when the outer signal does, or with an AbortedError by `stop`. */
  readonly signal: AbortSignal;
  readonly stop: (reason?: string) => void;
  /** Leaves the outer signal, which may live longer. */
  readonly end: () => void;
}

/** Returns a signal that aborts when `outer` does, or when it is told to stop. */
export function stopSignal(outer: AbortSignal | undefined): StopSignal {
  const own = new AbortController();
  if (outer?.aborted === true) own.abort(outer.reason);
  const end = outer === undefined ? (): void => {} : onAbort(outer, () => own.abort(outer.reason));
  return { signal: own.signal, stop: (reason) => own.abort(new AbortedError(reason)), end };
}

/**
 * Runs `work` with a signal that aborts when the outer one does or after `ms`.
 *
 * @throws TimeoutError naming `what` when the time is up, even if the work ignores its signal.
 * @throws ControlError when the outer signal aborts; the work does not begin if it has aborted.
 */
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
  const signal = AbortSignal.any([outer, limit.signal]);
  try {
    return await untilAborted(work(signal), signal);
  } catch (error) {
    if (limit.signal.aborted && !outer.aborted) throw late;
    throw error;
  } finally {
    cancel();
  }
}

/** The callbacks that wait for one signal. */
interface AbortCallbacks {
  readonly all: Set<() => void>;
  readonly tell: () => void;
}

/** Signals with callbacks of {@link onAbort}. */
const waiting = new WeakMap<AbortSignal, AbortCallbacks>();

/**
 * Calls `aborted` when the signal aborts; the returned function unsubscribes it. All callbacks of a signal share one listener, which is
 * removed with the last of them: Node warns of more than ten listeners, and a derived signal for each would cost more than most waits do.
 */
export function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  const { all, tell } = waiting.get(signal) ?? beginWaiting(signal);
  all.add(aborted);
  return () => {
    if (!all.delete(aborted) || all.size > 0) return;
    signal.removeEventListener("abort", tell);
    waiting.delete(signal);
  };
}

function beginWaiting(signal: AbortSignal): AbortCallbacks {
  const all = new Set<() => void>();
  const tell = (): void => {
    for (const aborted of all) aborted();
  };
  waiting.set(signal, { all, tell });
  signal.addEventListener("abort", tell, { once: true });
  return { all, tell };
}
