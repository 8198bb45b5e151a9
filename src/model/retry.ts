import { ModelError } from "../kernel/errors.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { freshSeed, type Random, randomStream } from "../kernel/random.ts";
import { errorData, mayHaveRun } from "./failure.ts";

/** Times are milliseconds. */
export interface RetryPolicy {
  /** Tries in all. A try that a time limit ended is repeated once at most. */
  readonly tries: number;
  /** Longest wait before the second try; each later one may be twice as long. */
  readonly baseDelay: number;
  readonly maxDelay: number;
  /** Limit on the `retry-after` of a server; a longer one is not followed. */
  readonly maxRetryAfter: number;
  /**
   * The time for which to retry a server that answered before and cannot be reached now. Meanwhile, free tries do not count among `tries`. A server that
   * never answered is retried for at most 10 s. 0: such tries count like others.
   */
  readonly outage: number;
}

export const retryPolicy: Known<RetryPolicy> = {
  tries: kinds.size,
  ...kinds.each(kinds.milliseconds, "baseDelay", "maxDelay", "maxRetryAfter", "outage"),
};

export const defaultRetry: RetryPolicy = { tries: 4, baseDelay: 1_000, maxDelay: 20_000, maxRetryAfter: 60_000, outage: 60_000 };

/** Each may have waited for minutes, and may cost its whole hold. */
const LATE_TRIES = 2;
/** A server that never answered may not exist. */
const FIRST_CONTACT = 10_000;
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;

/**
 * Milliseconds to wait after the n-th failed try; undefined if there is no next try. A server's `retry-after` is honored up to its limit; else the
 * wait is random between 0 and the bound ("full jitter"), so that roles that failed together do not return together.
 */
export function retryDelay(error: unknown, n: number, policy: RetryPolicy, random: Random): number | undefined {
  if (!(error instanceof ModelError) || !error.retryable || n >= policy.tries) return undefined;
  const asked = errorData(error).retryAfterMs;
  if (asked !== undefined) return Math.min(Math.max(0, asked), policy.maxRetryAfter);
  return Math.round(random() * Math.min(policy.maxDelay, policy.baseDelay * 2 ** (n - 1)));
}

export interface NextTry {
  readonly delay: number;
  readonly outage?: number;
  readonly isFirst?: boolean;
}

/**
 * The tries of one call.
 *
 * `Retries.T1` tries of a server that is away end after the time of an outage, and do not count among the others (`#afterAway`).
 * `Retries.T2` a call is not repeated after the second try that a time limit ended (`after`).
 */
export class Retries {
  readonly #policy: RetryPolicy;
  readonly #random: Random;
  readonly #outage: number;
  #counted = 0;
  #late = 0;
  #away: { readonly tries: number; readonly elapsed: number } | undefined;

  constructor(policy: RetryPolicy, random: Random, isKnown: boolean) {
    this.#policy = policy;
    this.#random = random;
    const outage = policy.tries > 1 ? policy.outage : 0;
    this.#outage = isKnown ? outage : Math.min(outage, FIRST_CONTACT);
  }

  after(error: unknown, took: number, hold: number): NextTry | undefined {
    if (this.#outage > 0 && isAway(error, hold)) return this.#afterAway(took);
    this.#away = undefined;
    this.#counted += 1;
    if (error instanceof ModelError && error.code === "MODEL_TIMEOUT") this.#late += 1;
    if (this.#late === LATE_TRIES) return undefined;
    const delay = retryDelay(error, this.#counted, this.#policy, this.#random);
    return delay === undefined ? undefined : { delay };
  }

  /** Time is the sum of waits and tries, so that it passes by any clock. */
  #afterAway(took: number): NextTry | undefined {
    const { tries, elapsed } = this.#away === undefined ? { tries: 0, elapsed: 0 } : { ...this.#away, elapsed: this.#away.elapsed + took };
    const left = this.#outage - elapsed;
    if (left <= 0) return undefined;
    const bound = Math.min(LONGEST_PAUSE, this.#policy.maxDelay, this.#policy.baseDelay * 2 ** tries);
    const delay = Math.max(SHORTEST_PAUSE, Math.round((bound / 2) * (1 + this.#random())));
    this.#away = { tries: tries + 1, elapsed: elapsed + Math.min(delay, left) };
    return { delay: Math.min(delay, left), outage: this.#outage, isFirst: tries === 0 };
  }
}

/** True when the server cannot be reached or is not ready, and the try cost nothing. */
function isAway(error: unknown, hold: number): boolean {
  if (!(error instanceof ModelError) || !error.retryable) return false;
  const { status, retryAfterMs } = errorData(error);
  const isUnready = error.code === "MODEL_SERVER" && status === 503 && retryAfterMs === undefined;
  if (error.code !== "MODEL_UNREACHABLE" && !isUnready) return false;
  return hold === 0 || !mayHaveRun(error);
}

/**
 * Milliseconds that the headers ask to wait: `retry-after-ms`, or `retry-after` in seconds or as a date, measured against the server's own
 * `date`, so that a wrong clock here does not matter.
 *
 * @param now milliseconds since 1970, for a server that sends no date
 */
export function retryAfterOf(headers: { get(name: string): string | null }, now: number): number | undefined {
  const ms = decimal(headers.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const text = headers.get("retry-after");
  const seconds = decimal(text);
  if (seconds !== undefined) return seconds * 1_000;
  // `Date.parse` would take "-3" for a year.
  const until = /^[A-Za-z]/.test(text ?? "") ? Date.parse(text ?? "") : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(sent) ? now : sent));
}

function decimal(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/** For the waits between tries: each client has its own, so that calls that failed together do not return together. */
export function jitter(): Random {
  let stream: Random | undefined;
  return () => {
    stream ??= randomStream(freshSeed());
    return stream();
  };
}
