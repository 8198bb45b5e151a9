import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of heap, half as many again as the modules of all tests take. */
const LARGE = 200 * 1024 ** 2;

let collect: (() => void) | undefined;
let limit = LARGE;

/**
 * Gives garbage back between two test files when there is much. Each program that a test starts costs time for every page of this process, and
 * the engine keeps pages while the machine has more.
 */
export function shrinkHeap(): void {
  if (getHeapStatistics().total_heap_size < limit) return;
  setFlagsFromString("--expose-gc");
  collect ??= runInNewContext("gc") as () => void;
  collect();
  limit = Math.max(LARGE, getHeapStatistics().total_heap_size * 1.4);
}
