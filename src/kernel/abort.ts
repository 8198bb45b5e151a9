import { setMaxListeners } from "node:events";
import type { Clock } from "./clock.ts";
import { AbortedError, ControlError, TimeoutError } from "./errors.ts";

/** The error an aborted signal stands for: a control error given as its reason, else an AbortedError around the reason. */
export function abortReason(signal: AbortSignal): ControlError {
  return signal.reason instanceof ControlError ? signal.reason : new AbortedError(undefined, signal.reason);
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
    const stop = (): void => reject(abortReason(signal));
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/**
 * Runs `work` with a signal that aborts when the outer one does or after `ms`.
 *
 * @throws TimeoutError naming `what` when the time is up, even if the work ignores its signal.
 * @throws ControlError when the outer signal aborts; the work is not begun if it has.
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

/**
 * To be said of a signal on which many waits may listen at once, each until it is over. Node warns of more than ten; a signal of one's own for
 * every wait would do too, but costs more than many of them.
 */
export function mayHaveManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}
