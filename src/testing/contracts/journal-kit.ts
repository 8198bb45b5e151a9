import { EVENT_VERSION, type RunEvent } from "../../runtime/record/event.ts";
import type { Journal } from "../../runtime/record/journal.ts";

/** True when a watcher ends; growth that it has not told yet may come first. */
export async function isOver(watched: AsyncIterator<void>): Promise<boolean> {
  for (let n = 0; n < 10; n += 1) if ((await watched.next()).done === true) return true;
  return false;
}

/** Returns an event of a run. */
export function eventOf(runId: string, seq: number, team = "contract"): RunEvent {
  return {
    v: EVENT_VERSION,
    runId,
    seq,
    time: 1_700_000_000_000 + seq,
    type: "run.started",
    team,
    roles: [],
    seed: "1",
    scheduler: "rounds",
  };
}

/** Creates a run, claims it, and adds so many events. @returns the epoch */
export async function filled(journal: Journal, runId: string, count: number): Promise<number> {
  await journal.create(runId);
  const { epoch } = await journal.claim(runId);
  await journal.append(
    runId,
    epoch,
    0,
    Array.from({ length: count }, (_, seq) => eventOf(runId, seq)),
  );
  return epoch;
}

/** Returns the events of a run from `from` on. */
export async function all(journal: Journal, runId: string, from: number): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of journal.read(runId, from)) events.push(event);
  return events;
}

/** Returns the sequence numbers of the events of a run. */
export async function seqs(journal: Journal, runId: string): Promise<number[]> {
  return (await all(journal, runId, 0)).map((event) => event.seq);
}
