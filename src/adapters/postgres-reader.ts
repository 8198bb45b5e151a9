import { nextMacrotask } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { RunSnapshot } from "../runtime/record/journal.ts";
import { ChatReader, type ChatRow } from "./event-chats.ts";
import { chainStart, eventsIn, type OpenedRows, openRows, type Position, type ReadRows, type StoredBlock } from "./event-rows.ts";
import { stale } from "./postgres-appends.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { hex, knownRow, NOBODY, type RunRow } from "./postgres-runs.ts";

/** Rows of the first page of a run, the factor by which pages grow, and their limit: a list of runs reads only the first event of each. */
const FIRST_ROWS = 1;
const GROWTH = 8;
const PAGE_ROWS = 256;
/** Bytes of bodies after which a page ends: about ten times as many characters of JSON. */
const PAGE_BYTES = 200_000;

/**
 * Reads a run in pages and checks every row, up to the events that were written before the last page.
 *
 * @throws JournalError `RUN_UNKNOWN`, `JOURNAL_DAMAGED`, `EVENT_NEWER` after everything intact before it; errors of the database
 */
export async function* readRun(db: PostgresDatabase, runId: string, from: number): AsyncGenerator<RunEvent, void> {
  const chats = new ChatReader();
  let atOnce = from > 0 ? PAGE_ROWS : FIRST_ROWS;
  let row = await knownRow(db, runId);
  const { number } = row;
  const first = Math.max(0, from);
  if (first > row.events) return;
  let next = await start(db, runId, row, first);
  for (;;) {
    const page = await pageOf(db, { runId, row, next, first, atOnce, chats });
    for (const event of page.events) yield event;
    if (page.failed !== undefined) {
      // Its rows may have been removed since they were counted.
      assertSame(await knownRow(db, runId), runId, number);
      throw page.failed.error;
    }
    next = page.next;
    if (next.seq >= row.events) return;
    atOnce = Math.min(atOnce * GROWTH, PAGE_ROWS);
    await nextMacrotask();
    row = await knownRow(db, runId);
    assertSame(row, runId, number);
  }
}

function assertSame(row: RunRow, runId: string, number: number): void {
  if (row.number === number) return;
  throw new JournalError("RUN_UNKNOWN", `Expected run ${runId} to stay while it was read, but it has been removed.`);
}

/**
 * Returns the position of the row that has an event. The checksum of the row before it is taken without proof: that would need every row.
 *
 * @throws JournalError `JOURNAL_DAMAGED` where the row is missing
 */
async function start(db: PostgresDatabase, runId: string, { number, events }: RunRow, first: number): Promise<Position> {
  if (first === 0) return { seq: 0, checksum: chainStart(runId) };
  const [row, before] = await lastRows(db, number, Math.min(first + 1, events));
  if (row === undefined) throw damaged(db, runId, 0, `event ${first} is missing`);
  return { seq: row.seq, checksum: row.seq === 0 ? chainStart(runId) : (before?.checksum ?? "") };
}

function lastRows(
  { rows, schema }: PostgresDatabase,
  number: number,
  seq: number,
): Promise<readonly { readonly seq: number; readonly checksum: string }[]> {
  const text = `SELECT seq, ${hex("checksum")} AS checksum FROM ${schema}.events WHERE number = $1 AND seq < $2 ORDER BY seq DESC LIMIT 2`;
  return rows(text, [number, seq]);
}

interface PageOf {
  readonly runId: string;
  readonly row: RunRow;
  readonly next: Position;
  /** The number of the first event that is wanted. */
  readonly first: number;
  readonly atOnce: number;
  readonly chats: ChatReader;
}

async function pageOf(db: PostgresDatabase, { runId, row, next, first, atOnce, chats }: PageOf): Promise<ReadRows> {
  const text = `SELECT seq, body, checksum FROM (
      SELECT seq, body, ${hex("checksum")} AS checksum, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
      FROM (SELECT * FROM ${db.schema}.events WHERE number = $1 AND seq >= $2 AND seq < $3 ORDER BY seq LIMIT $4) AS part
    ) AS page WHERE before < ${PAGE_BYTES} ORDER BY seq`;
  const found = await db.rows<StoredBlock>({ name: "page of events", text }, [row.number, next.seq, row.events, atOnce]);
  const run = { runId, damaged: (intact: number, why: string) => damaged(db, runId, intact, why) };
  const opened = openRows(found, next, run);
  const turns = await turnsOf(db, row.number, opened, chats);
  const page = eventsIn(opened, first, run, (chat) => chats.read(chat, (turn) => turns.get(turn)));
  if (page.failed !== undefined) return page;
  const isOver = page.next.seq >= row.events;
  const missing = !isOver && found.length === 0 ? `event ${next.seq} is missing` : undefined;
  const fault = isOver && page.next.checksum !== row.head ? "the run has another last event than this one" : missing;
  return fault === undefined ? page : { ...page, failed: { error: damaged(db, runId, page.next.seq, fault) } };
}

/** Reads the rows of all conversations that some events end, as far as the reader does not know them. */
async function turnsOf(
  { rows, schema }: PostgresDatabase,
  number: number,
  { items }: OpenedRows,
  chats: ChatReader,
): Promise<ReadonlyMap<string, ChatRow>> {
  const known = chats.known();
  const names = [...new Set(items.map(({ chat }) => chat))].filter((chat) => chat !== "" && !known.includes(chat));
  if (names.length === 0) return new Map();
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
  const found = await rows<{ readonly chat: string; readonly before: string; readonly message: string; readonly body: string | null }>(
    { name: "turns of conversations", text },
    [number, names, known],
  );
  return new Map(found.map(({ chat, before, message, body }) => [chat, { before, message, body: body ?? undefined }]));
}

function damaged({ server }: PostgresDatabase, runId: string, intact: number, why: string): JournalError {
  const whole = intact === 0 ? "none of its events is sure" : `its first ${intact} events are intact`;
  return new JournalError(
    "JOURNAL_DAMAGED",
    `Expected run ${runId} to be whole, but in schema ${server.schema} of ${server.shown} ${whole}, and then: ${why}. What is intact can still be read. Put back a copy of the database from before.`,
    { data: { database: server.shown, runId, intact } },
  );
}

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

/**
 * Returns the snapshot of a run; undefined for none, and for one of another past.
 *
 * PostgresSnapshots.P1 a snapshot has the checksum of the event before it, which covers the record up to there. The reader of its state checks
 * its content.
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
  return seq > events ? undefined : (await lastRows(db, number, seq))[0]?.checksum;
}
