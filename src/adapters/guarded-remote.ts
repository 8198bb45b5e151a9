import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { CacheError } from "../kernel/errors.ts";
import { keysOf } from "../memory/cache.ts";
import { copyIn, type CopyState, type Unasked } from "./cache-copies.ts";
import { CircuitBreaker, type Cooldown } from "./circuit-breaker.ts";
import { LATEST_STAMP, type Stamped, stampedText } from "./stamped-text.ts";

/** The shared place of a guarded cache. Every call ends in a time of its own: it answers, or throws a {@link CacheError}. */
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
   * Replaces a stamped text in one step if the sum of its body is `expected`, or if there is none and `expected` says so.
   *
   * @throws CacheError like `get`
   */
  replace(key: string, text: string, o: RemoteReplace): Promise<RemoteReplaced>;
  /**
   * Returns the keys that begin with a text. Optional: without it nothing can be forgotten by its scope.
   *
   * @throws CacheError like `get`
   */
  keys?(prefix: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A write, with the sum of the body that it replaces. */
export interface RemoteReplace {
  readonly stamp: number;
  readonly expected: string;
  /** Milliseconds. */
  readonly ttl: number;
}

/** The outcome of a replacement. `later`: the expected body is there, with a stamp that is not earlier. */
export type RemoteReplaced = { readonly kind: "written" | "differs" } | { readonly kind: "later"; readonly stamp: number };

interface GuardedRemoteParts {
  readonly remote: RemoteCache;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cooldown: Cooldown;
  /** Called when the remote answers again. */
  readonly onReturn: () => void;
}

/**
 * A remote cache behind a circuit breaker, asked for stamped values. It owns the breaker and the last error.
 *
 * GuardedRemote.R1 (`#ask`) while the breaker lets nobody pass, the remote is not asked: the answer is the last error.
 * GuardedRemote.R2 (`#ask`) only a remote that cannot be reached counts as a failure. A remote that refuses a command is up.
 * GuardedRemote.R3 (`#lastError`) an error that repeats the last one is not logged again until the remote has answered a probe.
 */
export class GuardedRemote {
  readonly #parts: GuardedRemoteParts;
  readonly #breaker: CircuitBreaker;
  #lastError: CacheError | undefined;

  constructor(parts: GuardedRemoteParts) {
    this.#parts = parts;
    this.#breaker = new CircuitBreaker(parts.clock, parts.cooldown);
  }

  get isUp(): boolean {
    return this.#breaker.isClosed;
  }

  get lastError(): CacheError | undefined {
    return this.#lastError;
  }

  /** Milliseconds until the next call is asked. */
  get wait(): number {
    return this.#breaker.wait;
  }

  /** @throws CacheError: who asks for keys must know all of them */
  keys(prefix: string): Promise<readonly string[]> {
    return keysOf(this.#parts.remote, prefix);
  }

  async get(key: string): Promise<CopyState> {
    const answer = await this.#ask(() => this.#parts.remote.get(key));
    if (answer.kind === "unasked") return answer;
    return answer.value === undefined ? { kind: "miss" } : copyIn(answer.value);
  }

  /** Writes a value unless a later one is there; a damaged text may claim any stamp and is written over. */
  async putOver(key: string, it: Stamped): Promise<RemoteReplaced | Unasked> {
    const outcome = await this.#put(key, it, it.stamp);
    if (outcome.kind !== "later" || (await this.get(key)).kind !== "damaged") return outcome;
    return this.#put(key, it, LATEST_STAMP);
  }

  /** Writes a value over the one whose sum is `expected`. */
  async replace(key: string, it: Stamped, expected: string): Promise<RemoteReplaced | Unasked> {
    const o = { stamp: it.stamp, expected, ttl: it.expires - this.#parts.clock.now() };
    const answer = await this.#ask(() => this.#parts.remote.replace(key, stampedText(it), o));
    return answer.kind === "unasked" ? answer : answer.value;
  }

  close(): Promise<void> {
    return this.#parts.remote.close();
  }

  async #put(key: string, it: Stamped, stamp: number): Promise<RemoteReplaced | Unasked> {
    const ttl = it.expires - this.#parts.clock.now();
    const answer = await this.#ask(() => this.#parts.remote.put(key, stampedText(it), stamp, ttl));
    if (answer.kind === "unasked") return answer;
    return answer.value === undefined ? { kind: "written" } : { kind: "later", stamp: answer.value };
  }

  /** Asks the remote if the breaker allows it. @throws every error but a CacheError: it is a fault of the program */
  async #ask<T>(question: () => Promise<T>): Promise<{ readonly kind: "answered"; readonly value: T } | Unasked> {
    const pass = this.#breaker.pass();
    if (pass === "no") return { kind: "unasked", error: this.#lastError };
    try {
      const value = await question();
      this.#breaker.succeeded(pass);
      if (pass === "probe") this.#returned();
      return { kind: "answered", value };
    } catch (error) {
      if (error instanceof CacheError && error.code === "CACHE_UNREACHABLE") this.#breaker.failed(pass);
      else this.#breaker.succeeded(pass);
      if (!(error instanceof CacheError)) throw error;
      if (this.#lastError?.message !== error.message) this.#parts.logger.warn(error.message);
      this.#lastError = error;
      return { kind: "unasked", error };
    }
  }

  #returned(): void {
    this.#lastError = undefined;
    this.#parts.logger.info("The shared place of a cache answers again.");
    this.#parts.onReturn();
  }
}
