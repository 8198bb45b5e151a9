import { throwIfAborted } from "../kernel/abort.ts";
import { nextMacrotask } from "../kernel/clock.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** The number of events that are read before timers and input get a turn. */
const BATCH = 500;

/**
 * Yields the events of a run from `from` on. A journal in memory never waits, so this pauses regularly for timers and input, and with them
 * for a stop.
 *
 * @throws ControlError when the signal aborts; JournalError as `read` of the journal
 */
export async function* readEvents(
  journal: Journal,
  runId: string,
  { from = 0, signal }: { readonly from?: number; readonly signal?: AbortSignal } = {},
): AsyncIterable<RunEvent> {
  let count = 0;
  for await (const event of journal.read(runId, from)) {
    throwIfAborted(signal);
    yield event;
    count += 1;
    if (count % BATCH === 0) await nextMacrotask();
  }
}
