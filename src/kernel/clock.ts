import { abortReason, onAbort } from "./abort.ts";

/** An injectable source of time. All values are milliseconds. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function cancels it. */
  timer(ms: number, fire: () => void): () => void;
}

/** The longest delay of `setTimeout`, which fires at once for a longer one. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** The machine's clock. Its timers may have any length. */
export const systemClock: Clock = {
  now: () => Date.now(),
  timer(ms, fire) {
    if (ms > LONGEST_DELAY) {
      let cancel = systemClock.timer(LONGEST_DELAY, () => {
        cancel = systemClock.timer(ms - LONGEST_DELAY, fire);
      });
      return () => cancel();
    }
    const handle = setTimeout(fire, ms);
    return () => clearTimeout(handle);
  },
};

/**
 * Resolves after `ms` on the given clock.
 *
 * @throws ControlError when the signal aborts first (see {@link abortReason}).
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortReason(signal));
    let letGo = (): void => {};
    const cancel = clock.timer(ms, () => {
      letGo();
      resolve();
    });
    if (signal === undefined) return;
    letGo = onAbort(signal, () => {
      cancel();
      reject(abortReason(signal));
    });
  });
}

/** Resolves in a macrotask of its own, after every promise reaction that is ready now has run. */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
