import { JournalError } from "../kernel/errors.ts";
import type { ChatTurn } from "./event-chats.ts";
import { chained, chainStart, type EventBlock } from "./event-rows.ts";
import type { PostgresConnection, PostgresDatabase, Statement } from "./postgres-database.ts";
import { NOBODY, rowsOf, type RunRow, unknownRun } from "./postgres-runs.ts";
import { runChannel } from "./postgres-tables.ts";
import type { TallyText } from "./run-tallies.ts";
import { TurnQueue } from "./turn-queue.ts";

/** Most events of a run: the largest value of their column. */
const MOST_EVENTS = 2 ** 31 - 1;
/** Characters of bodies after which a statement takes no further run. */
const MOST_CHARACTERS = 8_000_000;
/** Conversations of a run that are known to be stored. */
const KNOWN_CHATS = 10_000;

/** The end of a run's record, as its owner knows it. */
interface RunEnd {
  readonly number: number;
  readonly epoch: number;
  events: number;
  checksum: string;
  /** Names of conversations that are stored. */
  readonly chats: Set<string>;
}

/** Events that wait to be written. */
interface Asked {
  readonly runId: string;
  readonly epoch: number;
  readonly expectedSeq: number;
  readonly events: readonly EventBlock[];
  readonly tally: TallyText | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Events as rows, and the end of the run behind them. */
interface Prepared {
  readonly asked: Asked;
  readonly end: RunEnd;
  readonly checksums: readonly string[];
  readonly turns: readonly ChatTurn[];
  readonly after: { readonly events: number; readonly checksum: string };
}

/**
 * Group commit: the appends of one turn of the event loop are one statement, whatever their runs. It owns what waits, and the ends of the
 * runs that are written.
 *
 * PostgresAppends.A1 (`append`) resolves after the commit only. PostgresAppends.A2 (`appending`) the statement changes a run only where epoch,
 * count and last checksum are as its owner knows them, so a stale owner writes nothing. PostgresAppends.A3 (`#refused`) an append whose answer
 * was lost is written if the run has the checksum that it leads to. PostgresAppends.A4 (`#together`) a refused append does not affect others;
 * a statement that fails for one append is done again for each alone.
 * The callers bound the queue: a run appends again only after its last append.
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

  /** Notes the end of a run that was claimed. */
  began(runId: string, { number, epoch, events, head }: RunRow): void {
    const known = this.#ends.get(runId);
    if (known !== undefined && known.epoch >= epoch) return;
    this.#ends.set(runId, { number, epoch, events, checksum: head, chats: new Set() });
  }

  /** Forgets a run. */
  forget(runId: string): void {
    this.#ends.delete(runId);
  }

  /** @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`, `SEQ_MISMATCH`, `JOURNAL_FULL`, `JOURNAL_DAMAGED`; errors of the database */
  append(runId: string, epoch: number, expectedSeq: number, events: readonly EventBlock[], tally?: TallyText): Promise<void> {
    return new Promise((resolve, reject) => this.#queue.add({ runId, epoch, expectedSeq, events, tally, resolve, reject }));
  }

  /**
   * Puts other events in place of all events of a run.
   *
   * @throws JournalError `RUN_UNKNOWN`, `EPOCH_STALE`; errors of the database
   */
  async rewrite(runId: string, epoch: number, events: readonly EventBlock[]): Promise<void> {
    const { schema } = this.#db;
    await this.#db.transaction(async ({ rows }) => {
      const row = (await rowsOf(this.#db, rows, [runId])).get(runId);
      if (row === undefined) throw unknownRun(runId);
      const { number } = row;
      const start = chainStart(runId);
      const emptied = await rows(
        `UPDATE ${schema}.runs SET events = 0, head = decode($3, 'hex') WHERE number = $1 AND epoch = $2 RETURNING number`,
        [number, epoch, start],
      );
      if (emptied.length === 0 || epoch === NOBODY) throw stale(runId, row.epoch, epoch);
      for (const table of ["events", "chats", "chat_messages", "snapshots", "tallies", "commands"]) {
        await rows(`DELETE FROM ${schema}.${table} WHERE number = $1`, [number]);
      }
      const end: RunEnd = { number, epoch, events: 0, checksum: start, chats: new Set() };
      for (const page of pagesOf(events)) {
        const asked = { runId, epoch, expectedSeq: end.events, events: page, tally: undefined, resolve() {}, reject() {} };
        const prepared = preparedFor(asked, end);
        await rows(this.#statement, valuesOf([prepared]));
        advance(prepared);
      }
    });
    this.#ends.delete(runId);
  }

  /** Resolves when nothing waits. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  /** Splits a batch into statements, each with one append of a run at most and not too long. */
  async #drained(batch: readonly Asked[]): Promise<void> {
    let waiting = batch;
    while (waiting.length > 0) {
      const [now, later]: [Asked[], Asked[]] = [[], []];
      const runs = new Set<string>();
      let characters = 0;
      for (const asked of waiting) {
        const isFitting = characters < MOST_CHARACTERS && !runs.has(asked.runId);
        runs.add(asked.runId);
        if (isFitting) for (const { body } of asked.events) characters += body.length;
        (isFitting ? now : later).push(asked);
      }
      await this.#together(now);
      waiting = later;
    }
  }

  async #together(batch: readonly Asked[]): Promise<void> {
    try {
      const outcomes = await this.#db.patiently((connection) => this.#write(connection, batch));
      for (const asked of batch) {
        const error = outcomes.get(asked);
        if (error === undefined) asked.resolve();
        else asked.reject(error);
      }
    } catch (error) {
      const isOfOne = batch.length > 1 && error instanceof JournalError && error.code === "JOURNAL_UNWRITABLE";
      if (isOfOne) for (const asked of batch) await this.#together([asked]);
      else for (const { reject } of batch) reject(error);
    }
  }

