import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The number of measures of bytes that stay: other work of the process falls into some of them, not into most. */
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

/** Asks the engine's inspector. */
export function called(session: Session, method: string, parameters: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error, result) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
}
