import { hash } from "node:crypto";
import { JournalError, NotJsonError } from "../kernel/errors.ts";
import { canonicalJson, deepFreeze, isUnchanging, type Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { EVENT_TYPES, EVENT_VERSION, type RunEvent } from "../runtime/record/event.ts";
import { packedEvent, unpackedEvent } from "../runtime/record/packed-event.ts";
import { plainFault } from "../runtime/record/plain-json.ts";
import { type Database, type SqlRow, textOf } from "./sqlite-database.ts";

/*
 * Encoding of an event as a row. The body is the JSON text of its packed list, or of the event itself, as in all files of version 1. The
 * messages that a model read are stored elsewhere, because they repeat. The checksum of a row covers the checksum before it, the messages
 * and the body, and starts from the run's id: a row that was changed, moved, removed or taken from another run does not match.
 */

/** The row of an event. */
export interface EncodedEvent {
  readonly body: string;
  readonly chat: Chat | undefined;
}

/** The fault found in the bytes of a row. */
export interface Flaw {
  readonly flaw: string;
}

/** The checksum before the first event of a run. */
export function chainStart(runId: string): string {
  return digestOf(`run ${JSON.stringify(runId)}`);
}

/** Returns the checksum of a row. @param chat the digest of its conversation, or an empty text */
export function chained(before: string, body: string, chat: string): string {
  return digestOf(`${before} ${chat} ${body}`);
}

/** @throws JournalError `SEQ_MISMATCH`, NotJsonError */
export function encodeEvent(event: RunEvent, runId: string, seq: number): EncodedEvent {
  if (event.seq !== seq || event.runId !== runId) {
    throw new JournalError(
      "SEQ_MISMATCH",
      `Expected event ${seq} of run ${runId} next, got event ${event.seq} of run ${event.runId}. Append the events of one run in their order.`,
    );
  }
  const messages = messagesIn(event);
  const kept = messages === undefined ? event : withMessages(event, []);
  const body = JSON.stringify(packedEvent(kept) ?? kept);
  assertPlain(body, `event ${seq} of run ${runId}`);
  return { body, chat: messages === undefined ? undefined : chatOf(messages) };
}

/** A body whose checksum is right. */
export interface CheckedBody {
  readonly body: string;
  /** It contains no key that names a prototype. */
  readonly isSurelyPlain: boolean;
}

/** Reads a body whose checksum is right. @throws JournalError `EVENT_NEWER` */
export function decodeEvent(checked: CheckedBody, messages: readonly Json[] | undefined, runId: string, seq: number): RunEvent | Flaw {
  const parsed = parsePlain(checked.body, checked.isSurelyPlain)?.value;
  const value = Array.isArray(parsed) ? unpackedEvent(parsed, runId, seq) : parsed;
  if (isRecord(value) && typeof value["v"] === "number" && value["v"] > EVENT_VERSION) throw newer(runId, seq, value["v"]);
  if (!isEvent(value, runId, seq)) return { flaw: `event ${seq} has not the shape of one` };
  if (messages === undefined) return value;
  return messagesIn(value)?.length === 0 ? withMessages(value, messages) : { flaw: `event ${seq} has no place for its messages` };
}

/** Returns the messages that a model reads in a step, if any. */
function messagesIn(event: RunEvent): readonly Json[] | undefined {
  if (event.type !== "step.started") return undefined;
  const { request } = event;
  const messages = isRecord(request) ? request["messages"] : undefined;
  return Array.isArray(messages) ? (messages as readonly Json[]) : undefined;
}

function withMessages(event: RunEvent, messages: readonly Json[]): RunEvent {
  return event.type === "step.started" && isRecord(event.request) ? { ...event, request: { ...event.request, messages } as Json } : event;
}

function isEvent(value: unknown, runId: string, seq: number): value is RunEvent {
  if (!isRecord(value)) return false;
  const { v, type, time } = value;
  return (
    v === EVENT_VERSION &&
    value["runId"] === runId &&
    value["seq"] === seq &&
    typeof time === "number" &&
    typeof type === "string" &&
    Object.hasOwn(EVENT_TYPES, type)
  );
}

function newer(runId: string, seq: number, version: number): JournalError {
  return new JournalError(
    "EVENT_NEWER",
    `Expected events of version ${EVENT_VERSION} at most, got ${version} as event ${seq} of run ${runId}. Update this program to read the run.`,
    { data: { runId, intact: seq, version } },
  );
}

/*
 * Conversations. A run stores each message once, and each beginning of a conversation too: a request that adds two messages to a hundred
 * adds two rows. The name of a conversation is the digest of its last message and of the conversation before it, so it verifies all of it.
 */

/** One message of a conversation, and the conversation up to it. */
interface ChatTurn {
  readonly chat: string;
  /** Empty at the beginning. */
  readonly before: string;
  readonly message: string;
  readonly body: string;
}

/** A conversation in rows; never empty. */
export interface Chat {
  readonly digest: string;
  readonly turns: readonly ChatTurn[];
}

/** Characters of messages that a reader keeps, because the next request mostly repeats the last one. */
const KEPT_CHARACTERS = 8_000_000;
/** Conversations that a reader keeps, for as many roles in turns. */
const KEPT_CHATS = 64;

/** The last turn of each frozen message: it is mostly the same turn again. */
const latestTurns = new WeakMap<object, ChatTurn>();

/** @throws NotJsonError */
export function chatOf(messages: readonly Json[]): Chat | undefined {
  const turns: ChatTurn[] = [];
  let before = "";
  for (const each of messages) {
    const turn = turnOf(each, before);
    turns.push(turn);
    before = turn.chat;
  }
  return turns.length === 0 ? undefined : { digest: before, turns };
}

function turnOf(each: Json, before: string): ChatTurn {
  const known = isUnchanging(each) ? latestTurns.get(each) : undefined;
  if (known?.before === before) return known;
  const body = known?.body ?? bodyOf(each);
  const message = known?.message ?? digestOf(body);
  const turn: ChatTurn = { chat: digestOf(`${before} ${message}`), before, message, body };
  if (isUnchanging(each)) latestTurns.set(each, turn);
  return turn;
}

function bodyOf(each: Json): string {
  const body = canonicalJson(each);
  assertPlain(body, "a message to a model");
  return body;
}

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

/** Reads the conversations of one run. It owns the latest ones it has read; events share their frozen messages. */
export class ChatReader {
  readonly #kept = new Map<string, readonly Json[]>();
  #keptCharacters = 0;

  /** Returns the messages of a conversation; undefined when one is missing or damaged. */
  read(db: Database, number: number, chat: string): readonly Json[] | undefined {
    const found: Json[] = [];
    let at = chat;
    while (at !== "" && !this.#kept.has(at)) {
      const turn = this.#turn(db, number, at);
      if (turn === undefined) return undefined;
      found.push(turn.message);
      at = turn.before;
    }
    const messages = Object.freeze([...(this.#kept.get(at) ?? []), ...found.reverse()]);
    this.#keep(chat, messages);
    return messages;
  }

  #turn(db: Database, number: number, chat: string): { readonly message: Json; readonly before: string } | undefined {
    const [before, message] =
      db.first("SELECT hex(before), hex(message) FROM chats WHERE number = ? AND chat = unhex(?)", [number, chat]) ?? [];
    if (typeof before !== "string" || typeof message !== "string" || digestOf(`${before} ${message}`) !== chat) return undefined;
    const sql = "SELECT CAST(body AS BLOB) FROM chat_messages WHERE number = ? AND message = unhex(?)";
    const body = textOf(db.first(sql, [number, message])?.[0]);
    if (body === undefined || digestOf(body) !== message) return undefined;
    const parsed = parsePlain(body);
    if (parsed === undefined) return undefined;
    this.#keptCharacters += body.length;
    return { message: deepFreeze(parsed.value as Json), before };
  }

  #keep(name: string, messages: readonly Json[]): void {
    if (this.#keptCharacters > KEPT_CHARACTERS) {
      this.#kept.clear();
      this.#keptCharacters = 0;
    }
    this.#kept.delete(name);
    this.#kept.set(name, messages);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_CHATS) break;
      this.#kept.delete(oldest);
    }
  }
}

/*
 * Rows of events in the file, unchecked: the reader checks them.
 *
 * One query row holds many of them, because the library's work for each row takes longer than decoding it. Bodies are JSON without line
 * breaks, so they are joined as lines. A result that is not exactly that many complete events is read again row by row.
 */

/** The row of an event as it is in the file. */
export interface StoredEvent {
  readonly place: unknown;
  readonly body: string | undefined;
  readonly checksum: unknown;
  readonly chat: unknown;
  readonly isSurelyPlain: boolean;
}

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

/*
 * JSON text of a file. Keys that name a prototype are refused in both directions. Every event is checked, so only a text that may hold such
 * a key is parsed for it.
 */

/** The names, or an escape that may stand for one of their letters; `JSON.stringify` never escapes a letter. */
const SUSPICIOUS = ["__proto__", '"constructor"', "\\u00"];

/** True when a text may hold such a key. A regular expression would take as long as parsing. */
function isSuspicious(text: string): boolean {
  return SUSPICIOUS.some((name) => text.includes(name));
}

/** @throws NotJsonError for a key that names a prototype */
export function assertPlain(text: string, what: string): void {
  const fault = isSuspicious(text) ? plainFault(JSON.parse(text)) : undefined;
  if (fault !== undefined) throw new NotJsonError(what, fault);
}

/**
 * Parses a text of this package; undefined for any other text.
 *
 * @param isSurelyPlain the text is a part of one that is not {@link isSuspicious}
 */
function parsePlain(written: string | Uint8Array, isSurelyPlain = false): { readonly value: unknown } | undefined {
  const text = typeof written === "string" ? written : (textOf(written) as string);
  try {
    const value: unknown = JSON.parse(text);
    return !isSurelyPlain && isSuspicious(text) && plainFault(value) !== undefined ? undefined : { value };
  } catch {
    return undefined;
  }
}

/** Hexadecimal digits kept of a sha256: 128 bits. */
const DIGEST_DIGITS = 32;

/** The first {@link DIGEST_DIGITS} of the sha256 of a text as UTF-8, in capitals, as SQLite's own `hex()` writes them. */
function digestOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, DIGEST_DIGITS).toUpperCase();
}
