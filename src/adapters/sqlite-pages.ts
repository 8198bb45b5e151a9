import type { Database, Row } from "./sqlite-database.ts";
import { isSuspicious, textOf } from "./sqlite-text.ts";

/*
 * Events of a run as they stand in the file. Nothing of them is believed yet: their checksums are for the reader to look at.
 *
 * Many of them come as one row: what the library does for every row takes longer than all that is done with it. No body has a line end in
 * it, for JSON writes that otherwise, so the bodies come as lines. What does not come out as so many whole events one behind the other is
 * read again row by row.
 */

/** What stands in one row. */
export interface StoredEvent {
  readonly place: unknown;
  readonly body: string | undefined;
  readonly checksum: unknown;
  readonly chat: unknown;
  readonly isSurelyPlain: boolean;
}

/** Digits of a checksum. */
const CHECKSUM_DIGITS = 32;

// Rows of a table come in the order of its key; were it another, no checksum would fit.
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

function together([count, first, last, bodies, sums, names]: Row = []): Iterable<StoredEvent> | undefined {
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

function alone([place, body, checksum, chat]: Row): StoredEvent {
  return { place, body: textOf(body), checksum, chat, isSurelyPlain: false };
}
