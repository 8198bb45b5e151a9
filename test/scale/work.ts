import { createHook } from "node:async_hooks";
import { type Profiler, Session } from "node:inspector";
import { called } from "./heap.ts";

/*
 * The work of a program, in counts that do not depend on the speed or the load of the machine: blocks of our own code that ran, and
 * promises and timers that were made. Bytes of heap are counted in heap.ts, where no counters slow the program down.
 */

/** Whose work is counted: blocks run in a native function, `sort` or a spread, are not. */
const OWN = "/src/";

/**
 * Counts from the moment this file is loaded: what was compiled before that has no counters of its blocks, so tests import it before they
 * call anything.
 */
const counters = new Session();
counters.connect();
await called(counters, "Profiler.enable");
await called(counters, "Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** Counts the blocks of our own code that ran while `act` did, from the engine's own counters; some are lost when it collects garbage. */
export async function workOf(act: () => unknown): Promise<number> {
  await called(counters, "Profiler.takePreciseCoverage");
  await act();
  const { result } = (await called(counters, "Profiler.takePreciseCoverage")) as Profiler.TakePreciseCoverageReturnType;
  const own = result.filter(({ url }) => url.includes(OWN) && !url.includes("node_modules"));
  return own.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges)).reduce((sum, { count }) => sum + count, 0);
}

/** Counts the asynchronous resources of each type that were made while `act` did. */
export async function resourcesOf(act: () => unknown): Promise<ReadonlyMap<string, number>> {
  const made = new Map<string, number>();
  const hook = createHook({
    init(_id, type) {
      made.set(type, (made.get(type) ?? 0) + 1);
    },
  });
  hook.enable();
  try {
    await act();
  } finally {
    hook.disable();
  }
  return made;
}
