import { hash } from "node:crypto";
import type { MessagePage, StoredMessage } from "../memory/message-store.ts";
import { type Message, MESSAGE_VERSION, frozenMessage } from "../message/message.ts";
import { type Database, type SqlRow, textOf } from "./sqlite-database.ts";
import { decodeMessage } from "./message-rows.ts";
import { BLOCK, blockOf, type BlockRow, type BlockTable, byBlock, MESSAGE_LINE, rowPage } from "./sqlite-store-rows.ts";
import { writeWords } from "./sqlite-words.ts";

/*
 * Each message has a row of its own. Once all places of its block are given, the row of the block holds a copy of all of them, which is
 * read first, and the index holds their words. One transaction writes all of this. When one copy is damaged the other one has the message.
 * Places are rows here.
 */

/** Rows of a page: other work runs between two pages. Larger pages do not fit into the processor's cache. */
const PAGE = 500;
/** Most bytes of the messages of a block. For longer messages a block saves little, and every change writes all of them again. */
const LARGEST = 256 * 1024;
/** Most bytes of a block whose words are indexed: ten times as many take a second. */
const MOST_WORDED = 4 * 1024 * 1024;

/** The table of messages of one role; its places are rows minus `base`. */
export function messageTable(base: number): BlockTable<StoredMessage> {
  return {
    blocks: (db, from, end, atMost) => db.all(READ_BLOCKS, [from, end, atMost]).map((row) => blockRow(row, base)),
    rows: (db, after, end) => {
      const [count, last, lines] = db.first(READ_ROWS, [after, end, PAGE]) ?? [];
      return rowPage(decoded(lines, base), { count, last, after });
    },
    rowOf: ({ place }) => base + place,
  };
}

/**
 * Writes the blocks and the words of the places from `first` to `last`, all of which were given. A block with a damaged message, or with
 * very long ones, is left out.
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

/** Writes the missing blocks and words of the places from `first` to `last`, all of which were given. */
export function gatherMessages(db: Database, first: number, last: number): void {
  for (let block = blockOf(first); block + BLOCK - 1 <= last; block += BLOCK) {
    const found = db.first(READ_BLOCK, [block]);
    const messages = found === undefined ? undefined : blockRow(found, 0).items;
    if (messages === undefined) writeMessageBlocks(db, block, block + BLOCK - 1);
    else writeWords(db, block, messages);
  }
}

/** Removes messages from their blocks after their rows were removed. */
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

/** Reads the message of a row from its block. */
export function messageInBlock(db: Database, row: number): StoredMessage | undefined {
  const found = db.first(READ_BLOCK, [blockOf(row)]);
  return found === undefined ? undefined : blockRow(found, 0).items?.find(({ place }) => place === row);
}

/** Reads the messages of some rows, in the order of arrival; their places are rows minus `base`. */
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

