import { JournalError } from "../kernel/errors.ts";
import type { RunSnapshot } from "../runtime/record/journal.ts";
import { chainStart } from "./event-rows.ts";
import { stale } from "./postgres-appends.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { knownRow, NOBODY, type RunRow } from "./postgres-runs.ts";

/*
 * Snapshots of runs.
 *
 * PostgresSnapshots.P1 (`newestSnapshot`) a snapshot has the checksum of the event before it, which covers the whole record up to there: one of
 * another past is not returned. Its own contents are checked by the reader of its state.
 */

/** Keeps a snapshot in place of the last one. @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`, `SEQ_MISMATCH` for one ahead of the record */
export async function keepSnapshot(db: PostgresDatabase, runId: string, epoch: number, { seq, state }: RunSnapshot): Promise<void> {
  const row = await knownRow(db, runId);
  if (row.epoch !== epoch || epoch === NOBODY) throw stale(runId, row.epoch, epoch);
  const head = await checksumBefore(db, runId, row, seq);
  if (head === undefined) {
    throw new JournalError("SEQ_MISMATCH", `Expected a snapshot of at most ${row.events} events of run ${runId}, got one of ${seq}.`);
  }
  const kept = await db.rows(
    `INSERT INTO ${db.schema}.snapshots (number, seq, checksum, state)
     SELECT number, $3, decode($4, 'hex'), $5 FROM ${db.schema}.runs WHERE number = $1 AND epoch = $2 FOR UPDATE
     ON CONFLICT (number) DO UPDATE SET seq = excluded.seq, checksum = excluded.checksum, state = excluded.state RETURNING number`,
    [row.number, epoch, seq, head, state],
  );
  if (kept.length === 0) throw stale(runId, (await knownRow(db, runId)).epoch, epoch);
}

/** Returns the snapshot of a run; undefined for none, and for one of another past. @throws JournalError `RUN_UNKNOWN` */
export async function newestSnapshot(db: PostgresDatabase, runId: string): Promise<RunSnapshot | undefined> {
  const run = await knownRow(db, runId);
  const [row] = await db.rows<{ readonly seq: number; readonly checksum: string; readonly state: string }>(
    `SELECT seq, upper(encode(checksum, 'hex')) AS checksum, state FROM ${db.schema}.snapshots WHERE number = $1`,
    [run.number],
  );
  if (row === undefined || row.checksum !== (await checksumBefore(db, runId, run, row.seq))) return undefined;
  return { seq: row.seq, state: row.state };
}

/** Returns the checksum of the row of the event before another one; undefined where the record is shorter. */
async function checksumBefore(db: PostgresDatabase, runId: string, run: RunRow, seq: number): Promise<string | undefined> {
  if (seq === 0) return chainStart(runId);
  if (seq > run.events) return undefined;
  const [row] = await db.rows<{ readonly checksum: string }>(
    `SELECT upper(encode(checksum, 'hex')) AS checksum FROM ${db.schema}.events WHERE number = $1 AND seq < $2 ORDER BY seq DESC LIMIT 1`,
    [run.number, seq],
  );
  return row?.checksum;
}
