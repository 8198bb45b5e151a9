import { CacheError, UsageError } from "../kernel/errors.ts";

/** What a cache has under a key. A damaged entry is not a miss: something was there, and somebody may want to know. */
export type CacheEntry =
  | {
      readonly kind: "hit";
      readonly value: string;
      /** The value stored on this machine while the shared cache was unreachable, where that has another value now. The next write joins them. */
      readonly other?: string;
    }
  | { readonly kind: "miss" }
  | { readonly kind: "damaged"; readonly reason: string };

/**
 * A store of texts by key, each for a limited time. The port of every cache.
 *
 * Cache.C1 `get` returns the value of a resolved `set` until it is deleted, replaced or expired. Cache.C2 of two overlapping writes of one
 * key the later call counts. Cache.C3 keys and values are any text. Cache.C4 a damaged entry is no miss, and can be written again. Cache.C5
 * closing twice is no error; later calls are refused with `CACHE_CLOSED`. Cache.C6 of several concurrent `replace` calls with the same
 * expectation one writes, and the others get the present entry, also across processes. Cache.C7 a miss means that the place answered and
 * has no entry; `get` throws `CACHE_UNREACHABLE` if it could not be asked.
 */
export interface Cache {
  /** @throws CacheError `CACHE_UNREACHABLE` when nobody could be asked and nothing else answers. */
  get(key: string): Promise<CacheEntry>;
  /**
   * @param ttl milliseconds it is kept
   * @throws CacheError when it could not be stored anywhere.
   */
  set(key: string, value: string, ttl: number): Promise<void>;
  /**
   * Writes where what is there is what was expected, in one step. A cache without it is compared by `get` and written by `set`, so that others may
   * write between the two.
   *
   * @returns undefined when it was written, else what is there now
   * @throws CacheError when it could not be stored anywhere; `CACHE_BUSY` when others wrote all the time.
   */
  replace?(key: string, value: string, o: ReplaceOptions): Promise<CacheEntry | undefined>;
  delete(key: string): Promise<void>;
  close(): Promise<void>;
}

/** When a `replace` writes. */
export interface ReplaceOptions {
  /** What `get`, or a `replace` that did not write, gave last. A miss and a damaged entry are both nothing. Default: nothing. */
  readonly expected?: CacheEntry | undefined;
  /** Milliseconds it is kept. */
  readonly ttl: number;
}

/** Whether two entries are the same, for those who compare before they write. */
export function isSameEntry(one: CacheEntry | undefined, other: CacheEntry | undefined): boolean {
  const [a, b] = [one, other].map((entry) => (entry?.kind === "hit" ? entry : undefined));
  return a?.value === b?.value && a?.other === b?.other;
}

/** Replaces an entry of any cache; see {@link Cache.replace}. */
export async function replaceIn(cache: Cache, key: string, value: string, o: ReplaceOptions): Promise<CacheEntry | undefined> {
  if (cache.replace !== undefined) return cache.replace(key, value, o);
  const entry = await cache.get(key);
  if (!isSameEntry(entry, o.expected)) return entry;
  await cache.set(key, value, o.ttl);
  return undefined;
}

/** How long an entry is kept when nothing else is said: 30 minutes, in milliseconds. */
export const DEFAULT_TTL: number = 30 * 60 * 1000;

/** Whose entry it is. */
export interface CacheKeyParts {
  readonly prefix: string;
  readonly userId: string;
  readonly chatId: string;
}

/** What a part may hold as it is. A dot is not among it: `..` would be a way out of a folder. */
const PLAIN = /^[A-Za-z0-9_~-]$/;
/** An empty part. No escaped text is this. */
const EMPTY = "%";

/**
 * `{prefix}:{userId}:{chatId}`. Different parts give different keys: what is neither a Latin letter, a digit nor one of `_~-` is escaped,
 * so that a colon in a name ends no part.
 */
export function cacheKey({ prefix, userId, chatId }: CacheKeyParts): string {
  return [prefix, userId, chatId].map(escapedPart).join(":");
}

function escapedPart(part: string): string {
  return part === "" ? EMPTY : Array.from(part, escapedCharacter).join("");
}

function escapedCharacter(character: string): string {
  if (PLAIN.test(character)) return character;
  // A lone half of a pair has no UTF-8, and names of users come from anywhere.
  if (/^[\ud800-\udfff]$/.test(character)) return `%u${character.charCodeAt(0).toString(16)}`;
  const escaped = encodeURIComponent(character);
  return escaped === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : escaped;
}

/** @throws UsageError `TTL_INVALID` when it is no time that can pass. */
export function checkedTtl(ttl: number): number {
  if (Number.isFinite(ttl) && ttl > 0) return ttl;
  throw new UsageError("TTL_INVALID", `Expected the time to live of an entry to be a positive number of milliseconds, got ${ttl}.`);
}

/** @throws CacheError `CACHE_CLOSED` */
export function refuseClosed(isClosed: boolean): void {
  if (isClosed)
    throw new CacheError("CACHE_CLOSED", "Expected an open cache, got one that was closed. Close it when nothing uses it any more.");
}
