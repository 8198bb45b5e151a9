/* Global Web Crypto and not `node:crypto`: the page of the inspector runs the same code in a browser. */

const LAST_DIGITS: readonly string[] = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, "0"));

/** The current UUID without its last two digits, and how many ids were made with it. */
let first = "";
let given = LAST_DIGITS.length;

/**
 * Returns a fresh UUID of version 4 for a message made outside any run. Its first 114 random bits are drawn once for 256 ids, because
 * drawing them takes as long as the rest of a message. So ids can be guessed from others: an id is no secret.
 */
export function freshMessageId(): string {
  if (given === LAST_DIGITS.length) {
    first = crypto.randomUUID().slice(0, -2);
    given = 0;
  }
  const last = LAST_DIGITS[given] as string;
  given += 1;
  return first + last;
}

/** A service treats calls of one name as one call. */
export function freshStepKey(): string {
  return crypto.randomUUID();
}

/** Returns a fresh run id: base-36 time, then 8 random characters, so that ids sort by age. @param now milliseconds since 1970 */
export function freshRunId(now: number): string {
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `${now.toString(36)}-${Array.from(random, (byte) => LAST_DIGITS[byte]).join("")}`;
}
