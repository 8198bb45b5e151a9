import type { RunEvent } from "../runtime/record/event.ts";
import type { RunSnapshot } from "../runtime/record/journal.ts";
import type { ChatRow } from "./event-chats.ts";
import { chainStart } from "./event-rows.ts";
import { readRun, type RowSource } from "./run-reader.ts";
import { type Database, textOf } from "./sqlite-database.ts";
import { damagedRun, unreadable } from "./sqlite-errors.ts";
import { snapshotAhead } from "./stored-runs.ts";
import { knownRun, type OwnedHead, ownedRun, PLACES, rowsBefore } from "./sqlite-runs.ts";

export type AskFile = <T>(work: (db: Database) => T) => Promise<T>;

/** Reads a run. @throws JournalError of `readRun`, `JOURNAL_UNREADABLE`, after everything intact before it */
export async function* readEvents(file: string, ask: AskFile, runId: string, from: number): AsyncGenerator<RunEvent, void> {
  let intact = 0;
  try {
    for await (const event of readRun(rowsIn(file, ask), runId, from)) {
      intact = event.seq + 1;
      yield event;
    }
  } catch (error) {
    throw unreadable(file, runId, intact, error);
  }
}

function rowsIn(file: string, ask: AskFile): RowSource {
  return {
    pageRows: 8,
    head: (runId) => ask((db) => knownRun(db, runId)),
    rowsBefore: (number, seq) => ask((db) => rowsBefore(db, number, seq)),
    blocks: (number, from, end, limit) =>
      ask((db) => {
        const sql = "SELECT place, CAST(body AS BLOB), hex(checksum) FROM events WHERE place >= ? AND place < ? ORDER BY place LIMIT ?";
        const rows = db.all(sql, [number * PLACES + from, number * PLACES + end, limit]);
        return rows.map(([place, body, checksum]) => ({ seq: Number(place) - number * PLACES, body, checksum }));
      }),
    turns: (number, chats, known) => ask((db) => turnsOf(db, number, chats, known)),
    damaged: (runId, intact, why) => damagedRun(file, runId, intact, why),
  };
}

function turnsOf(db: Database, number: number, chats: readonly string[], known: readonly string[]): ReadonlyMap<string, ChatRow> {
  const turns = new Map<string, ChatRow>();
  const ends = new Set(["", ...known]);
  for (let chat of chats) {
    while (!ends.has(chat) && !turns.has(chat)) {
      const [before, message, body] = db.first(TURN, [number, chat]) ?? [];
      turns.set(chat, { before, message, body: textOf(body) });
      chat = typeof before === "string" ? before : "";
    }
  }
  return turns;
}

const TURN = `SELECT hex(before), hex(message), CAST(body AS BLOB) FROM chats LEFT JOIN chat_messages USING (number, message)
  WHERE number = ? AND chat = unhex(?)`;

export function keepSnapshot(db: Database, runId: string, epoch: number, { seq, state }: RunSnapshot): void {
  const run = ownedRun(db, runId, epoch);
  const head = checksumBefore(db, runId, run, seq);
  if (head === undefined) throw snapshotAhead(runId, run.events, seq);
  const values = [run.number, seq, head, state];
  db.run("INSERT OR REPLACE INTO snapshots (number, seq, head, body) VALUES (?, ?, unhex(?), ?)", values);
}

/**
 * Returns the snapshot of a run; undefined for none, and for one of another past. SqliteSnapshots.P1 a snapshot has the checksum of the event before
 * it, which covers the record up to there. The reader of its state checks its content.
 */
export function newestSnapshot(db: Database, runId: string): RunSnapshot | undefined {
  const run = knownRun(db, runId);
  const [seq, head, bytes] =
    db.first("SELECT CAST(seq AS INTEGER), hex(head), CAST(body AS BLOB) FROM snapshots WHERE number = ?", [run.number]) ?? [];
  const state = textOf(bytes);
  if (typeof seq !== "number" || state === undefined || head !== checksumBefore(db, runId, run, seq)) return undefined;
  return { seq, state };
}

function checksumBefore(db: Database, runId: string, { number, events }: OwnedHead, seq: number): string | undefined {
  if (seq === 0) return chainStart(runId);
  return seq > events ? undefined : rowsBefore(db, number, seq)[0]?.checksum;
}
