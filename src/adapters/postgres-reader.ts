import { nextMacrotask } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { ChatReader, type ChatRow } from "./event-chats.ts";
import { chainStart, eventsIn, type OpenedRows, openRows, type Position, type ReadRows, type StoredBlock } from "./event-rows.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { knownRow, type RunRow } from "./postgres-runs.ts";

/**
 * Rows of the first page of a run, the growth of later pages, and the limit: the list of runs needs only the first event of each. A reader
 * that begins later wants all that follows.
 */
const FIRST_ROWS = 1;
const GROWTH = 8;
const PAGE_ROWS = 256;
/** Bytes of bodies after which a page ends: about ten times as many characters of JSON. */
const PAGE_BYTES = 200_000;

/**
 * Reads a run in pages and checks every row. Events that were written before the last page are read too.
 *
 * @throws JournalError `RUN_UNKNOWN`, `JOURNAL_DAMAGED`, `EVENT_NEWER` after everything intact before it; errors of the database
 */
export async function* readRun(db: PostgresDatabase, runId: string, from: number): AsyncGenerator<RunEvent, void> {
  const chats = new ChatReader();
  let atOnce = from > 0 ? PAGE_ROWS : FIRST_ROWS;
  let number: number | undefined;
  let next: Position | undefined;
  for (;;) {
    const row = await knownRow(db, runId);
    number ??= row.number;
    assertSame(row, runId, number);
    if (from > row.events) return;
    const page = await pageFrom(db, { runId, row, next, from, atOnce, chats });
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
  }
}

/** @throws JournalError `RUN_UNKNOWN` when a run was removed, and perhaps made again */
function assertSame(row: RunRow, runId: string, number: number): void {
  if (row.number === number) return;
  throw new JournalError("RUN_UNKNOWN", `Expected run ${runId} to stay while it was read, but it has been removed.`);
}

interface PageFrom extends Omit<PageOf, "next" | "first"> {
  readonly from: number;
  readonly next: Position | undefined;
}

/** Reads the next page, or the first one. What is wrong with it is told beside what is intact. */
async function pageFrom(db: PostgresDatabase, { from, next: known, ...o }: PageFrom): Promise<ReadRows> {
  const { runId, row } = o;
  const first = Math.max(0, from);
  const next = known ?? (await start(db, runId, row, first));
  const failed = (intact: number, why: string): { readonly error: JournalError } => ({ error: damaged(db, runId, intact, why) });
  if (next === undefined) {
    return { events: [], next: { seq: first, checksum: "" }, failed: failed(0, `event ${first} is missing`) };
  }
  const page = await pageOf(db, { ...o, next, first });
  if (page.failed !== undefined) return page;
  const isOver = page.next.seq >= row.events;
  if (!isOver && page.events.length === 0) return { ...page, failed: failed(next.seq, `event ${next.seq} is missing`) };
  if (!isOver || page.next.checksum === row.head) return page;
  return { ...page, failed: failed(page.next.seq, "the run has another last event than this one") };
}

/**
 * Returns the position of the row that has an event. Takes the checksum of the row before it without proof: that would need every row.
 *
 * @returns undefined where that row is missing
 */
async function start(db: PostgresDatabase, runId: string, { number, events }: RunRow, first: number): Promise<Position | undefined> {
  if (first === 0) return { seq: 0, checksum: chainStart(runId) };
  const [row, before] = await db.rows<{ readonly seq: number; readonly checksum: string }>(
    `SELECT seq, upper(encode(checksum, 'hex')) AS checksum FROM ${db.schema}.events WHERE number = $1 AND seq < $2 ORDER BY seq DESC LIMIT 2`,
    [number, Math.min(first + 1, events)],
  );
  return row && { seq: row.seq, checksum: row.seq === 0 ? chainStart(runId) : (before?.checksum ?? "") };
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
      SELECT seq, body, upper(encode(checksum, 'hex')) AS checksum,
        sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
      FROM (SELECT * FROM ${db.schema}.events WHERE number = $1 AND seq >= $2 AND seq < $3 ORDER BY seq LIMIT $4) AS part
    ) AS page WHERE before < ${PAGE_BYTES} ORDER BY seq`;
  const found = await db.rows<StoredBlock>({ name: "page of events", text }, [row.number, next.seq, row.events, atOnce]);
  const run = { runId, damaged: (intact: number, why: string) => damaged(db, runId, intact, why) };
  const opened = openRows(found, next, run);
  const turns = await turnsOf(db, row.number, opened, chats);
  return eventsIn(opened, first, run, (chat) => chats.read(chat, (turn) => turns.get(turn)));
}

/** Reads the rows of all conversations that some events end, as far as the reader does not know them. */
async function turnsOf(
  db: PostgresDatabase,
  number: number,
  { items }: OpenedRows,
  chats: ChatReader,
): Promise<ReadonlyMap<string, ChatRow>> {
  const known = chats.known();
  const names = [...new Set(items.map(({ chat }) => chat))].filter((chat) => chat !== "" && !known.includes(chat));
  if (names.length === 0) return new Map();
  // A chain that leads into itself ends here, because UNION adds no row twice; its digests do not match.
  const text = `WITH RECURSIVE turns AS (
      SELECT c.chat, c.before, c.message FROM ${db.schema}.chats c
      WHERE c.number = $1 AND c.chat = ANY (ARRAY(SELECT decode(k, 'hex') FROM unnest($2::text[]) k))
      UNION
      SELECT c.chat, c.before, c.message FROM ${db.schema}.chats c JOIN turns t ON c.chat = t.before
      WHERE c.number = $1 AND c.chat <> ALL (ARRAY(SELECT decode(k, 'hex') FROM unnest($3::text[]) k))
    )
    SELECT upper(encode(t.chat, 'hex')) AS chat, upper(encode(t.before, 'hex')) AS before, upper(encode(t.message, 'hex')) AS message, m.body
    FROM turns t LEFT JOIN ${db.schema}.chat_messages m ON m.number = $1 AND m.message = t.message`;
  const rows = await db.rows<{ readonly chat: string; readonly before: string; readonly message: string; readonly body: string | null }>(
    { name: "turns of conversations", text },
    [number, names, known],
  );
  return new Map(rows.map(({ chat, before, message, body }) => [chat, { before, message, body: body ?? undefined }]));
}

/** Returns the error for a run whose record is damaged after its first `intact` events. */
function damaged({ server }: PostgresDatabase, runId: string, intact: number, why: string): JournalError {
  const whole = intact === 0 ? "none of its events is sure" : `its first ${intact} events are intact`;
  return new JournalError(
    "JOURNAL_DAMAGED",
    `Expected run ${runId} to be whole, but in schema ${server.schema} of ${server.shown} ${whole}, and then: ${why}. What is intact can still be read. Put back a copy of the database from before.`,
    { data: { database: server.shown, runId, intact } },
  );
}
