/*
 * Ids are drawn from the global Web Crypto and not from `node:crypto`: the page of the inspector folds events by the same code in a browser.
 */

/** The last two digits of a UUID, by number. */
const LAST_DIGITS: readonly string[] = Array.from({ length: 256 }, (_, place) => place.toString(16).padStart(2, "0"));

/** The current UUID without its last two digits; below, the number of ids made with it. */
let first = "";
let given = LAST_DIGITS.length;
/** The latest id, until its first use. */
let unused: string | undefined;

/**
 * Returns a fresh id for a message made outside any run: a UUID of version 4. Its first 114 random bits are drawn once for 256 ids, which
 * differ in the last two digits, because drawing and writing all bits takes as long as the rest of a message. So ids can be guessed from
 * others: an id is a name and no secret.
 */
export function freshMessageId(): string {
  if (given === LAST_DIGITS.length) {
    first = crypto.randomUUID().slice(0, -2);
    given = 0;
  }
  const last = LAST_DIGITS[given] as string;
  given += 1;
  unused = first + last;
  return unused;
}

/**
 * True for the latest id on its first call. An index asks this before it adds an id, and needs no search for a new one. Most ids are used
 * as soon as they are made.
 */
export function isFirstUse(id: string): boolean {
  if (id !== unused) return false;
  unused = undefined;
  return true;
}

/** Returns a unique name for an effect outside any run. It is unique because a service treats calls of one name as one call. */
export function freshStepKey(): string {
  return crypto.randomUUID();
}

/**
 * Returns a fresh run id: base-36 time, then 8 random characters, so that ids sort by age and are short enough for a screen.
 *
 * @param now milliseconds since 1970
 */
export function freshRunId(now: number): string {
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `${now.toString(36)}-${Array.from(random, (byte) => LAST_DIGITS[byte]).join("")}`;
}
