import { JournalError } from "../kernel/errors.ts";
import { type FormerOwner, type RunInfo, type RunsPage, unknownBefore, type RunSnapshot } from "../runtime/record/journal.ts";
import type { RunTally } from "../runtime/record/run-summary.ts";
import type { ChatRow } from "./event-chats.ts";
import { chainStart, type Position, type StoredBlock } from "./event-rows.ts";
import { PostgresDatabase, type Rows } from "./postgres-database.ts";
import { type PostgresOptions, postgresServer } from "./postgres-server.ts";
import { INDEXED, JOURNAL_TABLES, RUN_TABLES, sessionChannel } from "./postgres-tables.ts";
import type { RowSource } from "./run-reader.ts";
import { digestOf } from "./stored-json.ts";
import { tallyIn, tallyText, DIED, idOf, LAST_CHARACTER, nameOf, unknownRun, snapshotAhead, staleEpoch } from "./stored-runs.ts";

/** The session of a run without an owner. Its epoch is 0. */
export const NOBODY = "0";
export const CREATED = "created ";

export interface RunRow {
  readonly number: number;
  readonly run: string;
  readonly epoch: number;
  readonly session: string;
  readonly owner: string;
  readonly takes_commands: boolean;
  readonly events: number;
  readonly head: string;
}

function hex(column: string): string {
  return `upper(encode(${column}, 'hex'))`;
}

/** Columns of {@link RunRow}. The number of an epoch fits into a float. */
const RUN_COLUMNS = `r.number, r.run, r.epoch::float8 AS epoch, r.session::text AS session, r.owner, r.takes_commands, r.events, ${hex("r.head")} AS head`;

const keyOf = (runId: string): string => digestOf(nameOf(runId));

export async function rowsOf({ schema }: PostgresDatabase, rows: Rows, runIds: readonly string[]): Promise<ReadonlyMap<string, RunRow>> {
  const byKey = new Map(runIds.map((runId) => [keyOf(runId), runId]));
  const text = `SELECT ${RUN_COLUMNS}, ${hex("r.key")} AS key FROM ${schema}.runs r
    WHERE r.key = ANY (ARRAY(SELECT decode(k, 'hex') FROM unnest($1::text[]) k))`;
  const found = await rows<RunRow & { readonly key: string }>({ name: "runs by key", text }, [[...byKey.keys()]]);
  return new Map(found.map((row) => [byKey.get(row.key) ?? "", row]));
}

export async function knownRow(db: PostgresDatabase, runId: string): Promise<RunRow> {
  const row = (await db.patiently((rows) => rowsOf(db, rows, [runId]))).get(runId);
  if (row === undefined) throw unknownRun(runId);
  return row;
}

interface ListRow {
  readonly number: number;
  readonly run: string;
  readonly key: string;
  readonly events: number;
  readonly tally?: string | null;
  readonly checksum?: string | null;
}

const LIST_COLUMNS = `number, run, ${hex("key")} AS key, events`;
const TALLY_COLUMNS = `tally, ${hex("checksum")} AS checksum`;

export async function allRuns(db: PostgresDatabase): Promise<readonly RunInfo[]> {
  return (await db.rows<ListRow>(`SELECT ${LIST_COLUMNS} FROM ${db.schema}.runs ORDER BY number`)).map(infoIn);
}

export async function newestOf(db: PostgresDatabase, o: RunsPage): Promise<readonly RunInfo[]> {
  const { limit, before, prefix = "", tallies = false } = o;
  const end = before === undefined ? undefined : (await db.patiently((rows) => rowsOf(db, rows, [before]))).get(before);
  if (before !== undefined && end === undefined) throw unknownBefore(before);
  const from = nameOf(prefix).slice(0, -1);
  const isNamed = `AND left(run, ${INDEXED}) >= left($3, ${INDEXED}) AND left(run, ${INDEXED}) < left($3, ${INDEXED}) || '${LAST_CHARACTER}' AND starts_with(run, $3)`;
  const rows = await db.rows<ListRow>(
    `SELECT ${LIST_COLUMNS}${tallies ? `, ${TALLY_COLUMNS}` : ""} FROM ${db.schema}.runs
     ${tallies ? `LEFT JOIN ${db.schema}.tallies USING (number)` : ""}
     WHERE ($1::integer IS NULL OR number < $1) ${prefix === "" ? "" : isNamed} ORDER BY number DESC LIMIT $2`,
    [end?.number ?? null, limit, ...(prefix === "" ? [] : [from])],
  );
  return rows.map(infoIn);
}

