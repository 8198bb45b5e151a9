import type { MessagePage, StoredMessage } from "../memory/message-store.ts";
import { BLOCK, type BlockRow, type BlockTable, blockOf, byBlock } from "./sqlite-block.ts";
import type { Database, Row } from "./sqlite-database.ts";
import { decodeColumns, encodeColumns } from "./sqlite-message-columns.ts";
import { decodeMessage, MESSAGE_LINE } from "./sqlite-store-rows.ts";
import { writeWords } from "./sqlite-words.ts";

/*
 * Each message has a row of its own, and once all places of its block are given, all of them stand once more in the block's row, which is
 * what is read, and their words in the index of words. All are written by one transaction. Whichever of the two is damaged, the other one has the message; places are rows here.
 */

/** Rows read at once: between two pages others get their turn. Larger ones leave the processor's cache. */
const PAGE = 500;
/** Most bytes of a block's messages: of longer ones it would save little, and every change to one writes all of them again. */
const LARGEST = 256 * 1024;
/** Most bytes of a block whose words are taken, which takes a second for ten times as many. */
const MOST_WORDED = 4 * 1024 * 1024;

/** Messages as they are read, with places behind `base`. */
export function messageTable(base: number): BlockTable<StoredMessage> {
  return {
    blocks: (db, from, end, atMost) => db.all(READ_BLOCKS, [from, end, atMost]).map((row) => blockRow(row, base)),
    rows: (db, after, end) => {
      const [count, last, lines] = db.first(READ_ROWS, [after, end, PAGE]) ?? [];
      return { items: decoded(lines, base), count: Number(count), upTo: Number(last) };
    },
    rowOf: ({ place }) => base + place,
  };
}

/**
 * Writes the rows and the words of blocks that have places among those from `first` to `last`, all of which were given. Blocks that have a
 * damaged message, or very long ones, have none.
 */
export function writeMessageBlocks(db: Database, first: number, last: number): void {
  for (let block = blockOf(first); block + BLOCK - 1 <= last; block += BLOCK) {
    const range = [block - 1, block + BLOCK];
    const bytes = Number(db.first(BYTES, range)?.[0]);
    if (bytes > LARGEST) db.run(DELETE_BLOCK, [block]);
    if (bytes > MOST_WORDED) continue;
    const [count, , lines] = db.first(READ_ROWS, [...range, BLOCK]) ?? [];
    const messages = decoded(lines, 0);
    if (messages.length !== Number(count)) continue;
    if (bytes <= LARGEST) writeBlock(db, block, messages);
    writeWords(db, block, messages);
  }
}

/** Gives blocks what they lack of their rows and words, where all places from `first` to `last` were given. */
export function gatherMessages(db: Database, first: number, last: number): void {
  for (let block = blockOf(first); block + BLOCK - 1 <= last; block += BLOCK) {
    const found = db.first(READ_BLOCK, [block]);
    const messages = found === undefined ? undefined : blockRow(found, 0).items;
    if (messages === undefined) writeMessageBlocks(db, block, block + BLOCK - 1);
    else writeWords(db, block, messages);
  }
}

/** Takes messages that were just removed out of their blocks. */
export function removeFromMessageBlocks(db: Database, rows: readonly number[]): void {
  for (const [block, gone] of byBlock(rows, (row) => row)) {
    const found = db.first(READ_BLOCK, [block]);
    if (found === undefined) continue;
    const { items } = blockRow(found, 0);
    if (items === undefined) {
      db.run(DELETE_BLOCK, [block]);
      writeMessageBlocks(db, block, block + BLOCK - 1);
    } else {
      writeBlock(
        db,
        block,
        items.filter(({ place }) => !gone.includes(place)),
      );
    }
  }
}

/** The message of a place, as its block has it. */
export function messageInBlock(db: Database, row: number): StoredMessage | undefined {
  const found = db.first(READ_BLOCK, [blockOf(row)]);
  return found === undefined ? undefined : blockRow(found, 0).items?.find(({ place }) => place === row);
}

/** The messages at some rows, in order of arrival, with places behind `base`. */
export function messagesAt(db: Database, rows: readonly number[], base: number): MessagePage {
  const [count, , lines] = db.first(READ_SOME, [JSON.stringify(rows)]) ?? [];
  const messages = decoded(lines, base);
  if (messages.length === Number(count)) return { messages, damaged: 0 };
  const known = new Set(messages.map(({ place }) => base + place));
  for (const row of rows) {
    const message = known.has(row) ? undefined : messageInBlock(db, row);
    if (message !== undefined) messages.push({ ...message, place: row - base });
  }
  return { messages: messages.sort((a, b) => a.place - b.place), damaged: Number(count) - messages.length };
}

function writeBlock(db: Database, block: number, messages: readonly StoredMessage[]): void {
  if (messages.length === 0) {
    db.run(DELETE_BLOCK, [block]);
    return;
  }
  const { content, checksum } = encodeColumns(block, messages);
  db.run("INSERT OR REPLACE INTO message_blocks VALUES (?, ?, ?)", [block, content, checksum]);
}

function blockRow([number, content, checksum]: Row, base: number): BlockRow<StoredMessage> {
  const block = Number(number);
  return { block, items: decodeColumns(block, content as Uint8Array, checksum as Uint8Array, base) };
}

function decoded(lines: unknown, base: number): StoredMessage[] {
  if (!(lines instanceof Uint8Array)) return [];
  return Buffer.from(lines)
    .toString()
    .split("\n")
    .flatMap((line) => decodeMessage(line, base) ?? []);
}

// One flipped bit makes text of anything, and text that is no UTF-8 ends the process: everything is asked for as bytes.
const READ_ROWS = `SELECT count(*), CAST(max(place) AS INTEGER), CAST(group_concat(${MESSAGE_LINE}, char(10)) AS BLOB)
  FROM (SELECT * FROM messages WHERE place > ? AND place < ? ORDER BY place LIMIT ?)`;
const READ_SOME = `SELECT count(*), 0, CAST(group_concat(${MESSAGE_LINE}, char(10)) AS BLOB)
  FROM (SELECT * FROM messages WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place)`;
const BYTES = "SELECT CAST(sum(octet_length(body)) AS INTEGER) FROM messages WHERE place > ? AND place < ?";
const COLUMNS = "CAST(block AS INTEGER), CAST(content AS BLOB), CAST(checksum AS BLOB)";
const READ_BLOCKS = `SELECT ${COLUMNS} FROM message_blocks WHERE block >= ? AND block < ? ORDER BY block LIMIT ?`;
const READ_BLOCK = `SELECT ${COLUMNS} FROM message_blocks WHERE block = ?`;
const DELETE_BLOCK = "DELETE FROM message_blocks WHERE block = ?";
