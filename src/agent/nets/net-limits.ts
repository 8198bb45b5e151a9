import { UsageError } from "../../kernel/errors.ts";

/** @throws UsageError `NET_INVALID` for a limit under which nothing would be thought. */
export function checkLimits(limits: Readonly<Record<string, number>>): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (Number.isSafeInteger(limit) && limit >= 1) continue;
    throw new UsageError("NET_INVALID", `Expected ${name} to be a whole number of 1 or more, got ${limit}.`);
  }
}
