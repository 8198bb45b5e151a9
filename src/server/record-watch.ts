import { type Clock, sleep } from "../kernel/clock.ts";
import { type Journal, runInfo } from "../runtime/record/journal.ts";

/** Milliseconds after which the record of a run is looked at again, where its journal has no `watch` or that has ended. */
const POLL_EVERY = 1_000;
/** Fewest milliseconds between two calls: a run that grows fast is read in larger parts. */
const CALM = 100;

/** Watches the record of a run. @param grew called when it may have grown @returns a function that ends it */
export type RecordWatch = (runId: string, grew: () => void) => () => void;

/** Returns the watch of a journal: its own `watch` where it has one, else one that asks for the number of events. */
export function recordWatch(journal: Journal, clock: Clock): RecordWatch {
  return (runId, grew) => {
    const stop = new AbortController();
    void watched({ journal, clock, runId, grew, signal: stop.signal });
    return () => stop.abort();
  };
}

interface Watched {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runId: string;
  readonly grew: () => void;
  readonly signal: AbortSignal;
}

/** Never rejects: who reads the record hears there why it cannot be read. */
async function watched({ journal, clock, runId, grew, signal }: Watched): Promise<void> {
  const pause = (ms: number): Promise<void> => sleep(clock, ms, signal).catch(() => undefined);
  let known: number | undefined;
  while (!signal.aborted) {
    try {
      for await (const _growth of journal.watch?.(runId, { signal }) ?? []) {
        if (signal.aborted) return;
        grew();
        await pause(CALM);
      }
      const { events } = await runInfo(journal, runId);
      if (!signal.aborted && events !== known) grew();
      known = events;
    } catch {
      // Tried again.
    }
    await pause(POLL_EVERY);
  }
}
