import type { Chat, ChatRow, ChatTurn } from "./event-chats.ts";
import type { StoredEvent } from "./event-rows.ts";
import { type Database, type SqlRow, textOf } from "./sqlite-database.ts";
import { isSuspicious } from "../runtime/record/plain-json.ts";

/** Writes the missing turns, from the beginning: a stored turn has all turns before it. */
export function writeChat(db: Database, number: number, { turns }: Chat): void {
  let known = turns.length;
  while (known > 0 && !hasChat(db, number, turns[known - 1])) known -= 1;
  for (const { chat, before, message, body } of turns.slice(known)) {
    db.run("INSERT OR IGNORE INTO chat_messages (number, message, body) VALUES (?, unhex(?), ?)", [number, message, body]);
    db.run("INSERT INTO chats (number, chat, before, message) VALUES (?, unhex(?), unhex(?), unhex(?))", [number, chat, before, message]);
  }
}

function hasChat(db: Database, number: number, turn: ChatTurn | undefined): boolean {
  return turn !== undefined && db.first("SELECT 1 FROM chats WHERE number = ? AND chat = unhex(?)", [number, turn.chat]) !== undefined;
}

/** Returns the row of a turn. */
export function chatRow(db: Database, number: number, chat: string): ChatRow | undefined {
  const [before, message] =
    db.first("SELECT hex(before), hex(message) FROM chats WHERE number = ? AND chat = unhex(?)", [number, chat]) ?? [];
  if (typeof message !== "string") return undefined;
  const sql = "SELECT CAST(body AS BLOB) FROM chat_messages WHERE number = ? AND message = unhex(?)";
  return { before, message, body: textOf(db.first(sql, [number, message])?.[0]) };
}

/*
 * Rows of events in the file, unchecked: the reader checks them.
 *
 * One query row holds many of them, because the library's work for each row takes longer than decoding it. Bodies are JSON without line
 * breaks, so they are joined as lines. A result that is not exactly that many complete events is read again row by row.
 */

/** Digits of a checksum. */
const CHECKSUM_DIGITS = 32;

// Rows come in the order of the table's key. In another order no checksum would match.
const TOGETHER = `SELECT count(*), min(place), max(place), CAST(group_concat(CAST(body AS BLOB), char(10)) AS BLOB),
    group_concat(hex(checksum), ''), group_concat(hex(chat), ',')
  FROM events WHERE place >= ? AND place < ?`;

const ONE_BY_ONE = `SELECT place, CAST(body AS BLOB), hex(checksum), hex(chat) FROM events
  WHERE place >= ? AND place < ? ORDER BY place`;

/** The events from place `first` on, up to the one before `behind`. */
export function storedEvents(db: Database, first: number, behind: number): Iterable<StoredEvent> {
  const places = [first, behind];
  return (behind - first > 1 ? together(db.first(TOGETHER, places)) : undefined) ?? db.all(ONE_BY_ONE, places).map(alone);
}

function together([count, first, last, bodies, sums, names]: SqlRow = []): Iterable<StoredEvent> | undefined {
  const text = textOf(bodies);
  if (typeof count !== "number" || typeof first !== "number" || text === undefined) return undefined;
  const lines = text.split("\n");
  const chats = String(names).split(",");
  const checksums = String(sums);
  const areWhole = lines.length === count && chats.length === count && checksums.length === count * CHECKSUM_DIGITS;
  if (last !== first + count - 1 || !areWhole) return undefined;
  const isSurelyPlain = !isSuspicious(text);
  return lines.map((body, nth) => ({
    place: first + nth,
    body,
    checksum: checksums.slice(nth * CHECKSUM_DIGITS, (nth + 1) * CHECKSUM_DIGITS),
    chat: chats[nth],
    isSurelyPlain,
  }));
}

function alone([place, body, checksum, chat]: SqlRow): StoredEvent {
  return { place, body: textOf(body), checksum, chat, isSurelyPlain: false };
}
