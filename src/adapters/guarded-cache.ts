import { type Clock, systemClock } from "../kernel/clock.ts";
import { type Logger, silentLogger } from "../kernel/emit.ts";
import { CacheError, TroupeError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import {
  type Cache,
  type CacheEntry,
  checkedTtl,
  DEFAULT_TTL,
  isSameEntry,
  refuseClosed,
  replaceIn,
  type ReplaceOptions,
} from "../memory/cache.ts";
import { CircuitBreaker, type Cooldown } from "./circuit-breaker.ts";
import { answerOf, bodySum, type Found, foundIn, LATEST_STAMP, type Stamped, stampedText, sumOf, type Unasked } from "./stamped-text.ts";

/*
 * A fast, shared cache that may go away at any moment (the remote), over a slow one that stays (the local). It owns the choice of the one to
 * ask and the list of entries to write back. The remote itself limits the time of each question.
 *
 * GuardedCache.G1 (`set`) a write goes to both and resolves when one of them has it. GuardedCache.G2 (`get`) a read asks both, and the newer answer
 * counts: a remote that returns with old contents hides nothing. GuardedCache.G3 (`#ask`) a remote that does not answer is asked by one probe at
 * a time, so that a caller waits for it at most once per cooldown. GuardedCache.G4 (`#writeBack`) entries that the remote missed are written back
 * when it answers again, never over newer ones. GuardedCache.G5 (`delete`) a deletion is written like a value, so that neither side restores the
 * entry. GuardedCache.G6 (`replace`) an entry stored while the remote was away carries the sum of what it replaces, and is written back over that
 * alone: after a write of another machine, `get` returns both. GuardedCache.G7 (`get`) when nobody could be asked, that is an error and no miss.
 * GuardedCache.G8 (`get`) an entry that is newer in the remote is stored locally too.
 */

/** The shared place. Every question ends within a time of its own: it answers, or throws a {@link CacheError}. */
export interface RemoteCache {
  /** @throws CacheError `CACHE_UNREACHABLE` when nothing answered, `CACHE_REFUSED` when the answer was an error. */
  get(key: string): Promise<string | undefined>;
  /**
   * Writes a stamped text, unless one with a later stamp is there.
   *
   * @returns the later stamp that is there, or undefined when it was written
   * @throws CacheError like `get`
   */
  put(key: string, text: string, stamp: number, ttl: number): Promise<number | undefined>;
  /**
   * Writes a stamped text in the place of one whose body has the sum `expected`, or of none, in one step.
   *
   * @throws CacheError like `get`
   */
  replace(key: string, text: string, o: RemoteReplace): Promise<RemoteReplaced>;
  close(): Promise<void>;
}

/** A write, with the revision that it replaces. */
export interface RemoteReplace {
  readonly stamp: number;
  readonly expected: string;
  /** Milliseconds. */
  readonly ttl: number;
}

/** What became of it. `later`: what was expected is there, with a stamp that is no earlier. */
export type RemoteReplaced = { readonly kind: "written" | "differs" } | { readonly kind: "later"; readonly stamp: number };

/** How the remote is doing. */
export interface CacheHealth {
  /** `down`: it did not answer and is not asked for a while. */
  readonly remote: "up" | "down";
  /** Entries that have to be written back to it. */
  readonly behind: number;
  /** The last error of the remote cache. */
  readonly lastError: CacheError | undefined;
}

/** What a guarded cache is made of. */
export interface GuardedOptions {
  readonly remote: RemoteCache;
  readonly local: Cache;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly cooldown?: Cooldown;
}

/** A cache with two places, and a word about how they are. */
export interface GuardedCache extends Cache {
  readonly health: CacheHealth;
}

/** The value in the local cache, with its entry. */
interface Near {
  readonly found: Found;
  readonly entry?: CacheEntry;
}
type Outcome = { readonly kind: "written" } | { readonly kind: "later"; readonly stamp: number } | Unasked;

const COOLDOWN: Cooldown = { first: 500, most: 30_000 };
/** Keys remembered for writing back. One that finds no room is not lost: the next read of it finds the two places unequal, and mends it. */
const MOST_BEHIND = 10_000;
/** How often a write is tried again with a later stamp, when a machine whose clock is ahead has written the same key. */
const RESTAMPS = 3;
/** How often a replacement is tried again while others write the same key, or the remote goes and comes. */
const TRIES = 20;

/** @see GuardedOptions */
export function guardedCache(options: GuardedOptions): GuardedCache {
  return new TwoPlaces(options);
}

class TwoPlaces implements GuardedCache {
  readonly #remote: RemoteCache;
  readonly #local: Cache;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #breaker: CircuitBreaker;
  readonly #retryAfter: number;
  /** Key to a mark of the write that made it so: a write back that ends after a newer one does not take the newer for done. */
  readonly #behind = new Map<string, symbol>();
  #lastStamp = 0;
  #longestTtl = DEFAULT_TTL;
  #lastError: CacheError | undefined;
  #cancelRetry: (() => void) | undefined;
  #writingBack: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor({ remote, local, clock = systemClock, logger = silentLogger, cooldown = COOLDOWN }: GuardedOptions) {
    this.#remote = remote;
    this.#local = local;
    this.#clock = clock;
    this.#logger = logger;
    this.#breaker = new CircuitBreaker(clock, cooldown);
    this.#retryAfter = cooldown.first;
  }

  get health(): CacheHealth {
    return { remote: this.#breaker.isClosed ? "up" : "down", behind: this.#behind.size, lastError: this.#lastError };
  }

  async get(key: string): Promise<CacheEntry> {
    refuseClosed(this.#closing !== undefined);
    const [near, far] = await this.#both(key);
    const { entry, isBehind, isStale } = answerOf(near.found, far, this.#clock.now());
    if (entry === undefined) throw unreachable(near.found, far);
    if (isBehind) this.#fallBehind(key);
    if (isStale && far.kind === "found") await this.#keepConfirmed(key, far.it, near);
    return entry;
  }

  async replace(key: string, value: string, { expected, ttl }: ReplaceOptions): Promise<CacheEntry | undefined> {
    refuseClosed(this.#closing !== undefined);
    this.#longestTtl = Math.max(this.#longestTtl, checkedTtl(ttl));
    for (let n = 0; n < TRIES; n++) {
      const [near, far] = await this.#both(key);
      const { entry } = answerOf(near.found, far, this.#clock.now());
      // Where nobody could be asked, what was expected is all that is known.
      if (entry !== undefined && !isSameEntry(entry, expected)) return entry;
      const it = { stamp: this.#nextStamp(), expires: this.#clock.now() + ttl, value };
      const isDone =
        far.kind === "unasked" ? await this.#keepAlone(key, it, near, baseOf(near, expected)) : await this.#replaceBoth(key, it, near, far);
      if (isDone) return undefined;
    }
    throw new CacheError("CACHE_BUSY", "Expected to replace an entry of a cache, but others wrote it all the time. Try again.");
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#closing !== undefined);
    this.#longestTtl = Math.max(this.#longestTtl, checkedTtl(ttl));
    await this.#write(key, value, ttl);
  }

  /** A deletion mark stays as long as an older value may stay. */
  async delete(key: string): Promise<void> {
    refuseClosed(this.#closing !== undefined);
    await this.#write(key, undefined, this.#longestTtl);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#cancelRetry?.();
    // A call to a remote cache that is down would wait for its whole limit.
    if (!this.#breaker.isClosed) await this.#remote.close();
    await this.#writingBack;
    if (this.#breaker.isClosed) await this.#writeBack();
    const left = this.#behind.size;
    if (left > 0) this.#logger.warn(`The cache was closed with ${left} entries that only its local place has.`);
    await Promise.all([this.#remote.close(), this.#local.close()]);
  }

  async #write(key: string, value: string | undefined, ttl: number): Promise<void> {
    for (let n = 0; ; n++) {
      const stamp = this.#nextStamp();
      const text = stampedText({ stamp, expires: this.#clock.now() + ttl, value });
      const [near, far] = await Promise.all([this.#store(key, text, ttl), this.#putOver(key, text, stamp, ttl)]);
      if (far.kind === "later" && far.stamp > this.#lastStamp && n < RESTAMPS) {
        this.#lastStamp = far.stamp;
        continue;
      }
      if (far.kind === "unasked" && near.kind === "unasked") throw stored(near.error);
      if (far.kind === "unasked") this.#fallBehind(key);
      return;
    }
  }

  /** Never twice the same, and later than any stamp that was seen, whatever the clock says. */
  #nextStamp(): number {
    this.#lastStamp = Math.max(this.#lastStamp + 1, Math.floor(this.#clock.now()));
    return this.#lastStamp;
  }

  async #both(key: string): Promise<readonly [Near, Found]> {
    const both = await Promise.all([this.#near(key), this.#far(key)]);
    for (const found of [both[0].found, both[1]]) if (found.kind === "found") this.#lastStamp = Math.max(this.#lastStamp, found.it.stamp);
    return both;
  }

  async #near(key: string): Promise<Near> {
    try {
      const entry = await this.#local.get(key);
      return { entry, found: entry.kind === "hit" ? foundIn(entry.value) : entry };
    } catch (error) {
      this.#logger.warn(`The local place of a cache could not be read: ${thrownText(error)}`);
      return { found: { kind: "unasked", error } };
    }
  }

  /** Written here only, over what is known: it says what it replaces. @returns false when another process wrote here meanwhile */
  async #keepAlone(key: string, it: Stamped, near: Near, base: string): Promise<boolean> {
    if (near.found.kind === "unasked") throw stored(near.found.error);
    const ttl = it.expires - this.#clock.now();
    const other = await replaceIn(this.#local, key, stampedText({ ...it, base }), { expected: near.entry, ttl });
    if (other !== undefined) return false;
    this.#fallBehind(key);
    return true;
  }

  /** Written in both places, or here only where the remote does not take it. @returns false when one of them has something else by now */
  async #replaceBoth(key: string, it: Stamped, near: Near, far: Found): Promise<boolean> {
    const ttl = it.expires - this.#clock.now();
    if (far.kind === "damaged") {
      if ((await this.#putOver(key, stampedText(it), it.stamp, ttl)).kind !== "written") return false;
    } else {
      const o = { stamp: it.stamp, expected: sumOf(far), ttl };
      const answer = await this.#ask(() => this.#remote.replace(key, stampedText(it), o));
      if (answer.kind === "unasked") return this.#keepAlone(key, it, near, sumOf(far));
      if (answer.value.kind === "later") this.#lastStamp = Math.max(this.#lastStamp, answer.value.stamp);
      if (answer.value.kind !== "written") return false;
    }
    await this.#keepConfirmed(key, it, near);
    return true;
  }

  /** Copies the remote value to the local cache, unless another process wrote there meanwhile: its value may be nowhere else. */
  async #keepConfirmed(key: string, it: Stamped, near: Near): Promise<void> {
    if (near.found.kind === "unasked") return;
    try {
      await replaceIn(this.#local, key, stampedText(it), { expected: near.entry, ttl: it.expires - this.#clock.now() });
    } catch (error) {
      this.#logger.warn(`The local place of a cache could not be written: ${thrownText(error)}`);
    }
  }

  async #store(key: string, text: string, ttl: number): Promise<Outcome> {
    try {
      await this.#local.set(key, text, ttl);
      return { kind: "written" };
    } catch (error) {
      this.#logger.warn(`The local place of a cache could not be written: ${thrownText(error)}`);
      return { kind: "unasked", error };
    }
  }

  async #far(key: string): Promise<Found> {
    const answer = await this.#ask(() => this.#remote.get(key));
    if (answer.kind === "unasked") return answer;
    return answer.value === undefined ? { kind: "miss" } : foundIn(answer.value);
  }

  /** A damaged text may claim any stamp. What is readable and later stays. */
  async #putOver(key: string, text: string, stamp: number, ttl: number): Promise<Outcome> {
    const outcome = await this.#put(key, text, stamp, ttl);
    if (outcome.kind !== "later" || (await this.#far(key)).kind !== "damaged") return outcome;
    return this.#put(key, text, LATEST_STAMP, ttl);
  }

  async #put(key: string, text: string, stamp: number, ttl: number): Promise<Outcome> {
    const answer = await this.#ask(() => this.#remote.put(key, text, stamp, ttl));
    if (answer.kind === "unasked") return answer;
    return answer.value === undefined ? { kind: "written" } : { kind: "later", stamp: answer.value };
  }

  /** One question to the remote, if it is asked at all. An error that is no cache's is a mistake of the program, and not hidden. */
  async #ask<T>(question: () => Promise<T>): Promise<{ readonly kind: "answered"; readonly value: T } | Unasked> {
    const asked = this.#breaker.pass();
    if (asked === "no") return { kind: "unasked", error: this.#lastError };
    try {
      const value = await question();
      this.#breaker.succeeded(asked);
      if (asked === "probe") this.#cameBack();
      return { kind: "answered", value };
    } catch (error) {
      if (error instanceof CacheError && error.code === "CACHE_UNREACHABLE") this.#breaker.failed(asked);
      else this.#breaker.succeeded(asked);
      if (!(error instanceof CacheError)) throw error;
      if (this.#lastError?.message !== error.message) this.#logger.warn(error.message);
      this.#lastError = error;
      return { kind: "unasked", error };
    }
  }

  #cameBack(): void {
    this.#lastError = undefined;
    this.#logger.info("The shared place of a cache answers again.");
    if (this.#behind.size > 0) this.#retryIn(0);
  }

  #fallBehind(key: string): void {
    if (this.#behind.size >= MOST_BEHIND && !this.#behind.has(key)) return;
    this.#behind.set(key, Symbol("write"));
    this.#retryIn(Math.max(this.#retryAfter, this.#breaker.wait));
  }

  /** One timer at a time. What goes wrong in a write back is told by the questions it asks. */
  #retryIn(ms: number): void {
    if (this.#cancelRetry !== undefined || this.#writingBack !== undefined || this.#closing !== undefined) return;
    this.#cancelRetry = this.#clock.timer(ms, () => {
      this.#cancelRetry = undefined;
      this.#writingBack = this.#writeBack().finally(() => {
        this.#writingBack = undefined;
        if (this.#behind.size > 0) this.#retryIn(Math.max(this.#retryAfter, this.#breaker.wait));
      });
    });
  }

  /** Stops at the first entry that cannot be written: the others would fare no better. */
  async #writeBack(): Promise<void> {
    for (const [key, mark] of [...this.#behind]) {
      const near = await this.#near(key);
      if (near.found.kind === "unasked") return;
      if (near.found.kind === "found" && near.found.it.expires > this.#clock.now()) {
        const isDone = await this.#bringBack(key, near, near.found.it).catch(() => false);
        if (!isDone) return;
      }
      if (this.#behind.get(key) === mark) this.#behind.delete(key);
    }
  }

  /** @returns false when it has to be tried again */
  async #bringBack(key: string, near: Near, it: Stamped): Promise<boolean> {
    if (it.base === undefined)
      return (await this.#putOver(key, stampedText(it), it.stamp, it.expires - this.#clock.now())).kind !== "unasked";
    const far = await this.#far(key);
    if (far.kind === "unasked") return false;
    if (far.kind === "found") this.#lastStamp = Math.max(this.#lastStamp, far.it.stamp);
    if (answerOf(near.found, far, this.#clock.now()).isBehind) {
      const { expires, value } = it;
      return this.#replaceBoth(key, { stamp: this.#nextStamp(), expires, value }, near, far);
    }
    this.#logger.info(
      "An entry that was stored while the shared place of a cache was away stays here: another machine has written it too.",
    );
    return true;
  }
}

/** The revision that a write replaces when only the local cache answers. */
function baseOf({ found }: Near, expected: CacheEntry | undefined): string {
  const known = found.kind === "found" && found.it.value !== undefined ? found.it : undefined;
  return known?.base ?? bodySum(known?.value ?? (expected?.kind === "hit" ? expected.value : undefined));
}

/** Nobody who knows was asked, which is another thing than that there is nothing. */
function unreachable(near: Found, far: Found): CacheError {
  const [why, other] = [far, near].map((found) => (found.kind === "unasked" ? found.error : undefined));
  const reason = why === undefined ? "its shared place did not answer" : thrownText(why);
  return new CacheError(
    "CACHE_UNREACHABLE",
    `Expected an answer of the shared place of a cache, got none, and its local place has no copy. What is stored there is as it was: try again later. Reason: ${reason}`,
    { cause: why ?? other },
  );
}

function stored(cause: unknown): TroupeError {
  if (TroupeError.isInstance(cause)) return cause;
  return new CacheError("CACHE_UNREACHABLE", "Expected one of the two places of a cache to answer, got neither. Look at the causes.", {
    cause,
  });
}
