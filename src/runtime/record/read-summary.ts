import { JournalError } from "../../kernel/errors.ts";
import type { Journal, RunInfo } from "./journal.ts";
import { type RunSummary, type RunTally, TallyFold } from "./run-summary.ts";

/** Returns the tally of a run: the one that the journal keeps, with the events that came after it. @throws JournalError of `read` */
export async function readTally(journal: Pick<Journal, "read">, { runId, events, tally }: RunInfo): Promise<RunTally> {
  if (tally !== undefined && tally.summary.events >= events) return tally;
  const fold = new TallyFold(runId, tally);
  if (events > 0) for await (const event of journal.read(runId, fold.next)) fold.add(event);
  return fold.tally;
}

/** Returns the summary of a run in a list. A record that cannot be read has the status `damaged`. */
export async function listedSummary(journal: Pick<Journal, "read">, info: RunInfo): Promise<RunSummary> {
  try {
    return (await readTally(journal, info)).summary;
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return { ...new TallyFold(info.runId, info.tally).tally.summary, events: info.events, status: "damaged" };
  }
}
