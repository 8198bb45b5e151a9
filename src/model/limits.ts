import { isObject } from "../kernel/value-kind.ts";
import type PQueue from "p-queue";
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
  const different = new Set(
    given.filter((limits) => limits !== undefined).flatMap((limits) => (limits instanceof AllLimits ? limits.members : [limits])),
  );
  const [first] = different;
  return different.size < 2 ? first : new AllLimits([...different].toSorted((a, b) => rankOf(a) - rankOf(b)));
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

/**
 * Limits of this process. It owns the queues of waiting calls, which the calls in flight bound, and the uses of the last second or minute.
 *
 * Limits.W1 (`takePlace`) never more calls are in flight than `concurrency`.
 * Limits.W2 (`RateWindow`) in no second begin more calls than `requestsPerSecond`, and in no 60 seconds more than `requestsPerMinute`, or
 * calls of more tokens than `tokensPerMinute`, as estimated at their start.
 * Limits.W3 (`acquire`) leases are given in the order asked.
 * Limits.W4 (`takePlace`) a call that stops waiting takes no allowance and delays no other call.
 * Limits.W5 (`placeIn`) a call that starts late waits for time only: it keeps its lease, and the calls that it waits for have theirs.
 */
class Limits implements ModelLimits {
  readonly #options: LimitOptions;
  readonly #window: RateWindow | undefined;
  #lines: Promise<{ readonly places: PQueue; readonly gate: PQueue }> | undefined;

  constructor(options: LimitOptions) {
    this.#options = options;
    const rates = ratesOf(options);
    this.#window = rates.length > 0 ? new RateWindow(rates) : undefined;
  }

  async acquire(request: LimitRequest): Promise<Lease> {
    const { signal } = request;
    throwIfAborted(signal);
    this.#lines ??= openLines(this.#options.concurrency ?? Infinity);
    const { places, gate } = await this.#lines;
    // The signal may have aborted meanwhile, and it fires only once.
    throwIfAborted(signal);
    const leave = await inLine(() => takePlace(places, signal), signal);
    const window = this.#window;
    if (window === undefined) return once(leave);
    try {
      // One call at a time waits for the window, so that a small one does not starve a large one.
      const enter = (priority: number): Promise<RateUse> =>
        // The queue adds a listener for each call that waits.
        inLine(() => gate.add(() => window.enter(request), { signal: AbortSignal.any([signal]), priority }), signal);
      return placeIn(window, await enter(0), { clock: request.clock, enterAgain: () => enter(1), leave });
    } catch (error) {
      leave();
      throw error;
    }
  }
}

class RateWindow {
  readonly #rates: readonly CallRate[];
  readonly #longest: number;
  #entries: RateUse[] = [];
  #changed: () => void = () => {};

  constructor(rates: readonly CallRate[]) {
    this.#rates = rates;
    this.#longest = Math.max(...rates.map(({ within }) => within));
  }

  async enter({ tokens, clock, signal }: LimitRequest): Promise<RateUse> {
    for (;;) {
      throwIfAborted(signal);
      const now = clock.now();
      this.#entries = this.#entries.filter(({ at }) => at + this.#longest > now);
      const wait = Math.max(...this.#rates.map((rate) => this.#wait(rate, tokens, now)));
      if (wait <= 0) {
        const entry = { at: now, tokens };
        this.#entries.push(entry);
        return entry;
      }
      await this.#change(clock, wait, signal);
    }
  }

  /** Counts a use from now on. @returns false if there is no room now: it is left out then */
  begin(entry: RateUse, now: number): boolean {
    if (entry.at === now) return true;
    this.#entries = this.#entries.filter((other) => other !== entry && other.at + this.#longest > now);
    const hasRoom = this.#rates.every((rate) => this.#wait(rate, entry.tokens, now) <= 0);
    if (hasRoom) this.#entries.push(Object.assign(entry, { at: now }));
    this.#changed();
    return hasRoom;
  }

  correct(entry: RateUse, tokens: number): void {
    entry.tokens = tokens;
    this.#changed();
  }

  #wait({ within, requests, tokens: most }: CallRate, tokens: number, now: number): number {
    const recent = this.#entries.filter(({ at }) => at + within > now);
    const [oldest] = recent;
    if (oldest === undefined) return 0;
    const used = recent.reduce((sum, entry) => sum + entry.tokens, 0);
    return recent.length < requests && used + tokens <= most ? 0 : oldest.at + within - now;
  }

  /** Resolves when the oldest use leaves the window, a use turns out smaller, or the signal aborts. */
  #change(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let [cancel, letGo] = [(): void => {}, (): void => {}];
      const done = (): void => {
        cancel();
        letGo();
        resolve();
      };
      cancel = clock.timer(ms, done);
      this.#changed = done;
      letGo = onAbort(signal, done);
    });
  }
}

/** Loaded with the first limited call, so that importing the package stays light. */
async function openLines(concurrency: number): Promise<{ readonly places: PQueue; readonly gate: PQueue }> {
  const { default: Queue } = await import("p-queue");
  return { places: new Queue({ concurrency }), gate: new Queue({ concurrency: 1 }) };
}

/** For the queue one task lasts from taking the place to giving it back. */
function takePlace(places: PQueue, signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const occupy = (): Promise<void> =>
      new Promise((leave) => {
        resolve(leave);
      });
    // The signal removes a waiting task only: an aborted call that still runs keeps its place.
    let running = false;
    const waiting = new AbortController();
    const letGo = onAbort(signal, () => {
      if (!running) waiting.abort(abortReason(signal));
    });
    places
      .add(
        () => {
          running = true;
          letGo();
          return occupy();
        },
        { signal: waiting.signal },
      )
      .catch(reject);
  });
}

async function inLine<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await wait();
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}

interface PlaceParts {
  readonly clock: Clock;
  /** Waits for room, before those that asked later. */
  enterAgain(): Promise<RateUse>;
  leave(): void;
}

function placeIn(window: RateWindow, first: RateUse, { clock, enterAgain, leave }: PlaceParts): Lease {
  let entry = first;
  const { release } = once((tokens) => {
    if (tokens !== undefined) window.correct(entry, tokens);
    leave();
  });
  const begin = async (): Promise<void> => {
    while (!window.begin(entry, clock.now())) entry = await enterAgain();
  };
  return { begin, release };
}

function once(release: (tokens?: number) => void): Lease {
  let held = true;
  return {
    release(tokens) {
      if (!held) return;
      held = false;
      release(tokens);
    },
  };
}
