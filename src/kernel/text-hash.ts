import { createHash, randomBytes } from "node:crypto";
import { lazily } from "./lazily.ts";

/** A number of 32 bits, signed, for a text: the same text gives the same one for as long as the process lives. */
export type TextHash = (text: string) => number;

/** Longer texts are told by their ends and by samples of what is between: two that are alike there have one hash. */
const WHOLE = 128;
const END = 48;
const SAMPLES = 32;

/** Odd, and their bits look like chance: the golden ratio in 32 bits (Knuth) and the first multiplier of MurmurHash3 (Austin Appleby). */
const GOLDEN = 0x9e37_79b1;
const FIRST = 0xcc9e_2d51;

/** Ids may be chosen by somebody outside: without the seed anybody could look for some of one hash beforehand. */
const seed = lazily(() => randomBytes(4).readInt32LE(0));
const key = lazily(() => randomBytes(32));

let last: string | undefined;
let lastHash = 0;
let before: string | undefined;
let beforeHash = 0;

/**
 * A quick hash: somebody who tries hard enough finds texts that share one. Whoever uses it bears that, or goes on with {@link keyedHash}.
 *
 * The two texts asked for last are known, because a message goes to several memories in a row, and each is asked and told. Texts that differ
 * in the number they end with, or in the one before, as `Writer#41.0` and `Writer#42.0` do, mostly differ in the lowest three bits alone: ids
 * that count up are neighbours in a table.
 */
export function quickHash(text: string): number {
  if (text === last) return lastHash;
  if (text === before) return beforeHash;
  if (text.length > WHOLE) return sampledHash(text);
  before = last;
  beforeHash = lastHash;
  last = text;
  lastHash = wholeHash(text);
  return lastHash;
}

/** A hash that nobody outside can choose texts by, a hundred times as dear: of the whole text, behind a key of this process. */
export function keyedHash(text: string): number {
  // In UTF-8 all lone surrogates are one.
  return createHash("sha256").update(key()).update(text, "utf16le").digest().readInt32LE(0);
}

function wholeHash(text: string): number {
  const { length } = text;
  const digit = countingPlace(text);
  let hash = seed() ^ length;
  let at = 0;
  for (; at + 1 < digit; at += 2) hash = mixed(hash, text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
  for (; at < digit; at += 1) hash = mixed(hash, text.charCodeAt(at));
  const counted = digit < length ? text.charCodeAt(digit) : 0;
  hash = mixed(hash, counted >>> 3);
  for (at = digit + 1; at < length; at += 1) hash = mixed(hash, text.charCodeAt(at));
  hash = finished(hash);
  return (hash & ~7) | ((hash + counted) & 7);
}

/** Where the last digit of the number stands that counts: the one before the last separator, or else the last character. */
function countingPlace(text: string): number {
  const end = text.length - 1;
  let at = end;
  while (at > 0 && isDigit(text.charCodeAt(at))) at -= 1;
  return at > 0 && at < end && isDigit(text.charCodeAt(at - 1)) ? at - 1 : Math.max(end, 0);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function sampledHash(text: string): number {
  const { length } = text;
  let hash = seed() ^ length;
  for (let at = 0; at < END; at += 1) hash = mixed(hash, text.charCodeAt(at) | (text.charCodeAt(length - 1 - at) << 16));
  const step = (length - 2 * END) / SAMPLES;
  for (let sample = 0; sample < SAMPLES; sample += 1) hash = mixed(hash, text.charCodeAt(END + Math.floor(sample * step)));
  return finished(hash);
}

/** The text's part is multiplied before it waits for the hash so far, which is what takes the time. */
function mixed(hash: number, part: number): number {
  const stirred = Math.imul(part, FIRST);
  return Math.imul(((hash << 13) | (hash >>> 19)) ^ stirred ^ (stirred >>> 15), GOLDEN);
}

function finished(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), FIRST);
  return half ^ (half >>> 15);
}
