import { type Clock, systemClock } from "../kernel/clock.ts";
import { type Logger, silentLogger } from "../kernel/emit.ts";
import { TroupeError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import { type Cache, type CacheEntry, CacheError, checkedTtl, DEFAULT_TTL, refuseClosed } from "./cache.ts";
import { CircuitBreaker, type Cooldown } from "./circuit-breaker.ts";
import { LATEST_STAMP, readStamped, type Stamped, stampedText } from "./stamped-text.ts";

/*
 * A fast, shared cache that may go away at any moment, over a slow one that stays. It owns which of the two is asked and what has still to be
 * written back; how long one question may take is the remote's own, which bounds each.
 *
 * G1 a write resolves when one of the two has it, and it goes to both: what the remote loses, the local one has. G2 a read asks both, and the
 * newer answers: a remote that comes back with its old contents hides nothing. G3 while the remote does not answer it is not asked, but for
 * one probe at a time; so a caller waits for it at most once per cooldown. G4 what the remote missed is written back when it answers again,
 * and never over something newer. G5 a deletion is written like a value, so that neither side brings back what is gone.
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
  close(): Promise<void>;
}

/** How the remote is doing. */
export interface CacheHealth {
  /** `down`: it did not answer and is left alone for a while. */
  readonly remote: "up" | "down";
  /** Entries that have to be written back to it. */
  readonly behind: number;
  /** What it failed with last. */
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

type Found = Exclude<CacheEntry, { readonly kind: "hit" }> | { readonly kind: "found"; readonly it: Stamped } | Unasked;
/** The place could not be asked. */
type Unasked = { readonly kind: "unasked"; readonly error?: unknown };
type Outcome = { readonly kind: "written" } | { readonly kind: "later"; readonly stamp: number } | Unasked;

const COOLDOWN: Cooldown = { first: 500, most: 30_000 };
/** Keys remembered for writing back. One that finds no room is not lost: the next read of it finds the two places unequal, and mends it. */
const MOST_BEHIND = 10_000;
/** How often a write is tried again with a later stamp, when a machine whose clock is ahead has written the same key. */
const RESTAMPS = 3;

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
    const [near, far] = await Promise.all([this.#near(key), this.#far(key)]);
    const newest = newerOf(near, far);
    if (newest === undefined) return nothingFound(near, far);
    this.#lastStamp = Math.max(this.#lastStamp, newest.stamp);
    if (near.kind === "found" && far.kind !== "unasked" && newest === near.it) this.#fallBehind(key);
    return newest.value === undefined || newest.expires <= this.#clock.now() ? { kind: "miss" } : { kind: "hit", value: newest.value };
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#closing !== undefined);
    this.#longestTtl = Math.max(this.#longestTtl, checkedTtl(ttl));
    await this.#write(key, value, ttl);
  }

  /** The note that it is gone stays as long as any older value may. */
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

  async #near(key: string): Promise<Found> {
    try {
      const entry = await this.#local.get(key);
      return entry.kind === "hit" ? foundIn(entry.value) : entry;
    } catch (error) {
      this.#logger.warn(`The local place of a cache could not be read: ${thrownText(error)}`);
      return { kind: "unasked", error };
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
      if (near.kind === "unasked") return;
      if (near.kind === "found" && near.it.expires > this.#clock.now()) {
        const { stamp, expires } = near.it;
        const outcome = await this.#putOver(key, stampedText(near.it), stamp, expires - this.#clock.now()).catch(unasked);
        if (outcome.kind === "unasked") return;
      }
      if (this.#behind.get(key) === mark) this.#behind.delete(key);
    }
  }
}

function unasked(error: unknown): Unasked {
  return { kind: "unasked", error };
}

function foundIn(text: string): Found {
  const it = readStamped(text);
  return it === undefined
    ? { kind: "damaged", reason: "it is not what was written: its form or its checksum is wrong" }
    : { kind: "found", it };
}

/** Of two equally new the shared one. */
function newerOf(near: Found, far: Found): Stamped | undefined {
  if (near.kind !== "found") return far.kind === "found" ? far.it : undefined;
  return far.kind === "found" && far.it.stamp >= near.it.stamp ? far.it : near.it;
}

/** @throws CacheError when neither could be asked. */
function nothingFound(near: Found, far: Found): CacheEntry {
  if (near.kind === "damaged") return near;
  if (far.kind === "damaged") return far;
  if (near.kind === "unasked" && far.kind === "unasked") throw stored(near.error);
  return { kind: "miss" };
}

function stored(cause: unknown): TroupeError {
  if (TroupeError.isInstance(cause)) return cause;
  return new CacheError("CACHE_UNREACHABLE", "Expected one of the two places of a cache to answer, got neither. Look at the causes.", {
    cause,
  });
}
