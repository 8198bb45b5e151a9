import { JournalError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import type { FormerOwner } from "../runtime/record/journal.ts";

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
