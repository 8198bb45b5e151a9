import { randomBytes, randomUUID } from "node:crypto";

/** How the last two digits of a UUID read. */
const LAST_DIGITS: readonly string[] = Array.from({ length: 256 }, (_, place) => place.toString(16).padStart(2, "0"));

/** All but the last two digits of a UUID, and how many ids with these have been given. */
let first = "";
let given = LAST_DIGITS.length;
/** The id that was given last, unless it was used. */
let unused: string | undefined;

/**
 * A fresh id for a message made outside any run: a UUID of version 4. Its first 114 random bits are drawn once for 256 ids, which differ in
 * the last two digits: drawing and writing all of it each time takes as long as all else that a message needs. So who sees one can guess others: an id is a name and
 * no secret.
 */
export function freshMessageId(): string {
  if (given === LAST_DIGITS.length) {
    first = randomUUID().slice(0, -2);
    given = 0;
  }
  const last = LAST_DIGITS[given] as string;
  given += 1;
  unused = first + last;
  return unused;
}

/**
 * Whether an id is the one that was given last, and this is its first use: whoever takes in all that is known by an id asks before, and so need not
 * look that one up. Once it has been asked for, it is used. Most ids are used as soon as they are given.
 */
export function isFirstUse(id: string): boolean {
  if (id !== unused) return false;
  unused = undefined;
  return true;
}

/** A fresh name for an effect outside any run: no two share one, for a service takes calls of one name for one call. */
export function freshStepKey(): string {
  return randomUUID();
}

/**
 * A fresh run id: base-36 time, then 8 random characters, so that ids sort by age and read well on a screen.
 *
 * @param now milliseconds since 1970
 */
export function freshRunId(now: number): string {
  return `${now.toString(36)}-${randomBytes(4).toString("hex")}`;
}
