import { nextMacrotask } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { ChatReader, type ChatRow } from "./event-chats.ts";
import { chainStart, openRows, type Position, type StoredBlock, withMessages } from "./event-rows.ts";

export interface RunHead {
  readonly number: number;
  readonly events: number;
  /** The checksum of the last event, or the start of the chain. */
  readonly head: string;
}

export interface RowSource {
  /** Limit on the rows of a page. The first page has one row: a list of runs needs only the first event of each. */
  readonly pageRows: number;
  head(runId: string): Promise<RunHead>;
  /** Returns at most two rows before an event, the last one first. */
  rowsBefore(number: number, seq: number): Promise<readonly Position[]>;
  blocks(number: number, from: number, end: number, limit: number): Promise<readonly StoredBlock[]>;
  /** Returns the turns of conversations by their digests, up to those that are `known`. */
  turns(number: number, chats: readonly string[], known: readonly string[]): Promise<ReadonlyMap<string, ChatRow>>;
  /** Returns the error for a run that is damaged after its first `intact` events. */
  damaged(runId: string, intact: number, why: string): JournalError;
}

/**
 * Reads a run in pages and checks every row, up to the events that were written before the last page. RunReader.R1 every page is of the run that the
 * first page was of: another run of its name is not read. @throws JournalError `RUN_UNKNOWN`, `JOURNAL_DAMAGED`, `EVENT_NEWER` after everything
 * intact before it; errors of the store
 */
export async function* readRun(source: RowSource, runId: string, from: number): AsyncGenerator<RunEvent, void> {
  const first = Math.max(0, from);
  const run = { runId, damaged: (intact: number, why: string) => source.damaged(runId, intact, why) };
  const chats = new ChatReader();
  let head = await source.head(runId);
  const { number } = head;
  if (first > head.events) return;
  let next = await start(source, runId, head, first);
  for (let limit = first > 0 ? source.pageRows : 1; ; limit = source.pageRows) {
    const rows = next.seq < head.events ? await source.blocks(number, next.seq, head.events, limit) : [];
    const page = openRows(rows, next, run);
    next = page.next;
    let failed = page.failed ?? faultAfter(next, head, rows.length, run.damaged);
    const known = chats.known();
    const asked = [...new Set(page.items.map(({ chat }) => chat))].filter((chat) => chat !== "" && !known.includes(chat));
    const turns = asked.length === 0 ? new Map<string, ChatRow>() : await source.turns(number, asked, known);
    for (const { event, chat } of page.items) {
      if (event.seq < first) continue;
      const messages = chat === "" ? undefined : chats.read(chat, (turn) => turns.get(turn));
      if (chat !== "" && messages === undefined) {
        failed = { error: run.damaged(event.seq, `the messages of event ${event.seq} are not as they were written`) };
        break;
      }
      yield messages === undefined ? event : withMessages(event, messages);
    }
    if (failed !== undefined) {
      // Its rows may have been removed since they were counted.
      await headOf(source, runId, number);
      throw failed.error;
    }
    if (next.seq >= head.events) return;
    await nextMacrotask();
    head = await headOf(source, runId, number);
  }
}

async function headOf(source: RowSource, runId: string, number: number): Promise<RunHead> {
  const head = await source.head(runId);
  if (head.number === number) return head;
  throw new JournalError("RUN_UNKNOWN", `Expected run ${runId} to stay while it was read, but it has been removed.`);
}

/** Returns the position of the row that has an event. The checksum of the row before it is taken without proof: that would need every row. */
async function start(source: RowSource, runId: string, { number, events }: RunHead, first: number): Promise<Position> {
  if (first === 0) return { seq: 0, checksum: chainStart(runId) };
  const [row, before] = await source.rowsBefore(number, Math.min(first + 1, events));
  if (row === undefined) throw source.damaged(runId, 0, `event ${first} is missing`);
  return { seq: row.seq, checksum: row.seq === 0 ? chainStart(runId) : (before?.checksum ?? "") };
}

function faultAfter(
  next: Position,
  { events, head }: RunHead,
  rows: number,
  damaged: (intact: number, why: string) => JournalError,
): { readonly error: unknown } | undefined {
  if (next.seq < events) return rows > 0 ? undefined : { error: damaged(next.seq, `event ${next.seq} is missing`) };
  return next.checksum === head ? undefined : { error: damaged(next.seq, "the run has another last event than this one") };
}
