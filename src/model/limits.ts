import { isObject } from "../kernel/value-kind.ts";
import { abortReason, onAbort, throwIfAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";

/** Limits on the use of a model. Without an option there is no limit. */
export interface LimitOptions {
  readonly concurrency?: number;
  /** Calls begun in any second; 0.5 is one call in 2 seconds. At least one call in 60 seconds. */
  readonly requestsPerSecond?: number;
  /** Calls begun in any 60 seconds. At least 1. */
  readonly requestsPerMinute?: number;
  /** Tokens of requests and replies in any 60 seconds. */
  readonly tokensPerMinute?: number;
}

/** A request to start a call under the limits. */
export interface LimitRequest {
  /** Expected; corrected on release. */
  readonly tokens: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The right to one call in flight. */
export interface Lease {
  /**
   * Called right before the call starts. If other calls have used the allowance since `acquire`, it waits until the call fits again: for time
   * only, so a call may wait here while it holds money. Left out: the call may start at any time.
   *
   * @throws ControlError when the signal of the request aborts first
   */
  begin?(): Promise<void>;
  /** Without `tokens` the estimate counts. A second release does nothing. */
  release(tokens?: number): void;
}

/** Keeps calls within a provider's limits. Share one among all models of an account. */
export interface ModelLimits {
  /** @throws ControlError when the signal aborts first */
  acquire(request: LimitRequest): Promise<Lease>;
}

export interface CallRate {
  readonly within: number;
  readonly requests: number;
  readonly tokens: number;
}

const SECOND = 1_000;
const MINUTE = 60_000;
const limitOptions: Known<LimitOptions> = kinds.each(
  kinds.checked,
  "concurrency",
  "requestsPerSecond",
  "requestsPerMinute",
  "tokensPerMinute",
);

interface RateUse {
  at: number;
  tokens: number;
}

/**
 * Returns limits by concurrency, requests and tokens. Calls start in the order asked. A call larger than the whole token allowance runs
 * alone. Give the same object as `limits` to each team, run and agent that must share it.
 *
 * @throws UsageError `LIMIT_INVALID` for a limit that is not a number above 0; `OPTION_UNKNOWN`
 * @example
 * import { Team } from "troupe";
 * import { modelLimits } from "troupe";
 *
 * const limits = modelLimits({ concurrency: 4, requestsPerMinute: 500, tokensPerMinute: 200_000 });
 * export const one = new Team({ name: "one", limits });
 * export const other = new Team({ name: "other", limits });
 */
export function modelLimits(options: LimitOptions): ModelLimits {
  checkGivenOptions("modelLimits", options, limitOptions);
  checkLimits(options);
  return new Limits(options);
}

export function checkLimits(options: LimitOptions): void {
  for (const name of ["concurrency", "requestsPerSecond", "requestsPerMinute", "tokensPerMinute"] as const) {
    const value: unknown = options[name];
    if (value === undefined || (typeof value === "number" && Number.isFinite(value) && value > 0)) continue;
    throw new UsageError("LIMIT_INVALID", `Expected ${name} to be a number above 0, got ${valueText(value)}. Leave it out for no limit.`);
  }
  const { requestsPerSecond = 1, requestsPerMinute = 1 } = options;
  if (requestsPerSecond * MINUTE >= SECOND && requestsPerMinute >= 1) return;
  const came = requestsPerMinute < 1 ? `requestsPerMinute of ${requestsPerMinute}` : `requestsPerSecond of ${requestsPerSecond}`;
  throw new UsageError("LIMIT_INVALID", `Expected a limit of one call in 60 seconds or more, got ${came}. Ask less often in the program.`);
}

export function ratesOf({ requestsPerSecond, requestsPerMinute, tokensPerMinute }: LimitOptions): readonly CallRate[] {
  const rates: CallRate[] = [];
  if (requestsPerSecond !== undefined) {
    const [within, requests] = requestsPerSecond < 1 ? [SECOND / requestsPerSecond, 1] : [SECOND, Math.floor(requestsPerSecond)];
    rates.push({ within, requests, tokens: Infinity });
  }
  if (requestsPerMinute !== undefined || tokensPerMinute !== undefined) {
    rates.push({ within: MINUTE, requests: Math.floor(requestsPerMinute ?? Infinity), tokens: tokensPerMinute ?? Infinity });
  }
  return rates;
}

function isModelLimits(limits: unknown): limits is ModelLimits {
  return isObject(limits) && "acquire" in limits && typeof limits.acquire === "function";
}

export function sharedLimits(limits: LimitOptions | ModelLimits | undefined): ModelLimits | undefined {
  return limits === undefined || isModelLimits(limits) ? limits : modelLimits(limits);
}

/** A call needs a lease of each. @returns undefined without limits */
export function allLimits(...given: readonly (ModelLimits | undefined)[]): ModelLimits | undefined {
  const different = new Set(given.filter((limits) => limits !== undefined).flatMap((limits) => membersOf(limits)));
  const [first] = different;
  return different.size < 2 ? first : new AllLimits([...different].toSorted((a, b) => rankOf(a) - rankOf(b)));
}

function membersOf(limits: ModelLimits): readonly ModelLimits[] {
  return limits instanceof AllLimits ? limits.members : [limits];
}

/** Calls acquire limits in the order in which limits were first used together, so that no two calls wait for each other. */
const ranks = new WeakMap<ModelLimits, number>();
let ranked = 0;

function rankOf(limits: ModelLimits): number {
  const known = ranks.get(limits);
  if (known !== undefined) return known;
  ranked += 1;
  ranks.set(limits, ranked);
  return ranked;
}

class AllLimits implements ModelLimits {
  readonly members: readonly ModelLimits[];

  constructor(members: readonly ModelLimits[]) {
    this.members = members;
  }

  async acquire(request: LimitRequest): Promise<Lease> {
    const leases: Lease[] = [];
    const release = (tokens?: number): void => {
      for (const lease of leases) lease.release(tokens);
    };
    try {
      for (const limits of this.members) leases.push(await limits.acquire(request));
    } catch (error) {
      release(0);
      throw error;
    }
    const { clock } = request;
    const begin = async (): Promise<void> => {
      let at: number;
      // A wait for one may use up the room of another.
      do {
        at = clock.now();
        for (const lease of leases) await lease.begin?.();
      } while (clock.now() !== at);
    };
    return { begin, release };
  }
}

/** A call that waits for room. */
interface Waiting {
  readonly tokens: number;
  readonly clock: Clock;
  /** True for a call that has its lease and begins late. */
  readonly isLate: boolean;
  readonly enter: (use: RateUse) => void;
}

/**
 * Limits of this process. It owns the queue of waiting calls, which the calls in flight bound, and the uses of the last second or minute.
 *
 * Limits.W1 (`#admit`) never more calls are in flight than `concurrency`.
 * Limits.W2 (`#wait`) in no second begin more calls than `requestsPerSecond`, and in no 60 seconds more than `requestsPerMinute`, or
 * calls of more tokens than `tokensPerMinute`, as estimated at their start.
 * Limits.W3 (`#admit`) leases are given in the order asked.
 * Limits.W4 (`#entered`) a call that stops waiting takes no allowance and delays no other call.
 * Limits.W5 (`#entered`) a call that starts late waits for time only: it keeps its lease, and comes before calls without one.
 */
class Limits implements ModelLimits {
  readonly #concurrency: number;
  readonly #rates: readonly CallRate[];
  readonly #longest: number;
  #queue: Waiting[] = [];
  #uses: RateUse[] = [];
  #running = 0;
  #cancel: () => void = () => {};

  constructor(options: LimitOptions) {
    this.#concurrency = options.concurrency ?? Infinity;
    this.#rates = ratesOf(options);
    this.#longest = Math.max(...this.#rates.map(({ within }) => within));
  }

  async acquire(request: LimitRequest): Promise<Lease> {
    let use = await this.#entered(request, false);
    let isHeld = true;
    return {
      begin: async () => {
        if (use.at === request.clock.now() || this.#rates.length === 0) return;
        this.#uses = this.#uses.filter((other) => other !== use);
        use = await this.#entered({ ...request, tokens: use.tokens }, true);
      },
      release: (tokens) => {
        if (!isHeld) return;
        isHeld = false;
        use.tokens = tokens ?? use.tokens;
        this.#running -= 1;
        this.#admit();
      },
    };
  }

  #entered({ tokens, clock, signal }: LimitRequest, isLate: boolean): Promise<RateUse> {
    return new Promise((resolve, reject) => {
      throwIfAborted(signal);
      const letGo = onAbort(signal, () => {
        this.#queue = this.#queue.filter((other) => other !== waiting);
        reject(abortReason(signal));
        this.#admit();
      });
      const enter = (use: RateUse): void => {
        letGo();
        resolve(use);
      };
      const waiting: Waiting = { tokens, clock, isLate, enter };
      const place = isLate ? this.#queue.filter((other) => other.isLate).length : this.#queue.length;
      this.#queue.splice(place, 0, waiting);
      this.#admit();
    });
  }

  #admit(): void {
    this.#cancel();
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const { tokens, clock, isLate, enter } = next;
      if (!isLate && this.#running >= this.#concurrency) return;
      const now = clock.now();
      this.#uses = this.#uses.filter(({ at }) => at + this.#longest > now);
      const wait = Math.max(0, ...this.#rates.map((rate) => this.#wait(rate, tokens, now)));
      if (wait > 0) {
        this.#cancel = clock.timer(wait, () => this.#admit());
        return;
      }
      this.#queue.shift();
      if (!isLate) this.#running += 1;
      const use = { at: now, tokens };
      this.#uses.push(use);
      enter(use);
    }
  }

  #wait({ within, requests, tokens: most }: CallRate, tokens: number, now: number): number {
    const recent = this.#uses.filter(({ at }) => at + within > now);
    const [oldest] = recent;
    if (oldest === undefined) return 0;
    const used = recent.reduce((sum, use) => sum + use.tokens, 0);
    return recent.length < requests && used + tokens <= most ? 0 : oldest.at + within - now;
  }
}
