import { JournalError } from "../kernel/errors.ts";
import type { RunSnapshot } from "../runtime/record/journal.ts";
import type { ChatRow } from "./event-chats.ts";
import { chainStart, type Position, type StoredBlock } from "./event-rows.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { hex, knownRow, type RunRow } from "./postgres-runs.ts";
import type { RowSource } from "./run-reader.ts";
import { snapshotAhead, staleEpoch } from "./stored-runs.ts";

/** Bytes of bodies after which a page ends: about ten times as many characters of JSON. */
const PAGE_BYTES = 200_000;

export function rowsIn(db: PostgresDatabase): RowSource {
  const { schema, server } = db;
  return {
    pageRows: 256,
    head: (runId) => knownRow(db, runId),
    rowsBefore: (number, seq) => rowsBefore(db, number, seq),
    blocks(number, from, end, limit) {
      const text = `SELECT seq, body, checksum FROM (
          SELECT seq, body, ${hex("checksum")} AS checksum, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
          FROM (SELECT * FROM ${schema}.events WHERE number = $1 AND seq >= $2 AND seq < $3 ORDER BY seq LIMIT $4) AS part
        ) AS page WHERE before < ${PAGE_BYTES} ORDER BY seq`;
      return db.rows<StoredBlock>({ name: "page of events", text }, [number, from, end, limit]);
    },
    turns: (number, chats, known) => turnsOf(db, [number, chats, known]),
    damaged(runId, intact, why) {
      const whole = intact === 0 ? "none of its events is sure" : `its first ${intact} events are intact`;
      return new JournalError(
        "JOURNAL_DAMAGED",
        `Expected run ${runId} to be whole, but in schema ${server.schema} of ${server.shown} ${whole}, and then: ${why}. What is intact can still be read. Put back a copy of the database from before.`,
        { data: { database: server.shown, runId, intact } },
      );
    },
  };
}

function rowsBefore({ rows, schema }: PostgresDatabase, number: number, seq: number): Promise<readonly Position[]> {
  const text = `SELECT seq, ${hex("checksum")} AS checksum FROM ${schema}.events WHERE number = $1 AND seq < $2 ORDER BY seq DESC LIMIT 2`;
  return rows(text, [number, seq]);
}

async function turnsOf({ rows, schema }: PostgresDatabase, asked: readonly unknown[]): Promise<ReadonlyMap<string, ChatRow>> {
  // A chain that leads into itself ends here, because UNION adds no row twice; its digests do not match.
  const text = `WITH RECURSIVE turns AS (
      SELECT c.chat, c.before, c.message FROM ${schema}.chats c
      WHERE c.number = $1 AND c.chat = ANY (ARRAY(SELECT decode(k, 'hex') FROM unnest($2::text[]) k))
      UNION
      SELECT c.chat, c.before, c.message FROM ${schema}.chats c JOIN turns t ON c.chat = t.before
      WHERE c.number = $1 AND c.chat <> ALL (ARRAY(SELECT decode(k, 'hex') FROM unnest($3::text[]) k))
    )
    SELECT ${hex("t.chat")} AS chat, ${hex("t.before")} AS before, ${hex("t.message")} AS message, m.body
    FROM turns t LEFT JOIN ${schema}.chat_messages m ON m.number = $1 AND m.message = t.message`;
  const found = await rows<ChatRow & { readonly chat: string }>({ name: "turns of conversations", text }, asked);
  return new Map(found.map((row) => [row.chat, row]));
}

export async function keepSnapshot(db: PostgresDatabase, runId: string, epoch: number, { seq, state }: RunSnapshot): Promise<void> {
  const row = await knownRow(db, runId);
  if (row.epoch !== epoch || epoch === 0) throw staleEpoch(runId, row.epoch, epoch);
  const head = await checksumBefore(db, runId, row, seq);
  if (head === undefined) throw snapshotAhead(runId, row.events, seq);
  const kept = await db.rows(
    `INSERT INTO ${db.schema}.snapshots (number, seq, checksum, state)
     SELECT number, $3, decode($4, 'hex'), $5 FROM ${db.schema}.runs WHERE number = $1 AND epoch = $2 FOR UPDATE
     ON CONFLICT (number) DO UPDATE SET seq = excluded.seq, checksum = excluded.checksum, state = excluded.state RETURNING number`,
    [row.number, epoch, seq, head, state],
  );
  if (kept.length === 0) throw staleEpoch(runId, (await knownRow(db, runId)).epoch, epoch);
}

/**
 * Returns the snapshot of a run; undefined for none, and for one of another past. PostgresSnapshots.P1 a snapshot has the checksum of the event
 * before it, which covers the record up to there. The reader of its state checks its content.
 */
export async function newestSnapshot(db: PostgresDatabase, runId: string): Promise<RunSnapshot | undefined> {
  const run = await knownRow(db, runId);
  const [row] = await db.rows<{ readonly seq: number; readonly checksum: string; readonly state: string }>(
    `SELECT seq, ${hex("checksum")} AS checksum, state FROM ${db.schema}.snapshots WHERE number = $1`,
    [run.number],
  );
  if (row === undefined || row.checksum !== (await checksumBefore(db, runId, run, row.seq))) return undefined;
  return { seq: row.seq, state: row.state };
}

async function checksumBefore(db: PostgresDatabase, runId: string, { number, events }: RunRow, seq: number): Promise<string | undefined> {
  if (seq === 0) return chainStart(runId);
  return seq > events ? undefined : (await rowsBefore(db, number, seq))[0]?.checksum;
}
