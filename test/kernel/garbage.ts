import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage now. What a weak reference was asked for in this task stays until the next one. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Bytes that are alive after some work and were not before, or whose content was freed. What the work gives is kept alive. */
export function bytesKeptBy(work: () => unknown): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = [work()];
  collectGarbage();
  return process.memoryUsage().heapUsed - before + kept.length - 1;
}
