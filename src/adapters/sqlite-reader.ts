import { nextMacrotask } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { type Database, patiently } from "./sqlite-database.ts";
import { damagedRun, isBroken, unreadable } from "./sqlite-errors.ts";
import { ChatReader } from "./event-chats.ts";
import { chainStart, eventsIn, openRows, type Position, type ReadRows, type RowsOfRun, type StoredBlock } from "./event-rows.ts";
import { chatRow } from "./sqlite-events.ts";
import type { FileOptions } from "./sqlite-file.ts";
import { type RunHead, knownRun, PLACES, rowBefore } from "./sqlite-runs.ts";

/** Limit on the rows of a page. The first one has a single row: the list of runs needs only the first event of each. */
const PAGE_ROWS = 8;

interface Page {
  readonly events: readonly RunEvent[];
  readonly next: Position | undefined;
  /** The reason why no page follows. */
  readonly end?: "whole" | Error;
}

/** The file of a reader. */
export interface RunSource {
  readonly options: FileOptions;
  open(): Promise<Database>;
}

/**
 * Reads a run in pages, each from the present state of the file, and checks every row. Writers are not blocked, and events written before
 * the last page are read too.
 *
 * @throws JournalError `RUN_UNKNOWN`, `JOURNAL_DAMAGED`, `EVENT_NEWER`, `JOURNAL_UNREADABLE`, after everything intact before it
 */
export async function* readEvents(source: RunSource, runId: string, from: number): AsyncGenerator<RunEvent, void> {
  const cursor = new Cursor(source, runId, from);
  for (;;) {
    const page = await cursor.page();
    for (const event of page.events) yield event;
    if (page.end === "whole") return;
    if (page.end !== undefined) throw page.end;
    await nextMacrotask();
  }
}

/**
 * The position of a reader. It owns the position, the number of the run, and the conversations that it has read.
 *
 * Cursor.P1 (`page`) the position moves only behind the events of a page that is given out, so a page that is read again loses no event.
 * Cursor.P2 (`#head`) every page is of the run that the first page was of: another run that got its name is not read.
 */
class Cursor {
  readonly #source: RunSource;
  readonly #runId: string;
  readonly #from: number;
  readonly #chats = new ChatReader();
  #next: Position | undefined;
  #number: number | undefined;

  constructor(source: RunSource, runId: string, from: number) {
    this.#source = source;
    this.#runId = runId;
    this.#from = Math.max(0, from);
  }

  async page(): Promise<Page> {
    const { clock, patience } = this.#source.options;
    const read = async (atOnce: number): Promise<Page> => {
      const db = await this.#source.open();
      return patiently(() => db.transaction("DEFERRED", () => this.#read(db, atOnce)), clock, patience);
    };
    try {
      // A row that SQLite cannot read takes the others of its page with it.
      const page = await read(this.#next === undefined ? 1 : PAGE_ROWS).catch((error: unknown) => {
        if (isBroken(error)) return read(1);
        throw error;
      });
      this.#next = page.next;
      return page;
    } catch (error) {
      return this.#ends([], this.#next, error);
    }
  }

  #read(db: Database, atOnce: number): Page {
    const head = this.#head(db);
    if (this.#from > head.events) return { events: [], next: this.#next, end: "whole" };
    const { events, next, failed } = this.#events(db, head, atOnce);
    if (failed !== undefined) return this.#ends(events, next, failed.error);
    if (next.seq < head.events) {
      return events.length > 0 ? { events, next } : this.#ends(events, next, this.#damage(next.seq, `event ${next.seq} is missing`));
    }
    if (next.checksum === head.checksum) return { events, next, end: "whole" };
    return this.#ends(events, next, this.#damage(next.seq, "the run has another last event than this one"));
  }

  #head(db: Database): RunHead {
    const head = knownRun(db, this.#runId);
    this.#number ??= head.number;
    if (head.number === this.#number) return head;
    throw new JournalError("RUN_UNKNOWN", `Expected run ${this.#runId} to stay while it was read, but it has been removed.`);
  }

  /** The row that has the first wanted event. Takes the checksum of the row before it without proof: that would need every row. */
  #start(db: Database, { number, events }: RunHead): Position {
    const start = { seq: 0, checksum: chainStart(this.#runId) };
    if (this.#from === 0) return start;
    const row = rowBefore(db, number, Math.min(this.#from + 1, events));
    if (row === undefined) throw this.#damage(0, `event ${this.#from} is missing`);
    return row.seq === 0 ? start : { seq: row.seq, checksum: rowBefore(db, number, row.seq)?.checksum ?? "" };
  }

  /** Asks when it is read, so that a failure has its position. */
  *#rows(db: Database, { number, events }: RunHead, seq: number, atOnce: number): Iterable<StoredBlock> {
    const sql = "SELECT place, CAST(body AS BLOB), hex(checksum) FROM events WHERE place >= ? AND place < ? ORDER BY place LIMIT ?";
    const rows = db.all(sql, [number * PLACES + seq, number * PLACES + events, atOnce]);
    for (const [place, body, checksum] of rows) yield { seq: Number(place) - number * PLACES, body, checksum };
  }

  #events(db: Database, head: RunHead, atOnce: number): ReadRows {
    const from = this.#next ?? this.#start(db, head);
    const run: RowsOfRun = { runId: this.#runId, damaged: (intact, why) => this.#damage(intact, why) };
    const opened = openRows(this.#rows(db, head, from.seq, atOnce), from, run);
    return eventsIn(opened, this.#from, run, (chat) => this.#chats.read(chat, (turn) => chatRow(db, head.number, turn)));
  }

  #ends(events: readonly RunEvent[], next: Position | undefined, error: unknown): Page {
    return { events, next, end: unreadable(this.#source.options.file, this.#runId, next?.seq ?? 0, error) };
  }

  #damage(intact: number, why: string): JournalError {
    return damagedRun(this.#source.options.file, this.#runId, intact, why);
  }
}
