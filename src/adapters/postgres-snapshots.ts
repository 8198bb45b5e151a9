import type { Json } from "../kernel/json.ts";
import type { RunSnapshot } from "../runtime/record/journal.ts";
import { stale } from "./postgres-appends.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { knownRow, NOBODY } from "./postgres-runs.ts";
import { assertPlain, digestOf, parsePlain } from "./stored-json.ts";

/** Keeps a snapshot in place of the last one. @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`; NotJsonError */
export async function keepSnapshot(db: PostgresDatabase, runId: string, epoch: number, { seq, state }: RunSnapshot): Promise<void> {
  const text = JSON.stringify(state);
  assertPlain(text, `a snapshot of run ${runId}`);
  const row = await knownRow(db, runId);
  const kept =
    epoch === NOBODY
      ? []
      : await db.rows(
          `INSERT INTO ${db.schema}.snapshots (number, seq, checksum, state)
           SELECT number, $3, decode($4, 'hex'), $5 FROM ${db.schema}.runs WHERE number = $1 AND epoch = $2 FOR UPDATE
           ON CONFLICT (number) DO UPDATE SET seq = excluded.seq, checksum = excluded.checksum, state = excluded.state RETURNING number`,
          [row.number, epoch, seq, checksumOf(runId, seq, text), text],
        );
  if (kept.length === 0) throw stale(runId, row.epoch, epoch);
}

/** Returns the newest snapshot of a run; undefined for one that was damaged, because the events have all that is in it. */
export async function newestSnapshot(db: PostgresDatabase, runId: string): Promise<RunSnapshot | undefined> {
  const { number } = await knownRow(db, runId);
  const [row] = await db.rows<{ readonly seq: number; readonly checksum: string; readonly state: string }>(
    `SELECT seq, upper(encode(checksum, 'hex')) AS checksum, state FROM ${db.schema}.snapshots WHERE number = $1`,
    [number],
  );
  if (row === undefined || checksumOf(runId, row.seq, row.state) !== row.checksum) return undefined;
  const parsed = parsePlain(row.state);
  return parsed === undefined ? undefined : { seq: row.seq, state: parsed.value as Json };
}

function checksumOf(runId: string, seq: number, text: string): string {
  return digestOf(`snapshot ${seq} of ${JSON.stringify(runId)} ${text}`);
}