export async function infoOf(db: PostgresDatabase, runId: string): Promise<RunInfo> {
  const [row] = await db.rows<ListRow>(
    `SELECT ${LIST_COLUMNS}, ${TALLY_COLUMNS} FROM ${db.schema}.runs LEFT JOIN ${db.schema}.tallies USING (number) WHERE key = decode($1, 'hex')`,
    [keyOf(runId)],
  );
  if (row !== undefined) return infoIn(row);
  return { runId, events: (await knownRow(db, runId)).events };
}

export async function keepTally(db: PostgresDatabase, tally: RunTally): Promise<void> {
  const { text, checksum } = tallyText(tally);
  await db.rows(
    `INSERT INTO ${db.schema}.tallies (number, checksum, tally)
     SELECT number, decode($3, 'hex'), $4 FROM ${db.schema}.runs WHERE key = decode($1, 'hex') AND events >= $2
     ON CONFLICT (number) DO UPDATE SET checksum = excluded.checksum, tally = excluded.tally`,
    [keyOf(tally.summary.id), tally.summary.events, checksum, text],
  );
}

function infoIn({ number, run, key, events, tally, checksum }: ListRow): RunInfo {
  const runId = idOf(run);
  if (runId !== undefined && keyOf(runId) === key && events >= 0) {
    const kept = tallyIn({ runId, events }, tally, checksum);
    return kept === undefined ? { runId, events } : { runId, events, tally: kept };
  }
  throw new JournalError(
    "JOURNAL_DAMAGED",
    `Expected the name of each run, but one was changed since it was written: row ${number} of the list of runs is damaged. Take the database from a copy, or give the run its name back there.`,
    { data: { row: number } },
  );
}

/** Adds a run. @param maker distinguishes an earlier try of the same caller from another caller @returns false when the id is taken */
export async function createRun({ rows, schema }: PostgresDatabase, runId: string, maker: string): Promise<boolean> {
  const added = await rows(
    `WITH added AS (
       INSERT INTO ${schema}.runs (key, run, head, owner) VALUES (decode($1, 'hex'), $2, decode($3, 'hex'), $4)
       ON CONFLICT (key) DO NOTHING RETURNING owner
     )
     SELECT owner FROM added UNION SELECT owner FROM ${schema}.runs WHERE key = decode($1, 'hex') AND owner = $4`,
    [keyOf(runId), nameOf(runId), chainStart(runId), `${CREATED}${maker}`],
  );
  return added.length > 0;
}

/** True while the connection of an owner holds its lock. */
export async function isOwnerConnected(db: PostgresDatabase, session: string): Promise<boolean> {
  const held = await db.rows(
    `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
       AND l.classid = ($1::bigint >> 32)::oid AND l.objid = ($1::bigint & 4294967295)::oid`,
    [session],
  );
  return held.length > 0;
}

export interface NewOwner {
  readonly session: string;
  readonly owner: string;
  readonly takesCommands: boolean;
}

/** Gives a run to a new owner and notifies the former one. Returns undefined when the owner has changed since the row was read. */
export async function giveEpoch(db: PostgresDatabase, row: RunRow, to: NewOwner): Promise<RunRow | undefined> {
  const { schema, server } = db;
  const [given] = await db.rows<RunRow>(
    `WITH given AS (
       UPDATE ${schema}.runs r SET epoch = nextval('${schema}.epochs'), session = $4, owner = $5, takes_commands = $6
       WHERE r.number = $1 AND r.epoch = $2 AND r.session = $3 RETURNING ${RUN_COLUMNS}
     ), dropped AS (
       DELETE FROM ${schema}.commands c USING given g WHERE c.number = g.number AND c.taken_by IS NOT NULL AND c.answer IS NULL
     ), notified AS MATERIALIZED (
       SELECT pg_notify('${sessionChannel(server.schema, row.session)}', 'lost ' || number || ' ' || epoch) FROM given WHERE $3::bigint <> $4::bigint
     )
     SELECT given.* FROM given LEFT JOIN notified ON true`,
    [row.number, row.epoch, row.session, to.session, to.owner, to.takesCommands],
  );
  return given;
}

export async function stillOwned(
  { rows, schema }: PostgresDatabase,
  owned: readonly Pick<RunRow, "number" | "epoch">[],
): Promise<ReadonlySet<number>> {
  const text = `SELECT number FROM ${schema}.runs JOIN unnest($1::integer[], $2::bigint[]) AS o (number, epoch) USING (number, epoch)`;
  const found = await rows<{ number: number }>(text, [owned.map(({ number }) => number), owned.map(({ epoch }) => epoch)]);
  return new Set(found.map(({ number }) => number));
}

