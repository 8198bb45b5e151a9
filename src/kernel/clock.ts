import { abortReason, onAbort } from "./abort.ts";

/** A source of time, in milliseconds. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function cancels it. */
  timer(ms: number, fire: () => void): () => void;
}

/** `setTimeout` fires at once for a longer delay. */
const MAX_DELAY = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(ms, fire) {
    if (ms > MAX_DELAY) {
      let cancel = systemClock.timer(MAX_DELAY, () => {
        cancel = systemClock.timer(ms - MAX_DELAY, fire);
      });
      return () => cancel();
    }
    const handle = setTimeout(fire, ms);
    return () => clearTimeout(handle);
  },
};

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

/** Resolves after every promise reaction that is ready now has run. */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
