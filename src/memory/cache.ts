import { CacheError, UsageError } from "../kernel/errors.ts";

/** The entry of a key. A damaged entry is not a miss, because something was stored. */
export type CacheEntry =
  | {
      readonly kind: "hit";
      readonly value: string;
      /** The value stored on this machine while the shared cache was unreachable, if that has another value now. The next write joins them. */
      readonly other?: string;
    }
  | { readonly kind: "miss" }
  | { readonly kind: "damaged"; readonly reason: string };

/**
 * Stores strings by key for a limited time. Port.
 *
 * Cache.C1 `get` returns the value that `set` has stored, until it is deleted, replaced or expired. Cache.C2 of two concurrent writes of one key, the
 * later one stays. Cache.C3 keys and values are any strings. Cache.C4 a damaged entry differs from a miss: `set` overwrites it, and `replace` only
 * for a caller that has seen it. Cache.C5 closing twice is no error; later calls are refused with `CACHE_CLOSED`. Cache.C6 of several `replace` that
 * expect the same entry, one writes, and the others return the present entry, also across processes. Cache.C7 a miss means that the cache answered
 * and has no entry; when it cannot answer, `get` throws `CACHE_UNREACHABLE`.
 */
export interface Cache {
  /** @throws CacheError `CACHE_UNREACHABLE` */
  get(key: string): Promise<CacheEntry>;
  /** @param ttl time to live in milliseconds @throws CacheError when the value could not be stored anywhere */
  set(key: string, value: string, ttl: number): Promise<void>;
  /**
   * Writes if the present entry is the expected one, as one atomic operation; otherwise returns the present entry. Optional: without it others
   * may write between `get` and `set`.
   *
   * @throws CacheError when the value could not be stored; `CACHE_BUSY` when others wrote all the time.
   */
  replace?(key: string, value: string, o: ReplaceOptions): Promise<CacheEntry | undefined>;
  delete(key: string): Promise<void>;
  /** Returns the keys that begin with a string, also of entries that have expired. Optional: without it nothing can be forgotten by its scope. */
  keys?(prefix: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function keysOf(cache: Pick<Cache, "keys">, prefix: string): Promise<readonly string[]> {
  if (cache.keys !== undefined) return cache.keys(prefix);
  throw new UsageError(
    "OPTION_INVALID",
    "Expected a cache that can list its keys, got one without keys. Delete the entries by their keys.",
  );
}

export interface ReplaceOptions {
  /** The last result of `get`, or of a `replace` that did not write. Default: a miss. */
  readonly expected?: CacheEntry | undefined;
  readonly ttl: number;
}

export function isSameEntry(one: CacheEntry | undefined, other: CacheEntry | undefined): boolean {
  const [a = MISS, b = MISS] = [one, other];
  return a.kind === "hit" && b.kind === "hit" ? a.value === b.value && a.other === b.other : a.kind === b.kind;
}

const MISS: CacheEntry = { kind: "miss" };

export async function replaceIn(cache: Cache, key: string, value: string, o: ReplaceOptions): Promise<CacheEntry | undefined> {
  if (cache.replace !== undefined) return cache.replace(key, value, o);
  const entry = await cache.get(key);
  if (!isSameEntry(entry, o.expected)) return entry;
  await cache.set(key, value, o.ttl);
  return undefined;
}

export const DEFAULT_TTL: number = 30 * 60 * 1000;

export interface CacheKeyParts {
  readonly prefix: string;
  readonly userId: string;
  readonly chatId: string;
}

/** Characters that are not escaped. A dot is escaped, because `..` would lead out of a folder. */
const PLAIN = /^[A-Za-z0-9_~-]$/;
/** Stands for an empty part. No escaped string is equal to it. */
const EMPTY = "%";

export function cacheKey({ prefix, userId, chatId }: CacheKeyParts): string {
  return [prefix, userId, chatId].map((part) => (part === "" ? EMPTY : Array.from(part, escapedCharacter).join(""))).join(":");
}

function escapedCharacter(character: string): string {
  if (PLAIN.test(character)) return character;
  // An unpaired surrogate has no UTF-8.
  if (/^[\ud800-\udfff]$/.test(character)) return `%u${character.charCodeAt(0).toString(16)}`;
  const escaped = encodeURIComponent(character);
  return escaped === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : escaped;
}

export function checkedTtl(ttl: number): number {
  if (Number.isFinite(ttl) && ttl > 0) return ttl;
  throw new UsageError("TTL_INVALID", `Expected the time to live of an entry to be a positive number of milliseconds, got ${ttl}.`);
}

export function refuseClosed(isClosed: boolean): void {
  if (isClosed)
    throw new CacheError("CACHE_CLOSED", "Expected an open cache, got one that was closed. Close it when nothing uses it any more.");
}

/** Runs one operation on each key at a time, in order. */
export class KeyTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
    this.#last.set(key, turn);
    const leave = (): void => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
