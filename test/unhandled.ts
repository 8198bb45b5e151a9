import { nextMacrotask } from "../src/kernel/clock.ts";

/** Does work, and returns the rejections that nothing had handled when it was done. */
export async function unhandledIn(work: () => Promise<unknown>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    await work();
    for (let n = 0; n < 3; n += 1) await nextMacrotask();
    return unhandled;
  } finally {
    process.off("unhandledRejection", note);
  }
}
