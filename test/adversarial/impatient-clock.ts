import type { Clock } from "../../src/index.ts";

/** A clock that stands still, on which pauses of up to 20 s, as between two tries, pass at once, and longer limits never. */
export const impatient: Clock = {
  now: () => 1_700_000_000_000,
  timer(ms, fire) {
    if (ms > 20_000) return () => {};
    const soon = setImmediate(fire);
    return () => clearImmediate(soon);
  },
};
