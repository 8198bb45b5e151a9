import { JournalError } from "../kernel/errors.ts";
import type { ChatTurn } from "./event-chats.ts";
import { chained, chainStart, type EventBlock } from "./event-rows.ts";
import type { PostgresDatabase, Rows, Statement } from "./postgres-database.ts";
import { rowsOf, type RunRow } from "./postgres-runs.ts";
import { RUN_TABLES } from "./postgres-tables.ts";
import { staleEpoch, unknownRun, wrongSeq } from "./stored-runs.ts";
import { TurnQueue } from "./turn-queue.ts";

const MAX_EVENTS = 2 ** 31 - 1;
const MAX_CHARACTERS = 8_000_000;
const KNOWN_CHATS = 10_000;

interface RunEnd {
  readonly number: number;
  readonly epoch: number;
  events: number;
  checksum: string;
  readonly chats: Set<string>;
}

interface Asked {
  readonly runId: string;
  readonly epoch: number;
  readonly expectedSeq: number;
  readonly events: readonly EventBlock[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Prepared {
  readonly asked: Asked;
  readonly end: RunEnd;
  readonly checksums: readonly string[];
  readonly turns: readonly ChatTurn[];
  readonly after: { readonly events: number; readonly checksum: string };
}

/**
 * Group commit: the appends of one turn of the event loop are one statement, whatever their runs. It owns what waits, and the ends of the runs that
 * are written. PostgresAppends.A1 (`append`) resolves after the commit. The statement changes a run only where epoch, count and last checksum are as
 * its owner knows them, so a stale owner writes nothing. An append whose answer was lost is written if the run has the checksum that it leads to
 * (`#refused`). A refused append does not affect others.
 */
export class PostgresAppends {
  readonly #db: PostgresDatabase;
  readonly #statement: Statement;
  readonly #ends = new Map<string, RunEnd>();
  readonly #queue = new TurnQueue<Asked>((batch) => this.#drained(batch));

  constructor(db: PostgresDatabase) {
    this.#db = db;
    this.#statement = appending(db);
  }

  claimed(runId: string, row: RunRow): void {
    const known = this.#ends.get(runId);
    if (known === undefined || known.epoch < row.epoch) this.#ends.set(runId, endOf(row));
  }

  forget(runId: string): void {
    this.#ends.delete(runId);
  }

  append(runId: string, epoch: number, expectedSeq: number, events: readonly EventBlock[]): Promise<void> {
    return new Promise((resolve, reject) => this.#queue.add({ runId, epoch, expectedSeq, events, resolve, reject }));
  }

  /** @param files the hashes of the files that stay */
  async rewrite(runId: string, epoch: number, events: readonly EventBlock[], files: ReadonlySet<string>): Promise<void> {
    const { schema } = this.#db;
    await this.#db.transaction(async (rows) => {
      const row = (await rowsOf(this.#db, rows, [runId])).get(runId);
      if (row === undefined) throw unknownRun(runId);
      const head = chainStart(runId);
      const emptied = await rows(
        `UPDATE ${schema}.runs SET events = 0, head = decode($3, 'hex') WHERE number = $1 AND epoch = $2 RETURNING number`,
        [row.number, epoch, head],
      );
      if (emptied.length === 0 || epoch === 0) throw staleEpoch(runId, row.epoch, epoch);
      for (const table of RUN_TABLES) if (table !== "files") await rows(`DELETE FROM ${schema}.${table} WHERE number = $1`, [row.number]);
      await rows(`DELETE FROM ${schema}.files WHERE number = $1 AND hash <> ALL ($2::text[])`, [row.number, [...files]]);
      const end = endOf({ ...row, epoch, events: 0, head });
      for (const page of pagesOf(events)) {
        const asked = { runId, epoch, expectedSeq: end.events, events: page, resolve() {}, reject() {} };
        const prepared = preparedFor(asked, end);
        await rows(this.#statement, valuesOf([prepared]));
        advance(prepared);
      }
    });
    this.#ends.delete(runId);
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async #drained(batch: readonly Asked[]): Promise<void> {
    let waiting = batch;
    while (waiting.length > 0) {
      const [now, later]: [Asked[], Asked[]] = [[], []];
      const runs = new Set<string>();
      let characters = 0;
      for (const asked of waiting) {
        const isFitting = characters < MAX_CHARACTERS && !runs.has(asked.runId);
        runs.add(asked.runId);
        if (isFitting) characters += asked.events.reduce((sum, { body }) => sum + body.length, 0);
        (isFitting ? now : later).push(asked);
      }
      await this.#together(now);
      waiting = later;
    }
  }

  async #together(batch: readonly Asked[]): Promise<void> {
    try {
      const errors = await this.#db.patiently((rows) => this.#write(rows, batch));
      for (const asked of batch) {
        const error = errors.get(asked);
        if (error === undefined) asked.resolve();
        else asked.reject(error);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #write(rows: Rows, batch: readonly Asked[]): Promise<ReadonlyMap<Asked, JournalError>> {
    const errors = new Map<Asked, JournalError>();
    await this.#look(rows, batch);
    const prepared: Prepared[] = [];
    for (const asked of batch) {
      const end = this.#ends.get(asked.runId);
      const error = refusal(asked, end);
      if (error !== undefined) errors.set(asked, error);
      else if (end !== undefined) prepared.push(preparedFor(asked, end));
    }
    if (prepared.length === 0) return errors;
    const moved = new Set((await rows<{ readonly number: number }>(this.#statement, valuesOf(prepared))).map(({ number }) => number));
    const refused = prepared.filter(({ end }) => !moved.has(end.number)).map(({ asked }) => asked.runId);
    const present = refused.length === 0 ? undefined : await rowsOf(this.#db, rows, refused);
    for (const each of prepared) {
      const error = moved.has(each.end.number) ? undefined : this.#refused(each, present?.get(each.asked.runId));
      if (error === undefined) advance(each);
      else errors.set(each.asked, error);
    }
    return errors;
  }

  async #look(rows: Rows, batch: readonly Asked[]): Promise<void> {
    const unknown = batch.filter(({ runId, epoch }) => this.#ends.get(runId)?.epoch !== epoch).map(({ runId }) => runId);
    if (unknown.length === 0) return;
    const found = await rowsOf(this.#db, rows, unknown);
    for (const runId of unknown) {
      const row = found.get(runId);
      if (row === undefined) this.#ends.delete(runId);
      else if (this.#ends.get(runId)?.epoch !== row.epoch) this.#ends.set(runId, endOf(row));
    }
  }

  /** Returns why the statement has not written an append; undefined when an earlier try had written it. */
  #refused({ asked, end, after }: Prepared, row: RunRow | undefined): JournalError | undefined {
    const { runId, epoch, expectedSeq } = asked;
    if (row !== undefined && row.epoch === epoch && row.events === after.events && row.head === after.checksum) return undefined;
    this.#ends.delete(runId);
    if (row === undefined) return unknownRun(runId);
    if (row.epoch !== epoch) return staleEpoch(runId, row.epoch, epoch);
    if (row.events !== end.events) return wrongSeq(runId, row.events, expectedSeq);
    return new JournalError(
      "JOURNAL_DAMAGED",
      `Expected run ${runId} to end as its owner has written it, but its row or its events were changed since. Take the database from a copy.`,
      { data: { runId, intact: expectedSeq } },
    );
  }
}

function endOf({ number, epoch, events, head }: RunRow): RunEnd {
  return { number, epoch, events, checksum: head, chats: new Set() };
}

function* pagesOf(events: readonly EventBlock[]): Generator<readonly EventBlock[]> {
  let from = 0;
  let characters = 0;
  for (const [index, { body }] of events.entries()) {
    characters += body.length;
    if (characters < MAX_CHARACTERS && index < events.length - 1) continue;
    yield events.slice(from, index + 1);
    from = index + 1;
    characters = 0;
  }
}

function refusal({ runId, epoch, expectedSeq, events }: Asked, end: RunEnd | undefined): JournalError | undefined {
  if (end === undefined) return unknownRun(runId);
  if (end.epoch !== epoch || epoch === 0) return staleEpoch(runId, end.epoch, epoch);
  if (end.events !== expectedSeq) return wrongSeq(runId, end.events, expectedSeq);
  if (countAfter({ expectedSeq, events }) <= MAX_EVENTS) return undefined;
  const text = `Expected at most ${MAX_EVENTS} events of run ${runId}, got more. Begin another run.`;
  return new JournalError("JOURNAL_FULL", text, { data: { runId } });
}

function countAfter({ expectedSeq, events }: Pick<Asked, "expectedSeq" | "events">): number {
  return events.reduce((sum, block) => sum + block.events, expectedSeq);
}

function preparedFor(asked: Asked, end: RunEnd): Prepared {
  let { checksum } = end;
  const checksums: string[] = [];
  const turns = new Map<string, ChatTurn>();
  for (const { body, chats } of asked.events) {
    checksum = chained(checksum, body);
    checksums.push(checksum);
    for (const turn of chats.flatMap((chat) => chat.turns)) {
      if (!end.chats.has(turn.chat) && !turns.has(turn.chat)) turns.set(turn.chat, turn);
    }
  }
  return { asked, end, checksums, turns: [...turns.values()], after: { events: countAfter(asked), checksum } };
}

function advance({ end, after, turns }: Prepared): void {
  end.events = after.events;
  end.checksum = after.checksum;
  if (end.chats.size + turns.length > KNOWN_CHATS) end.chats.clear();
  for (const { chat } of turns) end.chats.add(chat);
}

function valuesOf(prepared: readonly Prepared[]): readonly string[] {
  const runs = prepared.map(({ end: { number, epoch, events, checksum }, after }) => {
    return { number, epoch, events, after: after.events, head: checksum, next: after.checksum };
  });
  const events = prepared.flatMap(({ asked, end: { number }, checksums }) =>
    asked.events.map(({ seq, body }, nth) => ({ number, seq, checksum: checksums[nth], body: body.toString("base64") })),
  );
  const turns = prepared.flatMap(({ end: { number }, turns: own }) => own.map((turn) => ({ number, ...turn })));
  return [runs, events, turns].map((list) => JSON.stringify(list));
}

function appending({ schema }: PostgresDatabase): Statement {
  const text = `
    WITH asked AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1) AS a(number integer, epoch bigint, events integer, after integer, head text, next text)
    ), moved AS (
      UPDATE ${schema}.runs r SET events = a.after, head = decode(a.next, 'hex') FROM asked a
      WHERE r.number = a.number AND r.epoch = a.epoch AND r.events = a.events AND r.head = decode(a.head, 'hex')
      RETURNING r.number
    ), turns AS MATERIALIZED (
      SELECT t.* FROM json_to_recordset($3) AS t(number integer, chat text, before text, message text, body text) JOIN moved USING (number)
    ), written AS (
      INSERT INTO ${schema}.events (number, seq, checksum, body)
      SELECT number, seq, decode(checksum, 'hex'), decode(body, 'base64')
      FROM json_to_recordset($2) AS e(number integer, seq integer, checksum text, body text) JOIN moved USING (number)
    ), chats AS (
      INSERT INTO ${schema}.chats (number, chat, before, message)
      SELECT number, decode(chat, 'hex'), decode(coalesce(before, ''), 'hex'), decode(message, 'hex') FROM turns ON CONFLICT DO NOTHING
    ), messages AS (
      INSERT INTO ${schema}.chat_messages (number, message, body)
      SELECT number, decode(message, 'hex'), body FROM turns ON CONFLICT DO NOTHING
    )
    SELECT number FROM moved`;
  return { name: "append", text };
}
