import { type Clock, sleep } from "../kernel/clock.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { eventsOf } from "../team/run-driver.ts";

/** Polling interval in milliseconds for a record in a journal without `watch`. */
const LOOK = 250;

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
  readonly last: RunEvent | undefined;
}

export async function lastOf(journal: Journal, runId: string): Promise<LastEvent> {
  const events = await eventsOf(journal, runId);
  if (events > 0) for await (const last of journal.read(runId, events - 1)) return { events, last };
  return { events, last: undefined };
}
