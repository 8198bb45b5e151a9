import type { Journal, RunInfo } from "../runtime/record/journal.ts";
import { keptTally, readTally, type RunTally } from "../runtime/record/run-summary.ts";
import { digestOf } from "./stored-json.ts";

/*
 * Tallies of runs in a store, each as JSON with a checksum. A reader makes what is missing and keeps it for the next one. A damaged one counts as
 * missing.
 */

/** The tally of a run under way is kept again once it lacks this many events, so that a list reads fewer of each run. */
const MAX_BEHIND = 100;

/** Returns the tally in a row, unless it is missing, damaged, of another version, or has more events than the run. */
export function tallyIn({ runId, events }: RunInfo, text: unknown, checksum: unknown): RunTally | undefined {
  if (typeof text !== "string" || checksum !== checksumOf(runId, text)) return undefined;
  const tally = keptTally(JSON.parse(text), runId);
  return tally !== undefined && tally.summary.events <= events ? tally : undefined;
}

export function tallyText(tally: RunTally): { readonly text: string; readonly checksum: string } {
  const text = JSON.stringify(tally);
  return { text, checksum: checksumOf(tally.summary.id, text) };
}

function checksumOf(runId: string, text: string): string {
  return digestOf(`tally ${JSON.stringify(runId)} ${text}`);
}

/** Returns a run of the list with its whole tally. A run that cannot be read has the kept one, if any. */
export async function withTally(
  journal: Pick<Journal, "read">,
  info: RunInfo,
  keep: (tally: RunTally) => Promise<unknown>,
): Promise<RunInfo> {
  const kept = info.tally?.summary.events ?? 0;
  if (kept >= info.events) return info;
  try {
    const tally = await readTally(journal, info);
    const { events, status } = tally.summary;
    if (status !== "open" || events - kept >= MAX_BEHIND) await keep(tally);
    return { ...info, tally, events };
  } catch {
    return info;
  }
}
