import { JournalError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import type { FormerOwner, Journal, RunInfo } from "../runtime/record/journal.ts";
import { keptTally, readTally, type RunTally } from "../runtime/record/run-summary.ts";
import { digestOf } from "./stored-json.ts";

/* Lists of runs: the common part of SQLite and Postgres. */

/** Owners of a run that was given back, for the next one. */
export const LEFT: readonly FormerOwner[] = ["released", "drained", "moved", "taken", "died"];
/** Owner whose process was seen to end. */
export const DIED = "died";

/** The last character: no id that begins with a prefix comes after that prefix and this. */
export const LAST_CHARACTER = "\u{10ffff}";

/** Encodes an id without NUL and lone surrogates, which databases do not keep. */
export function nameOf(runId: string): string {
  return JSON.stringify(runId);
}

/** Decodes the name of a run; undefined for a damaged one. */
export function idOf(name: string | undefined): string | undefined {
  const id = parsedJson(name ?? "");
  return typeof id === "string" ? id : undefined;
}

export function unknownRun(runId: string): JournalError {
  return new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
}

export function takenId(runId: string): JournalError {
  return new JournalError("RUN_EXISTS", `Expected a new run id, got ${runId}, which is taken. Resume it or choose another.`);
}

/** @param now the epoch of the run; 0 without an owner */
export function staleEpoch(runId: string, now: number, epoch: number): JournalError {
  const owner = now === 0 ? "it has no owner now" : "another owner has claimed it";
  return new JournalError("EPOCH_STALE", `Expected the epoch of run ${runId}'s owner, got ${epoch}: ${owner}. Claim the run first.`);
}

export function wrongSeq(runId: string, next: number, got: number): JournalError {
  return new JournalError("SEQ_MISMATCH", `Expected event ${next} of run ${runId} next, got ${got}.`);
}

export function snapshotAhead(runId: string, events: number, seq: number): JournalError {
  return new JournalError("SEQ_MISMATCH", `Expected a snapshot of at most ${events} events of run ${runId}, got one of ${seq}.`);
}

/* Tallies of runs, each as JSON with a checksum. A reader makes one that is missing or damaged, and keeps it for the next one. */

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
