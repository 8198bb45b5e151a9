import { JournalError } from "../kernel/errors.ts";
import type { RunSnapshot } from "../runtime/record/journal.ts";
import { type Database, textOf } from "./sqlite-database.ts";
import { chainStart } from "./event-rows.ts";
import { knownRun, ownedRun, type RunHead, rowBefore } from "./sqlite-runs.ts";

/*
 * Snapshots of runs, each as a part of a transaction.
 *
 * SqliteSnapshots.P1 (`newestSnapshot`) a snapshot has the checksum of the event before it, which covers the whole record up to there: one
 * of another past is not returned. Its own contents are checked by the reader of its state.
 */

export function keepSnapshot(db: Database, runId: string, epoch: number, { seq, state }: RunSnapshot): void {
  const run = ownedRun(db, runId, epoch);
  const head = checksumBefore(db, runId, run, seq);
  if (head === undefined) {
    throw new JournalError("SEQ_MISMATCH", `Expected a snapshot of at most ${run.events} events of run ${runId}, got one of ${seq}.`);
  }
  const values = [run.number, seq, head, state];
  db.run("INSERT OR REPLACE INTO snapshots (number, seq, head, body) VALUES (?, ?, unhex(?), ?)", values);
}

/** Returns the snapshot of a run; undefined for none, and for one of another past. @throws JournalError `RUN_UNKNOWN` */
export function newestSnapshot(db: Database, runId: string): RunSnapshot | undefined {
  const run = knownRun(db, runId);
  const row = db.first("SELECT CAST(seq AS INTEGER), hex(head), CAST(body AS BLOB) FROM snapshots WHERE number = ?", [run.number]);
  if (row === undefined) return undefined;
  const [seq, head, bytes] = row;
  if (typeof seq !== "number" || head !== checksumBefore(db, runId, run, seq)) return undefined;
  const state = textOf(bytes);
  return state === undefined ? undefined : { seq, state };
}

/** Returns the checksum of the row of the event before another one; undefined where the record is shorter. */
function checksumBefore(db: Database, runId: string, { number, events }: RunHead, seq: number): string | undefined {
  if (seq === 0) return chainStart(runId);
  if (seq > events) return undefined;
  return rowBefore(db, number, seq)?.checksum;
}
