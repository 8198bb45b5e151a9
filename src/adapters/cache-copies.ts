import type { CacheEntry } from "../memory/cache.ts";
import { bodySum, NO_BODY, readStamped, type Stamped } from "./stamped-text.ts";

/** The copy of an entry in the local or in the remote place of a cache. */
export type CopyState = Exclude<CacheEntry, { readonly kind: "hit" }> | { readonly kind: "found"; readonly it: Stamped } | Unasked;

/** The place did not answer: its copy is unknown. */
export interface Unasked {
  readonly kind: "unasked";
  readonly error?: unknown;
}

/** The entry that two copies give together. */
export interface MergedEntry {
  /** Undefined when no place answered that could know the entry. */
  readonly entry: CacheEntry | undefined;
  /** The remote place needs the local copy. */
  readonly isRemoteBehind: boolean;
  /** The local place needs the remote copy. */
  readonly isLocalBehind: boolean;
}

const MISS: CacheEntry = { kind: "miss" };
const EQUAL = { isRemoteBehind: false, isLocalBehind: false };

/** Reads the copy in a stored text. */
export function copyIn(text: string): CopyState {
  const it = readStamped(text);
  return it === undefined
    ? { kind: "damaged", reason: "it is not what was written: its form or its checksum is wrong" }
    : { kind: "found", it };
}

/** Returns the sum of a copy, for a write that replaces exactly this copy. */
export function sumOf(copy: CopyState): string {
  return copy.kind === "found" ? bodySum(copy.it.value) : NO_BODY;
}

/**
 * Returns the newer of two copies. A local copy that was written while the remote place was away is newer only if the remote still has the
 * value that it replaced. Otherwise another machine has written too, and the entry holds both values.
 */
export function mergedEntry(local: CopyState, remote: CopyState, now: number): MergedEntry {
  const here = local.kind === "found" ? local.it : undefined;
  const there = remote.kind === "found" ? remote.it : undefined;
  if (here?.base !== undefined && remote.kind !== "unasked") return unconfirmed(here, remote, now);
  if (here === undefined && there === undefined) return { ...EQUAL, entry: nothingFound(local, remote) };
  if (there === undefined || (here !== undefined && here.stamp > there.stamp)) {
    return { entry: entryOf(here, now), isRemoteBehind: remote.kind !== "unasked", isLocalBehind: false };
  }
  const isLocalBehind = local.kind !== "unasked" && here?.stamp !== there.stamp && isLive(there, now);
  return { entry: entryOf(there, now), isRemoteBehind: false, isLocalBehind };
}

function unconfirmed(here: Stamped, remote: CopyState, now: number): MergedEntry {
  const there = remote.kind === "found" ? remote.it : undefined;
  const isDeletedLater = there !== undefined && there.value === undefined && there.stamp > here.stamp;
  if (!isLive(here, now) || isDeletedLater)
    return { ...EQUAL, entry: there === undefined ? nothingFound({ kind: "miss" }, remote) : entryOf(there, now) };
  if (there === undefined || !isLive(there, now)) return { ...EQUAL, entry: entryOf(here, now), isRemoteBehind: true };
  if (there.value === here.value) return { ...EQUAL, entry: entryOf(there, now), isLocalBehind: true };
  if (bodySum(there.value) === here.base) return { ...EQUAL, entry: entryOf(here, now), isRemoteBehind: true };
  return { ...EQUAL, entry: { kind: "hit", value: there.value, other: here.value } };
}

function isLive(it: Stamped, now: number): it is Stamped & { readonly value: string } {
  return it.value !== undefined && it.expires > now;
}

function entryOf(it: Stamped | undefined, now: number): CacheEntry {
  return it !== undefined && isLive(it, now) ? { kind: "hit", value: it.value } : MISS;
}

/** Returns a miss only if the remote place said so. */
function nothingFound(local: CopyState, remote: CopyState): CacheEntry | undefined {
  if (local.kind === "damaged") return local;
  if (remote.kind === "damaged") return remote;
  return remote.kind === "unasked" ? undefined : MISS;
}
