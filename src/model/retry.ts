import type { Random } from "../kernel/random.ts";
import { ModelError } from "../kernel/errors.ts";
import { errorData } from "./failure.ts";

/** How often and how soon a failed call is sent again. Milliseconds. */
export interface RetryPolicy {
  /** Tries in all, the first one included. */
  readonly tries: number;
  /** Longest wait before the second try; each later one may be twice as long. */
  readonly baseDelay: number;
  /** Longest wait of all. */
  readonly maxDelay: number;
  /** Longest wait that a server's `retry-after` can ask for. */
  readonly maxRetryAfter: number;
}

/** Four tries, waits up to 1, 2 and 4 s but never above 20 s, and up to 60 s where the server asks for it. */
export const defaultRetry: RetryPolicy = { tries: 4, baseDelay: 1_000, maxDelay: 20_000, maxRetryAfter: 60_000 };

/**
 * Milliseconds to wait after the n-th failed try, or undefined when there is nothing to wait for: the error is not of the kind that
 * passes, or it was the last try. A server's `retry-after` is honoured up to its limit; else the wait is random between 0 and the
 * bound ("full jitter"), so that many roles which failed together do not come back together.
 */
export function retryDelay(error: unknown, n: number, policy: RetryPolicy, random: Random): number | undefined {
  if (!(error instanceof ModelError) || !error.retryable || n >= policy.tries) return undefined;
  const asked = errorData(error).retryAfterMs;
  if (asked !== undefined) return Math.min(Math.max(0, asked), policy.maxRetryAfter);
  return Math.round(random() * Math.min(policy.maxDelay, policy.baseDelay * 2 ** (n - 1)));
}

/**
 * Milliseconds that the headers of a response ask to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. A date is
 * measured against the server's own `date`, so that a wrong clock here does not matter.
 *
 * @param now milliseconds since 1970, for a server that tells no date of its own
 */
export function retryAfterOf(headers: { get(name: string): string | null }, now: number): number | undefined {
  const ms = decimal(headers.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const text = headers.get("retry-after");
  const seconds = decimal(text);
  if (seconds !== undefined) return seconds * 1_000;
  // An HTTP date begins with the name of a day; Date.parse would take "-3" for a year.
  const until = /^[A-Za-z]/.test(text ?? "") ? Date.parse(text ?? "") : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  const told = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(told) ? now : told));
}

function decimal(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
