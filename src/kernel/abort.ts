import type { Clock } from "./clock.ts";
import { AbortedError, ControlError, TimeoutError } from "./errors.ts";

/** The error an aborted signal stands for: a control error given as its reason, else an AbortedError around the reason. */
export function abortReason(signal: AbortSignal): ControlError {
  return interruptionBy(signal.reason);
}

/** The interruption that a reason is or stands for. */
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

/** A signal that aborts when one of two does. Asked again for the same two it is the same, since the calls of a run ask over and over. */
export function eitherSignal(one: AbortSignal, other: AbortSignal): AbortSignal {
  if (one === other) return one;
  const known = joined.get(one);
  if (known?.other === other) return known.both;
  const both = AbortSignal.any([one, other]);
  joined.set(one, { other, both });
  return both;
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

/** Those who wait for one signal together. */
interface Waiting {
  readonly all: Set<() => void>;
  readonly tell: () => void;
}

/** Of signals that somebody waits for by {@link onAbort}. */
const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `heard` when the signal aborts; the returned function stops that. However many wait, the signal has one listener of them all, and
 * none when nobody does: Node warns of more than ten, and a signal of its own for each would cost more than most waits do.
 */
export function onAbort(signal: AbortSignal, heard: () => void): () => void {
  const { all, tell } = waiting.get(signal) ?? beginWaiting(signal);
  all.add(heard);
  return () => {
    if (!all.delete(heard) || all.size > 0) return;
    signal.removeEventListener("abort", tell);
    waiting.delete(signal);
  };
}

function beginWaiting(signal: AbortSignal): Waiting {
  const all = new Set<() => void>();
  const tell = (): void => {
    for (const heard of all) heard();
  };
  waiting.set(signal, { all, tell });
  signal.addEventListener("abort", tell, { once: true });
  return { all, tell };
}
