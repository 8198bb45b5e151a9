import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage now. What a weak reference was asked for in this task stays until the next one. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** The number of measures of bytes: other work of the process falls into some of them, not into most. */
const MEASURES = 3;

/**
 * Bytes that are alive after some work and were not before, or whose content was freed: the middle one of several measures, each of work
 * that starts anew: what an earlier one has made is not kept again. What the work gives is kept alive until it is measured.
 */
export function bytesKeptBy(work: () => unknown): number {
  const measure = (): number => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const kept = [work()];
    collectGarbage();
    return process.memoryUsage().heapUsed - before + kept.length - 1;
  };
  const measures = Array.from({ length: MEASURES }, measure).toSorted((a, b) => a - b);
  return measures[Math.floor(MEASURES / 2)] ?? Number.NaN;
}
