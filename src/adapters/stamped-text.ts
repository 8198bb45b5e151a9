import { createHash } from "node:crypto";
import { contentHash } from "../kernel/json.ts";
import type { CacheEntry } from "../memory/cache.ts";

/** What is written under a key, and when: so that of two places that have it, the newer is known. */
export interface Stamped {
  /** Milliseconds since 1970, and never twice the same from one writer. */
  readonly stamp: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Undefined: it was deleted. */
  readonly value: string | undefined;
  /** The {@link bodySum} of what it replaces, as long as nobody has confirmed that this is what the shared place has. */
  readonly base?: string | undefined;
}

/** The {@link bodySum} of nothing. */
export const NO_BODY = "-";

/** What every stamped text begins with; the stamp follows, in 15 digits, so that their order as text is their order. */
export const STAMP_MARK = "troupe1 ";
/** Digits of a stamp. */
export const STAMP_DIGITS = 15;
/** No stamp is later, and none that is read is as late. */
export const LATEST_STAMP = 999_999_999_999_999;

const FORM = /^troupe1 (\d{15}) (\d{15}) ([0-9a-f]{64})\n(.*)$/s;
/** With a base. Only a local place has such texts. */
const BASED_FORM = /^troupe2 (\d{15}) (\d{15}) (-|[0-9a-f]{40}) ([0-9a-f]{64})\n(.*)$/s;

/** A stamp as its 15 digits. */
export function stampDigits(stamp: number): string {
  return String(stamp).padStart(STAMP_DIGITS, "0");
}

/** One text of all of it, with a checksum. The value goes as JSON: a text with half a character has no UTF-8. */
export function stampedText({ stamp, expires, value, base }: Stamped): string {
  const body = bodyOf(value);
  const until = Math.min(Math.ceil(expires), LATEST_STAMP);
  const times = `${stampDigits(stamp)} ${stampDigits(until)}`;
  if (base !== undefined) return `troupe2 ${times} ${base} ${contentHash([stamp, until, base, body])}\n${body}`;
  return `${STAMP_MARK}${times} ${contentHash([stamp, until, body])}\n${body}`;
}

/** By what a server can tell whether it has this value: the SHA-1 of what follows the first line of its text. */
export function bodySum(value: string | undefined): string {
  return value === undefined ? NO_BODY : createHash("sha1").update(bodyOf(value)).digest("hex");
}

/** Reads what {@link stampedText} wrote; undefined when it is anything else. */
export function readStamped(text: string): Stamped | undefined {
  const based = BASED_FORM.exec(text);
  if (based !== null) {
    const [, stampText, expiresText, base = NO_BODY, sum, body = ""] = based;
    const [stamp, expires] = [Number(stampText), Number(expiresText)];
    if (sum !== contentHash([stamp, expires, base, body])) return undefined;
    return checked({ stamp, expires, value: valueOf(body), base });
  }
  const [, stampText, expiresText, sum, body = ""] = FORM.exec(text) ?? [];
  const [stamp, expires] = [Number(stampText), Number(expiresText)];
  if (sum === undefined || sum !== contentHash([stamp, expires, body])) return undefined;
  return checked({ stamp, expires, value: valueOf(body) });
}

function checked(stamped: Stamped): Stamped | undefined {
  return stamped.stamp >= LATEST_STAMP ? undefined : stamped;
}

function bodyOf(value: string | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

function valueOf(body: string): string | undefined {
  return body === "" ? undefined : (JSON.parse(body) as string);
}

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