function blockRow([number, content, checksum]: SqlRow, base: number): BlockRow<StoredMessage> {
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

// One flipped bit can make text of any value, and text that is not UTF-8 ends the process: everything is read as bytes.
const READ_ROWS = `SELECT count(*), CAST(max(place) AS INTEGER), CAST(group_concat(${MESSAGE_LINE}, char(10)) AS BLOB)
  FROM (SELECT * FROM messages WHERE place > ? AND place < ? ORDER BY place LIMIT ?)`;
const READ_SOME = `SELECT count(*), 0, CAST(group_concat(${MESSAGE_LINE}, char(10)) AS BLOB)
  FROM (SELECT * FROM messages WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place)`;
const BYTES = "SELECT CAST(sum(octet_length(body)) AS INTEGER) FROM messages WHERE place > ? AND place < ?";
const COLUMNS = "CAST(block AS INTEGER), CAST(content AS BLOB), CAST(checksum AS BLOB)";
const READ_BLOCKS = `SELECT ${COLUMNS} FROM message_blocks WHERE block >= ? AND block < ? ORDER BY block LIMIT ?`;
const READ_BLOCK = `SELECT ${COLUMNS} FROM message_blocks WHERE block = ?`;
const DELETE_BLOCK = "DELETE FROM message_blocks WHERE block = ?";

/*
 * Encoding of the messages of a block as columns. A value that all of them share is written once and shared in memory, so they are read
 * several times as fast as one by one. A message of an unusual shape is written as it is.
 */

/** One field of many messages: one value for all, or one for each. */
type Column<T> = { readonly all: T; readonly each?: undefined } | { readonly each: readonly T[] };

type Usual = Exclude<keyof Message, "instructContent" | "priority">;

interface Columns {
  readonly v: number;
  /** The number of the block, so that a row of another block is refused. */
  readonly block: number;
  readonly offset: readonly number[];
  readonly runId: Column<string>;
  readonly addedAt: Column<number>;
  readonly fields: { readonly [Field in Usual]: Column<Message[Field]> };
  /** Messages of unusual shapes, each with its index among all. */
  readonly others: readonly (readonly [number, Message])[];
}

/** The fields of a message without a payload and a priority, in their order. */
const FIELDS: readonly Usual[] = ["id", "content", "role", "causeBy", "sentFrom", "sendTo", "parents", "timestamp", "metadata"];
const SHAPE = FIELDS.join();
/** Bytes of a checksum: 128 bits. */
const DIGEST = 16;

/** Encodes the messages of a block, in order; their places are rows. */
export function encodeColumns(block: number, messages: readonly StoredMessage[]): { readonly content: Buffer; readonly checksum: Buffer } {
  const usual = messages.filter(({ message }) => isUsual(message));
  const others = messages.flatMap(({ message }, n) => (isUsual(message) ? [] : [[n, message] as const]));
  const columns: Columns = {
    v: MESSAGE_VERSION,
    block,
    offset: messages.map(({ place }) => place - block),
    runId: columnOf(messages.map(({ runId }) => runId)),
    addedAt: columnOf(messages.map(({ addedAt }) => addedAt)),
    fields: Object.fromEntries(FIELDS.map((field) => [field, columnOf(usual.map(({ message }) => message[field]))])) as Columns["fields"],
    others,
  };
  const content = Buffer.from(JSON.stringify(columns));
  return { content, checksum: digestOf(content) };
}

/** Decodes a block; undefined when it is damaged or of another version. The places are rows minus `base`. */
export function decodeColumns(block: number, content: Uint8Array, checksum: Uint8Array, base: number): StoredMessage[] | undefined {
  if (!digestOf(content).equals(checksum)) return undefined;
  const columns = JSON.parse(textOf(content) as string) as Columns;
  if (columns.v !== MESSAGE_VERSION || columns.block !== block) return undefined;
  const { offset, others, runId, addedAt } = columns;
  const messages = messagesIn(columns.fields, offset.length - others.length);
  for (const [n, message] of others) messages.splice(n, 0, frozenMessage(message));
  return messages.map((message, n) => ({
    place: block - base + (offset[n] as number),
    runId: valueOf(runId, n),
    addedAt: valueOf(addedAt, n),
    message,
  }));
}

function messagesIn(fields: Columns["fields"], count: number): Message[] {
  if (count === 0) return [];
  const { id, content, role, causeBy, sentFrom, timestamp } = fields;
  const first = frozenMessage(messageAt(fields, 0));
  if (fields.sendTo.each !== undefined || fields.parents.each !== undefined || fields.metadata.each !== undefined) {
    return Array.from({ length: count }, (_, n) => (n === 0 ? first : frozenMessage(messageAt(fields, n))));
  }
  const { sendTo, parents, metadata } = first;
  const messages = [first];
  for (let n = 1; n < count; n++) {
    const message: Message = {
      id: valueOf(id, n),
      content: valueOf(content, n),
      role: valueOf(role, n),
      causeBy: valueOf(causeBy, n),
      sentFrom: valueOf(sentFrom, n),
      sendTo,
      parents,
      timestamp: valueOf(timestamp, n),
      metadata,
    };
    messages.push(Object.freeze(message));
  }
  return messages;
}

function messageAt(fields: Columns["fields"], n: number): Message {
  return {
    id: valueOf(fields.id, n),
    content: valueOf(fields.content, n),
    role: valueOf(fields.role, n),
    causeBy: valueOf(fields.causeBy, n),
    sentFrom: valueOf(fields.sentFrom, n),
    sendTo: valueOf(fields.sendTo, n),
    parents: valueOf(fields.parents, n),
    timestamp: valueOf(fields.timestamp, n),
    metadata: valueOf(fields.metadata, n),
  };
}

/** True for a message with exactly the usual fields, of primitive values where no list belongs. */
function isUsual(message: Message): boolean {
  const { id, content, role, causeBy, sentFrom, timestamp } = message;
  const keys = Object.keys(message);
  const isPlain = [id, content, role, causeBy, sentFrom, timestamp].every((value) => Object(value) !== value);
  return keys.length === FIELDS.length && keys.join() === SHAPE && isPlain;
}

function columnOf<T>(values: readonly T[]): Column<T> {
  const [first] = values;
  const text = JSON.stringify(first);
  return first !== undefined && values.every((value) => JSON.stringify(value) === text) ? { all: first } : { each: values };
}

function valueOf<T>(column: Column<T>, n: number): T {
  return column.each === undefined ? column.all : (column.each[n] as T);
}

function digestOf(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer").subarray(0, DIGEST);
}
