import { JournalError, type RunEvent } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { eventsOf } from "../team/recorded.ts";

/** The proven deaths of a run's owners without an answer between them: as often as that happened, the last ones at the end. */
function rowsOfDeaths(events: readonly RunEvent[]): readonly number[] {
  const rows = [0];
  for (const event of events) {
    if (event.type === "run.resumed" && event.cause === "died") rows.push((rows.pop() ?? 0) + 1);
    if ((event.type === "step.ended" && event.ok) || event.type === "run.ended") rows.push(0);
  }
  return rows;
}

/** Counts the runs that lost their owners by one death, by two and by more without an answer between them. */
export function deathsInARow(runs: Iterable<readonly RunEvent[]>): readonly [one: number, two: number, more: number] {
  const rows = [...runs].flatMap(rowsOfDeaths);
  return [
    rows.filter((deaths) => deaths === 1).length,
    rows.filter((deaths) => deaths === 2).length,
    rows.filter((deaths) => deaths > 2).length,
  ];
}

/**
 * True when a worker has a run that was lost by two deaths in a row. A third one would end it as poisoned, and rightly so: kills that meet one
 * activation three times cannot be told from an activation that kills.
 *
 * @param log what the worker has logged since its process began
 */
export async function hasLastTry(journal: Journal, log: string): Promise<boolean> {
  const inHand = new Set<string>();
  for (const [, what, runId = ""] of log.matchAll(/"A run (begins|ends)\.","run":"([^"]+)"/g)) {
    if (what === "begins") inHand.add(runId);
    else inHand.delete(runId);
  }
  for (const runId of inHand) if ((rowsOfDeaths(await eventsSoFar(journal, runId)).at(-1) ?? 0) >= 2) return true;
  return false;
}

/** The events of a run; none for one whose beginning is not recorded yet. */
async function eventsSoFar(journal: Journal, runId: string): Promise<readonly RunEvent[]> {
  return eventsOf(journal, runId).catch((error: unknown) => {
    if (error instanceof JournalError && error.code === "RUN_UNKNOWN") return [];
    throw error;
  });
}