export interface EpochEnd {
  readonly runId: string;
  readonly epoch: number;
  readonly how: FormerOwner;
}

export async function endEpochs(rows: Rows, schema: string, ended: readonly EpochEnd[]): Promise<void> {
  await rows(
    `UPDATE ${schema}.runs r SET epoch = 0, session = ${NOBODY}, owner = a.how, takes_commands = false
     FROM json_to_recordset($1) AS a(key text, epoch bigint, how text) WHERE r.key = decode(a.key, 'hex') AND r.epoch = a.epoch AND r.epoch <> 0`,
    [JSON.stringify(ended.map(({ runId, epoch, how }) => ({ key: keyOf(runId), epoch, how })))],
  );
}

const SWEEP = 5_000;

export async function removeRun(db: PostgresDatabase, row: RunRow): Promise<boolean> {
  const { schema, server } = db;
  const found = await db.rows(
    `WITH gone AS (DELETE FROM ${schema}.runs WHERE number = $1 AND epoch = $2 AND session = $3 RETURNING number),
       noted AS (INSERT INTO ${schema}.removed SELECT number FROM gone ON CONFLICT DO NOTHING),
       notified AS MATERIALIZED (SELECT pg_notify('${sessionChannel(server.schema, row.session)}', 'lost ' || number) FROM gone)
     SELECT number FROM gone LEFT JOIN notified ON true
     UNION SELECT number FROM ${schema}.removed WHERE number = $1`,
    [row.number, row.epoch, row.session],
  );
  if (found.length > 0) await sweep(db);
  return found.length > 0;
}

/** Removes the remains of removed runs, in parts. What a process that died has left is removed by the next one. */
async function sweep({ rows, schema }: PostgresDatabase): Promise<void> {
  const left = await rows<{ readonly number: number }>(`SELECT number FROM ${schema}.removed`);
  for (const { number } of left) {
    const some = `DELETE FROM ${schema}.events WHERE number = $1 AND seq IN (SELECT seq FROM ${schema}.events WHERE number = $1 LIMIT ${SWEEP}) RETURNING seq`;
    while ((await rows(some, [number])).length === SWEEP);
    for (const table of [...RUN_TABLES, "removed"]) await rows(`DELETE FROM ${schema}.${table} WHERE number = $1`, [number]);
  }
}

/** Records that a process has ended, so that the next owners of its runs get the former owner `died`, also on other machines. */
export async function reportDeath(options: PostgresOptions, process: string): Promise<void> {
  const db = new PostgresDatabase(JOURNAL_TABLES, postgresServer("reportDeath", options));
  try {
    await db.rows(`UPDATE ${db.schema}.runs SET owner = $2 WHERE owner = $1`, [process, DIED]);
  } finally {
    await db.close();
  }
}

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

export async function keepFile(
  db: PostgresDatabase,
  runId: string,
  epoch: number,
  { hash, bytes }: { readonly hash: string; readonly bytes: Uint8Array },
): Promise<void> {
  const row = await knownRow(db, runId);
  if (row.epoch !== epoch || epoch === 0) throw staleEpoch(runId, row.epoch, epoch);
  const kept = await db.rows(
    `INSERT INTO ${db.schema}.files (number, hash, body)
     SELECT number, $3, decode($4, 'base64') FROM ${db.schema}.runs WHERE number = $1 AND epoch = $2 FOR UPDATE
     ON CONFLICT (number, hash) DO UPDATE SET hash = excluded.hash RETURNING number`,
    [row.number, epoch, hash, Buffer.from(bytes).toString("base64")],
  );
  if (kept.length === 0) throw staleEpoch(runId, (await knownRow(db, runId)).epoch, epoch);
}

export async function fileOf(db: PostgresDatabase, runId: string, hash: string): Promise<Uint8Array | undefined> {
  const { number } = await knownRow(db, runId);
  const [row] = await db.rows<{ readonly body: Uint8Array }>(`SELECT body FROM ${db.schema}.files WHERE number = $1 AND hash = $2`, [
    number,
    hash,
  ]);
  return row && new Uint8Array(row.body);
}

/** Returns the snapshot of a run, if any is of its past. PostgresSnapshots.P1 a snapshot has the checksum of the event before it. */
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