  /** Writes what may be written. @returns the errors of the others */
  async #write({ rows }: PostgresConnection, batch: readonly Asked[]): Promise<ReadonlyMap<Asked, JournalError>> {
    const errors = new Map<Asked, JournalError>();
    await this.#look(rows, batch);
    const prepared: Prepared[] = [];
    for (const asked of batch) {
      const end = this.#ends.get(asked.runId);
      const error = end === undefined ? unknownRun(asked.runId) : refusal(asked, end);
      if (error !== undefined) errors.set(asked, error);
      else if (end !== undefined) prepared.push(preparedFor(asked, end));
    }
    if (prepared.length === 0) return errors;
    const moved = new Set((await rows<{ readonly number: number }>(this.#statement, valuesOf(prepared))).map(({ number }) => number));
    const refused = prepared.filter(({ end }) => !moved.has(end.number));
    const now =
      refused.length === 0
        ? undefined
        : await rowsOf(
            this.#db,
            rows,
            refused.map(({ asked }) => asked.runId),
          );
    for (const each of prepared) {
      const error = moved.has(each.end.number) ? undefined : this.#refused(each, now?.get(each.asked.runId));
      if (error === undefined) advance(each);
      else errors.set(each.asked, error);
    }
    return errors;
  }

  /** Learns the ends of runs that were claimed elsewhere, if at all. */
  async #look(rows: PostgresConnection["rows"], batch: readonly Asked[]): Promise<void> {
    const unknown = batch.filter(({ runId, epoch }) => this.#ends.get(runId)?.epoch !== epoch).map(({ runId }) => runId);
    if (unknown.length === 0) return;
    const found = await rowsOf(this.#db, rows, unknown);
    for (const runId of unknown) {
      const row = found.get(runId);
      if (row === undefined) this.#ends.delete(runId);
      else if (this.#ends.get(runId)?.epoch !== row.epoch) {
        this.#ends.set(runId, { number: row.number, epoch: row.epoch, events: row.events, checksum: row.head, chats: new Set() });
      }
    }
  }

  /** Returns why the statement has not written an append; undefined when an earlier try had written it. */
  #refused({ asked, end, after }: Prepared, row: RunRow | undefined): JournalError | undefined {
    const { runId, epoch, expectedSeq } = asked;
    if (row !== undefined && row.epoch === epoch && row.events === after.events && row.head === after.checksum) return undefined;
    this.#ends.delete(runId);
    if (row === undefined) return unknownRun(runId);
    if (row.epoch !== epoch) return stale(runId, row.epoch, epoch);
    if (row.events !== end.events) return mismatch(runId, row.events, expectedSeq);
    return new JournalError(
      "JOURNAL_DAMAGED",
      `Expected run ${runId} to end as its owner has written it, but its row or its events were changed since. Take the database from a copy.`,
      { data: { runId, intact: expectedSeq } },
    );
  }
}

/** Splits events into the parts of statements that are not too long. */
function* pagesOf(events: readonly EventBlock[]): Generator<readonly EventBlock[]> {
  let page: EventBlock[] = [];
  let characters = 0;
  for (const event of events) {
    page.push(event);
    characters += event.body.length;
    if (characters < MOST_CHARACTERS) continue;
    yield page;
    page = [];
    characters = 0;
  }
  if (page.length > 0) yield page;
}

function refusal({ runId, epoch, expectedSeq, events }: Asked, end: RunEnd): JournalError | undefined {
  if (end.epoch !== epoch || epoch === NOBODY) return stale(runId, end.epoch, epoch);
  if (end.events !== expectedSeq) return mismatch(runId, end.events, expectedSeq);
  if (endOf({ expectedSeq, events }) <= MOST_EVENTS) return undefined;
  const text = `Expected at most ${MOST_EVENTS} events of run ${runId}, got more. Begin another run.`;
  return new JournalError("JOURNAL_FULL", text, { data: { runId } });
}

export function stale(runId: string, now: number, epoch: number): JournalError {
  const owner = now === NOBODY ? "it has no owner now" : "another owner has claimed it";
  return new JournalError("EPOCH_STALE", `Expected the epoch of run ${runId}'s owner, got ${epoch}: ${owner}. Claim the run first.`);
}

function mismatch(runId: string, next: number, expectedSeq: number): JournalError {
  return new JournalError("SEQ_MISMATCH", `Expected event ${next} of run ${runId} next, got ${expectedSeq}.`);
}

/** The number of events of a run after an append. */
function endOf({ expectedSeq, events }: Pick<Asked, "expectedSeq" | "events">): number {
  return events.reduce((sum, block) => sum + block.events, expectedSeq);
}

function preparedFor(asked: Asked, end: RunEnd): Prepared {
  let { checksum } = end;
  const checksums: string[] = [];
  const turns: ChatTurn[] = [];
  const sent = new Set<string>();
  for (const { body, chats } of asked.events) {
    checksum = chained(checksum, body);
    checksums.push(checksum);
    for (const turn of chats.flatMap((chat) => chat.turns)) {
      if (end.chats.has(turn.chat) || sent.has(turn.chat)) continue;
      sent.add(turn.chat);
      turns.push(turn);
    }
  }
  return { asked, end, checksums, turns, after: { events: endOf(asked), checksum } };
}

function advance({ end, after, turns }: Prepared): void {
  end.events = after.events;
  end.checksum = after.checksum;
  if (end.chats.size + turns.length > KNOWN_CHATS) end.chats.clear();
  for (const { chat } of turns) end.chats.add(chat);
}

/** The lists of a statement. Texts are joined: JSON has no line break, and digests no comma. */
function valuesOf(prepared: readonly Prepared[]): readonly unknown[] {
  const events = prepared.flatMap(({ asked, end, checksums }) =>
    asked.events.map(({ seq, body }, nth) => ({ number: end.number, seq, checksum: checksums[nth] ?? "", body: body.toString("base64") })),
  );
  const turns = prepared.flatMap(({ end, turns: own }) => own.map((turn) => ({ number: end.number, turn })));
  const tallies = prepared.flatMap(({ asked: { tally }, end }) => (tally === undefined ? [] : [{ ...tally, number: end.number }]));
  return [
    prepared.map(({ end }) => end.number),
    prepared.map(({ end }) => end.epoch),
    prepared.map(({ end }) => end.events),
    prepared.map(({ after }) => after.events),
    prepared.map(({ end }) => end.checksum).join(","),
    prepared.map(({ after }) => after.checksum).join(","),
    events.map(({ number }) => number),
    events.map(({ seq }) => seq),
    events.map(({ checksum }) => checksum).join(","),
    events.map(({ body }) => body).join(","),
    turns.map(({ number }) => number),
    turns.map(({ turn }) => turn.chat).join(","),
    turns.map(({ turn }) => turn.before).join(","),
    turns.map(({ turn }) => turn.message).join(","),
    turns.map(({ turn }) => turn.body).join("\n"),
    tallies.map(({ number }) => number),
    tallies.map(({ checksum }) => checksum).join(","),
    tallies.map(({ text }) => text).join("\n"),
  ];
}

function appending({ schema, server }: PostgresDatabase): Statement {
  const text = `
    WITH asked AS MATERIALIZED (
      SELECT * FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[], string_to_array($5, ','), string_to_array($6, ','))
        AS a(number, epoch, events, after, head, next)
    ), moved AS (
      UPDATE ${schema}.runs r SET events = a.after, head = decode(a.next, 'hex') FROM asked a
      WHERE r.number = a.number AND r.epoch = a.epoch AND r.events = a.events AND r.head = decode(a.head, 'hex')
      RETURNING r.number, r.watched
    ), turns AS MATERIALIZED (
      SELECT t.* FROM unnest($11::integer[], string_to_array($12, ','), string_to_array($13, ','), string_to_array($14, ','),
        string_to_array($15, E'\\n')) AS t(number, chat, before, message, body) JOIN moved USING (number)
    ), written AS (
      INSERT INTO ${schema}.events (number, seq, checksum, body)
      SELECT number, seq, decode(checksum, 'hex'), decode(body, 'base64')
      FROM unnest($7::integer[], $8::integer[], string_to_array($9, ','), string_to_array($10, ','))
        AS e(number, seq, checksum, body) JOIN moved USING (number)
    ), chats AS (
      INSERT INTO ${schema}.chats (number, chat, before, message)
      SELECT number, decode(chat, 'hex'), decode(coalesce(before, ''), 'hex'), decode(message, 'hex') FROM turns ON CONFLICT DO NOTHING
    ), messages AS (
      INSERT INTO ${schema}.chat_messages (number, message, body)
      SELECT number, decode(message, 'hex'), body FROM turns ON CONFLICT DO NOTHING
    ), tallies AS (
      INSERT INTO ${schema}.tallies (number, checksum, tally)
      SELECT number, decode(checksum, 'hex'), tally
      FROM unnest($16::integer[], string_to_array($17, ','), string_to_array($18, E'\\n')) AS t(number, checksum, tally) JOIN moved USING (number)
      ON CONFLICT (number) DO UPDATE SET checksum = excluded.checksum, tally = excluded.tally
    )
    SELECT number, CASE WHEN watched > now() THEN pg_notify('${runChannel(server.schema, 0).slice(0, -1)}' || number, '') END FROM moved`;
  return { name: "append", text };
}
