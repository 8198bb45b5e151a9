import { createHook } from "node:async_hooks";
import { type Profiler, Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/*
 * What a program does, in counts that do not depend on how fast the machine is or what else it does: blocks of our own code that ran,
 * promises and timers that were made, bytes of heap that stay.
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

/** How many times blocks of our own code ran while `act` did, from the engine's own counters; some are lost when it collects garbage. */
export async function workOf(act: () => unknown): Promise<number> {
  await called(counters, "Profiler.takePreciseCoverage");
  await act();
  const { result } = (await called(counters, "Profiler.takePreciseCoverage")) as Profiler.TakePreciseCoverageReturnType;
  const own = result.filter(({ url }) => url.includes(OWN) && !url.includes("node_modules"));
  return own.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges)).reduce((sum, { count }) => sum + count, 0);
}

/** How many asynchronous resources of each type were made while `act` did. */
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

/** How often bytes that stay are measured: what else the process makes or gives back meanwhile falls into some of the measures, not into most. */
const MEASURES = 3;

/** Bytes of heap that one of `n` holds, once all garbage is gone: the middle one of several measures. */
export async function heapOfEach(n: number, make: () => unknown): Promise<number> {
  const collect = collector();
  await make();
  // In a function of its own, which lets go of what it made.
  const measure = async (): Promise<number> => {
    collect();
    const before = process.memoryUsage().heapUsed;
    const kept = await make();
    collect();
    const bytes = (process.memoryUsage().heapUsed - before) / n;
    return kept === undefined ? Number.NaN : bytes;
  };
  const measures: number[] = [];
  while (measures.length < MEASURES) measures.push(await measure());
  return measures.toSorted((a, b) => a - b)[Math.floor(MEASURES / 2)] ?? Number.NaN;
}

/** Bytes of heap that were taken while `act` did, given back or not; sampled, so near enough for large amounts only. */
export async function allocatedBy(act: () => unknown): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await called(session, "HeapProfiler.enable");
    const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
    await called(session, "HeapProfiler.startSampling", { samplingInterval: 1_024, ...all });
    await act();
    const { profile } = (await called(session, "HeapProfiler.stopSampling")) as { readonly profile: { readonly head: Sampled } };
    return sizeOf(profile.head);
  } finally {
    session.disconnect();
  }
}

interface Sampled {
  readonly selfSize: number;
  readonly children: readonly Sampled[];
}

function sizeOf({ selfSize, children }: Sampled): number {
  return children.reduce((sum, child) => sum + sizeOf(child), selfSize);
}

function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  return () => {
    collect();
    collect();
  };
}

function called(session: Session, method: string, parameters: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error, result) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
}
