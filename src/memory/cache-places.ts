import { NO_BODY, readStamped, type Stamped, bodySum } from "./stamped-text.ts";
import type { CacheEntry } from "./cache.ts";

/** What one of two places has. */
export type Found = Exclude<CacheEntry, { readonly kind: "hit" }> | { readonly kind: "found"; readonly it: Stamped } | Unasked;

/** The place could not be asked: nothing is known of what it has. */
export interface Unasked {
  readonly kind: "unasked";
  readonly error?: unknown;
}

/** What two places together say of a key. */
export interface Answer {
  /** Undefined: nobody who could know was asked. */
  readonly entry: CacheEntry | undefined;
  /** The local place has what the shared one has to get. */
  readonly isBehind: boolean;
  /** The shared place has what the local one has to get. */
  readonly isStale: boolean;
}

const MISS: CacheEntry = { kind: "miss" };

export function foundIn(text: string): Found {
  const it = readStamped(text);
  return it === undefined
    ? { kind: "damaged", reason: "it is not what was written: its form or its checksum is wrong" }
    : { kind: "found", it };
}

/**
 * The newer of the two answers. What was written here while the shared place could not be asked is newer only where that still has what was written
 * over: else somebody else has written too, and both are told.
 */
export function answerOf(near: Found, far: Found, now: number): Answer {
  const here = near.kind === "found" ? near.it : undefined;
  const there = far.kind === "found" ? far.it : undefined;
  if (here?.base !== undefined && far.kind !== "unasked") return unconfirmed(here, far, now);
  if (here === undefined && there === undefined) return { ...UNCHANGED, entry: nothingFound(near, far) };
  if (there === undefined || (here !== undefined && here.stamp > there.stamp)) {
    return { entry: entryOf(here, now), isBehind: far.kind !== "unasked", isStale: false };
  }
  const isStale = near.kind !== "unasked" && here?.stamp !== there.stamp && isLive(there, now);
  return { entry: entryOf(there, now), isBehind: false, isStale };
}

/** What a place has, for whoever replaces exactly that. */
export function sumOf(found: Found): string {
  return found.kind === "found" ? bodySum(found.it.value) : NO_BODY;
}

const UNCHANGED = { isBehind: false, isStale: false };

function unconfirmed(here: Stamped, far: Found, now: number): Answer {
  const there = far.kind === "found" ? far.it : undefined;
  const isDeletedLater = there !== undefined && there.value === undefined && there.stamp > here.stamp;
  if (!isLive(here, now) || isDeletedLater)
    return { ...UNCHANGED, entry: there === undefined ? nothingFound({ kind: "miss" }, far) : entryOf(there, now) };
  if (there === undefined || !isLive(there, now)) return { entry: entryOf(here, now), isBehind: true, isStale: false };
  if (there.value === here.value) return { entry: entryOf(there, now), isBehind: false, isStale: true };
  if (bodySum(there.value) === here.base) return { entry: entryOf(here, now), isBehind: true, isStale: false };
  return { ...UNCHANGED, entry: { kind: "hit", value: there.value, other: here.value } };
}

function isLive(it: Stamped, now: number): it is Stamped & { readonly value: string } {
  return it.value !== undefined && it.expires > now;
}

function entryOf(it: Stamped | undefined, now: number): CacheEntry {
  return it !== undefined && isLive(it, now) ? { kind: "hit", value: it.value } : MISS;
}

/** A miss only where the shared place said so. */
function nothingFound(near: Found, far: Found): CacheEntry | undefined {
  if (near.kind === "damaged") return near;
  if (far.kind === "damaged") return far;
  return far.kind === "unasked" ? undefined : MISS;
}
