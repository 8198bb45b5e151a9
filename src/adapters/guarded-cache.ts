import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { CacheError, TroupeError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import {
  type Cache,
  type CacheEntry,
  checkedTtl,
  keysOf,
  DEFAULT_TTL,
  isSameEntry,
  refuseClosed,
  replaceIn,
  type ReplaceOptions,
} from "../memory/cache.ts";
import { copyIn, type CopyState, mergedEntry, sumOf, type Unasked } from "./cache-copies.ts";
import type { Cooldown } from "./circuit-breaker.ts";
import { GuardedRemote, type RemoteCache } from "./guarded-remote.ts";
import { bodySum, type Stamped, stampedText } from "./stamped-text.ts";
import { WriteBackList } from "./write-back-list.ts";

/*
 * A fast shared cache that may fail at any time (the remote), over a slow one that stays (the local). It owns the stamps of its writes.
 *
 * GuardedCache.G1 (`set`) a write goes to both and resolves when one of them has it. GuardedCache.G2 (`get`) a read asks both, and the newer
 * answer counts: a remote that returns with old contents hides nothing. GuardedCache.G3 (`GuardedRemote`) one probe at a time asks a remote
 * that does not answer, so that a caller waits for it at most once per cooldown. GuardedCache.G4 (`WriteBackList`, `#writeBack`) entries that the remote
 * missed are written back when it answers again, never over newer ones. GuardedCache.G5 (`delete`) a deletion is written like a value, so
 * that neither side restores the entry. GuardedCache.G6 (`replace`) an entry stored while the remote was away carries the sum of the value
 * that it replaced, and is written back over that value only: after a write of another machine, `get` returns both. GuardedCache.G7 (`get`)
 * a key about which neither side could be asked is an error and no miss. GuardedCache.G8 (`get`) an entry that is newer in the remote is
 * stored locally too. GuardedCache.G9 (`health`) a value that the local place alone has counts as behind until the remote has it, also where a process
 * before this one stored it (`#findOld`), and where only a reader can join it with another machine's (`#apart`).
 */

/** The state of a guarded cache. */
export interface CacheHealth {
  /** `down`: it did not answer and is not asked for a while. */
  readonly remote: "up" | "down";
  /** Number of entries whose value it does not have: to be written back, or to be joined with another machine's by the next write of their reader. */
  readonly behind: number;
  /** The last error of the remote cache. */
  readonly lastError: CacheError | undefined;
}

/** Options of {@link guardedCache}. */
export interface GuardedOptions {
  readonly remote: RemoteCache;
  readonly local: Cache;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly cooldown?: Cooldown;
}

/** A cache with a remote and a local place, and their state. */
export interface GuardedCache extends Cache {
  readonly health: CacheHealth;
}

/** The local copy of an entry; `entry` is the entry of the local cache that holds it. */
interface LocalCopy {
  readonly state: CopyState;
  readonly entry?: CacheEntry;
}

const COOLDOWN: Cooldown = { first: 500, most: 30_000 };
/** Further tries of a write with a later stamp, when a machine whose clock is ahead has written the same key. */
const RESTAMPS = 3;
/** Tries of a replacement while others write the same key, or the remote fails and returns. */
const TRIES = 20;

/** A cache over a remote and a local one. */
export function guardedCache(options: GuardedOptions): GuardedCache {
  return new LocalAndRemote(options);
}

class LocalAndRemote implements GuardedCache {
  readonly #remote: GuardedRemote;
  readonly #local: Cache;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #behind: WriteBackList;
  /** Keys with another value in each place, and the end of the local one in milliseconds since 1970. */
  readonly #apart = new Map<string, number>();
  #finding: Promise<void> | undefined;
  #lastStamp = 0;
  #longestTtl = DEFAULT_TTL;
  #closing: Promise<void> | undefined;

  constructor({ remote, local, clock = systemClock, logger = defaultLogger, cooldown = COOLDOWN }: GuardedOptions) {
    this.#remote = new GuardedRemote({ remote, clock, logger, cooldown, onReturn: () => this.#behind.startNow() });
    this.#local = local;
    this.#clock = clock;
    this.#logger = logger;
    const wait = (): number => Math.max(cooldown.first, this.#remote.wait);
    this.#behind = new WriteBackList({ clock, wait, write: (key) => this.#writeBack(key) });
  }

  get health(): CacheHealth {
    for (const [key, expires] of this.#apart) if (expires <= this.#clock.now()) this.#apart.delete(key);
    return { remote: this.#remote.isUp ? "up" : "down", behind: this.#behind.size + this.#apart.size, lastError: this.#remote.lastError };
  }

  async get(key: string): Promise<CacheEntry> {
    this.#begin();
    const [local, remote] = await this.#copies(key);
    const { entry, isRemoteBehind, isLocalBehind } = mergedEntry(local.state, remote, this.#clock.now());
    if (remote.kind !== "unasked") this.#note(key, local, entry);
    if (entry === undefined) throw unreachable(local.state, remote);
    if (isRemoteBehind) this.#behind.add(key);
    if (isLocalBehind && remote.kind === "found") await this.#copyToLocal(key, remote.it, local);
    return entry;
  }

  async replace(key: string, value: string, { expected, ttl }: ReplaceOptions): Promise<CacheEntry | undefined> {
    this.#begin();
    this.#longestTtl = Math.max(this.#longestTtl, checkedTtl(ttl));
    for (let n = 0; n < TRIES; n++) {
      const [local, remote] = await this.#copies(key);
      const { entry } = mergedEntry(local.state, remote, this.#clock.now());
      // Without an answer of either side the caller's expectation stands.
      if (entry !== undefined && !isSameEntry(entry, expected)) return entry;
      const it = { stamp: this.#nextStamp(), expires: this.#clock.now() + ttl, value };
      const isDone =
        remote.kind === "unasked"
          ? await this.#replaceLocally(key, it, local, baseOf(local, expected))
          : await this.#replaceBoth(key, it, local, remote);
      if (isDone) return undefined;
    }
    throw new CacheError("CACHE_BUSY", "Expected to replace an entry of a cache, but others wrote it all the time. Try again.");
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    this.#begin();
    this.#longestTtl = Math.max(this.#longestTtl, checkedTtl(ttl));
    await this.#write(key, value, ttl);
  }

  /** Writes a deletion, which stays as long as any older value may stay. */
  async delete(key: string): Promise<void> {
    this.#begin();
    await this.#write(key, undefined, this.#longestTtl);
  }

  async keys(prefix: string): Promise<readonly string[]> {
    refuseClosed(this.#closing !== undefined);
    return [...new Set([...(await keysOf(this.#local, prefix)), ...(await this.#remote.keys(prefix))])];
  }

  /** @throws CacheError `CACHE_CLOSED` */
  #begin(): void {
    refuseClosed(this.#closing !== undefined);
    this.#finding ??= this.#findOld();
  }

  /** Finds what a process before this one has stored while the remote was away. */
  async #findOld(): Promise<void> {
    for (const key of (await this.#local.keys?.("").catch(() => [])) ?? []) {
      if (this.#closing !== undefined) return;
      const { state } = await this.#localCopy(key);
      if (state.kind === "found" && state.it.base !== undefined && !this.#apart.has(key)) this.#behind.add(key);
    }
  }

  /** Notes whether the places have different values of a key. */
  #note(key: string, { state }: LocalCopy, entry: CacheEntry | undefined): void {
    const isApart = state.kind === "found" && entry?.kind === "hit" && entry.other !== undefined;
    if (isApart) this.#apart.set(key, state.it.expires);
    else this.#apart.delete(key);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const stopped = this.#behind.stop();
    // A call to a remote cache that is down would wait for its whole limit.
    if (!this.#remote.isUp) await this.#remote.close();
    await stopped;
    if (this.#remote.isUp) await this.#behind.writeAll();
    await this.#finding;
    const left = this.health.behind;
    if (left > 0) this.#logger.warn(`The cache was closed with ${left} entries that only its local place has.`);
    await Promise.all([this.#remote.close(), this.#local.close()]);
  }

  async #write(key: string, value: string | undefined, ttl: number): Promise<void> {
    for (let n = 0; ; n++) {
      const it: Stamped = { stamp: this.#nextStamp(), expires: this.#clock.now() + ttl, value };
      const [local, remote] = await Promise.all([this.#store(key, it, ttl), this.#remote.putOver(key, it)]);
      if (remote.kind === "later" && remote.stamp > this.#lastStamp && n < RESTAMPS) {
        this.#lastStamp = remote.stamp;
        continue;
      }
      if (remote.kind === "unasked" && local !== undefined) throw storedNowhere(local.error);
      this.#apart.delete(key);
      if (remote.kind === "unasked") this.#behind.add(key);
      return;
    }
  }

  /** Returns a stamp that is later than every known stamp, also when the clock goes back. */
  #nextStamp(): number {
    this.#lastStamp = Math.max(this.#lastStamp + 1, Math.floor(this.#clock.now()));
    return this.#lastStamp;
  }

  #sawStamp(stamp: number): void {
    this.#lastStamp = Math.max(this.#lastStamp, stamp);
  }

  async #copies(key: string): Promise<readonly [LocalCopy, CopyState]> {
    const [local, remote] = await Promise.all([this.#localCopy(key), this.#remote.get(key)]);
    for (const state of [local.state, remote]) if (state.kind === "found") this.#sawStamp(state.it.stamp);
    return [local, remote];
  }

  async #localCopy(key: string): Promise<LocalCopy> {
    try {
      const entry = await this.#local.get(key);
      return { entry, state: entry.kind === "hit" ? copyIn(entry.value) : entry };
    } catch (error) {
      this.#logger.warn(`The local place of a cache could not be read: ${thrownText(error)}`);
      return { state: { kind: "unasked", error } };
    }
  }

  /** Writes the local copy alone, with the sum of the value it replaces. @returns false when another process wrote it meanwhile */
  async #replaceLocally(key: string, it: Stamped, local: LocalCopy, base: string): Promise<boolean> {
    if (local.state.kind === "unasked") throw storedNowhere(local.state.error);
    const ttl = it.expires - this.#clock.now();
    const other = await replaceIn(this.#local, key, stampedText({ ...it, base }), { expected: local.entry, ttl });
    if (other !== undefined) return false;
    this.#apart.delete(key);
    this.#behind.add(key);
    return true;
  }

  /** Writes both copies, or the local one alone when the remote does not answer. @returns false when a copy has changed meanwhile */
  async #replaceBoth(key: string, it: Stamped, local: LocalCopy, remote: CopyState): Promise<boolean> {
    if (remote.kind === "damaged") {
      if ((await this.#remote.putOver(key, it)).kind !== "written") return false;
    } else {
      const outcome = await this.#remote.replace(key, it, sumOf(remote));
      if (outcome.kind === "unasked") return this.#replaceLocally(key, it, local, sumOf(remote));
      if (outcome.kind === "later") this.#sawStamp(outcome.stamp);
      if (outcome.kind !== "written") return false;
    }
    await this.#copyToLocal(key, it, local);
    this.#apart.delete(key);
    return true;
  }

  /** Copies the remote value to the local cache, unless another process wrote there meanwhile: its value may be nowhere else. */
  async #copyToLocal(key: string, it: Stamped, local: LocalCopy): Promise<void> {
    if (local.state.kind === "unasked") return;
    try {
      await replaceIn(this.#local, key, stampedText(it), { expected: local.entry, ttl: it.expires - this.#clock.now() });
    } catch (error) {
      this.#logger.warn(`The local place of a cache could not be written: ${thrownText(error)}`);
    }
  }

  /** Stores an entry locally. @returns the failure, if it failed */
  async #store(key: string, it: Stamped, ttl: number): Promise<Unasked | undefined> {
    try {
      await this.#local.set(key, stampedText(it), ttl);
      return undefined;
    } catch (error) {
      this.#logger.warn(`The local place of a cache could not be written: ${thrownText(error)}`);
      return { kind: "unasked", error };
    }
  }

  /** Writes a local entry to the remote place. @returns false when it has to be tried again */
  async #writeBack(key: string): Promise<boolean> {
    const local = await this.#localCopy(key);
    if (local.state.kind === "unasked") return false;
    if (local.state.kind !== "found" || local.state.it.expires <= this.#clock.now()) return true;
    const { it } = local.state;
    if (it.base === undefined) return (await this.#remote.putOver(key, it)).kind !== "unasked";
    const remote = await this.#remote.get(key);
    if (remote.kind === "unasked") return false;
    if (remote.kind === "found") this.#sawStamp(remote.it.stamp);
    const { entry, isRemoteBehind } = mergedEntry(local.state, remote, this.#clock.now());
    this.#note(key, local, entry);
    if (isRemoteBehind) {
      const { expires, value } = it;
      return this.#replaceBoth(key, { stamp: this.#nextStamp(), expires, value }, local, remote);
    }
    this.#logger.info(
      "An entry that was stored while the shared place of a cache was away stays here: another machine has written it too.",
    );
    return true;
  }
}

/** Returns the sum of the value that a write replaces when only the local cache answers. */
function baseOf({ state }: LocalCopy, expected: CacheEntry | undefined): string {
  const known = state.kind === "found" && state.it.value !== undefined ? state.it : undefined;
  return known?.base ?? bodySum(known?.value ?? (expected?.kind === "hit" ? expected.value : undefined));
}

function unreachable(local: CopyState, remote: CopyState): CacheError {
  const [why, other] = [remote, local].map((state) => (state.kind === "unasked" ? state.error : undefined));
  const reason = why === undefined ? "its shared place did not answer" : thrownText(why);
  return new CacheError(
    "CACHE_UNREACHABLE",
    `Expected an answer of the shared place of a cache, got none, and its local place has no copy. What is stored there is as it was: try again later. Reason: ${reason}`,
    { cause: why ?? other },
  );
}

function storedNowhere(cause: unknown): TroupeError {
  if (TroupeError.isInstance(cause)) return cause;
  return new CacheError("CACHE_UNREACHABLE", "Expected one of the two places of a cache to answer, got neither. Look at the causes.", {
    cause,
  });
}
