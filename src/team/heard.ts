import { throwIfAborted } from "../kernel/abort.ts";
import { nextMacrotask } from "../kernel/clock.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** Events between two breaths. */
const BREATH = 500;

/**
 * The events of a run, read so that a stop is heard: reading from memory waits for nothing, and would keep out timers and input for a
 * whole long record.
 *
 * @throws ControlError when the signal aborts; JournalError what the journal's `read` throws
 */
export async function* heard(
  journal: Journal,
  runId: string,
  { from, signal }: { readonly from: number; readonly signal: AbortSignal | undefined },
): AsyncIterable<RunEvent> {
  let count = 0;
  for await (const event of journal.read(runId, from)) {
    throwIfAborted(signal);
    yield event;
    count += 1;
    if (count % BREATH === 0) await nextMacrotask();
  }
}
