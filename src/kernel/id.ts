import { randomBytes, randomUUID } from "node:crypto";

/** A fresh id for a message made outside any run. */
export function freshMessageId(): string {
  return randomUUID();
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
