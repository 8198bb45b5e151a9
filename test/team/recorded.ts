import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal, RunSnapshot } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedProcesses } from "../simulated-processes.ts";

/** The events of a run, as a store on disk would give them back: fresh objects, nothing shared with the run. */
export async function eventsOf(journal: Journal, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of journal.read(runId, 0)) events.push(fresh(event));
  return events;
}

/**
 * A journal that has these events of one run, and a snapshot of it where one is given, and nothing else. The process that wrote them has
 * died.
 */
export async function journalWith(runId: string, events: readonly RunEvent[], snapshot?: RunSnapshot): Promise<Journal> {
  const host = simulatedProcesses(memoryJournal());
  const { journal, kill } = host.start();
  await journal.create(runId);
  const { epoch } = await journal.claim(runId);
  if (events.length > 0) await journal.append(runId, epoch, 0, events.map(fresh));
  if (snapshot !== undefined) await journal.keepSnapshot?.(runId, epoch, snapshot);
  kill();
  return host.start().journal;
}

/** The same journal, which appends otherwise. */
export function appendingBy(inner: Journal, append: Journal["append"]): Journal {
  return {
    create: (runId) => inner.create(runId),
    claim: (...given) => inner.claim(...given),
    release: (...given) => inner.release(...given),
    append,
    read: (runId, from) => inner.read(runId, from),
    runs: () => inner.runs(),
    remove: (runId) => inner.remove(runId),
    close: () => inner.close(),
  };
}

/** The same event as it comes out of a store. */
export function fresh(event: RunEvent): RunEvent {
  return JSON.parse(JSON.stringify(event)) as RunEvent;
}
