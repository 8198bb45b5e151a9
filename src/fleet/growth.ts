import { type Clock, sleep } from "../kernel/clock.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { eventsOf } from "../team/submit.ts";

/** Milliseconds between two looks at a record in a journal without `watch`. */
const LOOK = 250;

/** Yields at once, and then whenever the record of a run may have grown. Ends or throws when the signal aborts. @throws JournalError of `watch` */
export async function* growthOf(
  journal: Pick<Journal, "watch">,
  runId: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): AsyncGenerator<void> {
  if (journal.watch !== undefined) yield* journal.watch(runId, { signal });
  else
    for (;;) {
      yield;
      await sleep(clock, LOOK, signal);
    }
}

export interface LastEvent {
  readonly events: number;
  /** Undefined for a run without events. */
  readonly last: RunEvent | undefined;
}

/** Returns the last event of a run, also for one that the journal does not have. */
export async function lastOf(journal: Journal, runId: string): Promise<LastEvent> {
  const events = await eventsOf(journal, runId);
  if (events > 0) for await (const last of journal.read(runId, events - 1)) return { events, last };
  return { events, last: undefined };
}
