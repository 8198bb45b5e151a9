import { TroupeError, UsageError } from "../kernel/errors.ts";

/** What a cache has under a key. A damaged entry is not a miss: something was there, and somebody may want to know. */
export type CacheEntry =
  | { readonly kind: "hit"; readonly value: string }
  | { readonly kind: "miss" }
  | { readonly kind: "damaged"; readonly reason: string };

/**
 * Where texts are kept for a while, by key. The port of every cache.
 *
 * C1 what `set` has resolved is what `get` gives, until it is deleted, replaced, or its time is up. C2 of two writes of one key that
 * overlap, the one asked for later stays. C3 keys and values are any text. C4 a damaged entry is told apart from a miss, and can be
 * written again. C5 closing twice is no error; what comes after it is refused with `CACHE_CLOSED`.
 */
export interface Cache {
  get(key: string): Promise<CacheEntry>;
  /**
   * @param ttl milliseconds it is kept
   * @throws CacheError when it could not be stored anywhere.
   */
  set(key: string, value: string, ttl: number): Promise<void>;
  delete(key: string): Promise<void>;
  close(): Promise<void>;
}

/** A cache could not do what it was asked; see `code`. */
export class CacheError extends TroupeError {}

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
