import { hash } from "node:crypto";
import { JournalError, NotJsonError } from "../kernel/errors.ts";
import { canonicalJson, deepFreeze, isUnchanging, type Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { EVENT_TYPES, EVENT_VERSION, type RunEvent } from "../runtime/record/event.ts";
import { packedEvent, unpackedEvent } from "../runtime/record/packed-event.ts";
import { plainFault } from "../runtime/record/plain-json.ts";
import { type Database, type Row, textOf } from "./sqlite-database.ts";

/*
 * An event as a row, and back. The body is the JSON text of its list, or of the event itself where it has none, as in all files of
 * version 1; the messages a model was shown are taken out of it, for they are the same over and over. Every row carries a checksum over the one before, the messages and the body, from a start that only its run has: a row that
 * was changed, moved, left out or taken from another run does not fit.
 */

/** An event ready to be written. */
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

/** The checksum of a row. @param chat the digest of its conversation, or an empty text */
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
  /** No key in it reaches for prototypes. */
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

/** The messages a model is shown by a step, if it shows any. */
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
 * Conversations, each message stored once in a run, and each beginning of a conversation too: a question that adds two messages to a
 * hundred adds two rows. A conversation is named by the digest of its last message and of everything before, so that the name vouches for
 * the whole of it.
 */

/** One message of a conversation, and the conversation up to it. */
interface Turn {
  readonly chat: string;
  /** Empty at the beginning. */
  readonly before: string;
  readonly message: string;
  readonly body: string;
}

/** A conversation ready to be written: never empty. */
export interface Chat {
  readonly digest: string;
  readonly turns: readonly Turn[];
}

/** Characters of messages that a reader keeps, so that the next question, which mostly repeats the last, is read quickly. */
const KEPT_CHARACTERS = 8_000_000;
/** Conversations that a reader keeps: as many roles may take turns. */
const KEPT_CHATS = 64;

/** The last place of an unchanging message. It mostly has the same place again. */
const latestTurns = new WeakMap<object, Turn>();

/** @throws NotJsonError */
export function chatOf(messages: readonly Json[]): Chat | undefined {
  const turns: Turn[] = [];
  let before = "";
  for (const each of messages) {
    const turn = turnOf(each, before);
    turns.push(turn);
    before = turn.chat;
  }
  return turns.length === 0 ? undefined : { digest: before, turns };
}

function turnOf(each: Json, before: string): Turn {
  const known = isUnchanging(each) ? latestTurns.get(each) : undefined;
  if (known?.before === before) return known;
  const body = known?.body ?? bodyOf(each);
  const message = known?.message ?? digestOf(body);
  const turn: Turn = { chat: digestOf(`${before} ${message}`), before, message, body };
  if (isUnchanging(each)) latestTurns.set(each, turn);
  return turn;
}

function bodyOf(each: Json): string {
  const body = canonicalJson(each);
  assertPlain(body, "a message to a model");
  return body;
}

/** Writes what is not there yet, the beginning first: what is there has all that came before it. */
export function writeChat(db: Database, number: number, { turns }: Chat): void {
  let known = turns.length;
  while (known > 0 && !hasChat(db, number, turns[known - 1])) known -= 1;
  for (const { chat, before, message, body } of turns.slice(known)) {
    db.run("INSERT OR IGNORE INTO chat_messages (number, message, body) VALUES (?, unhex(?), ?)", [number, message, body]);
    db.run("INSERT INTO chats (number, chat, before, message) VALUES (?, unhex(?), unhex(?), unhex(?))", [number, chat, before, message]);
  }
}

function hasChat(db: Database, number: number, turn: Turn | undefined): boolean {
  return turn !== undefined && db.first("SELECT 1 FROM chats WHERE number = ? AND chat = unhex(?)", [number, turn.chat]) !== undefined;
}

/** Reads the conversations of one run. It owns what it has read lately: messages are shared between events, and frozen for that. */
export class ChatReader {
  readonly #kept = new Map<string, readonly Json[]>();
  #keptCharacters = 0;

  /** The messages of a conversation, or undefined when not all of them are there as they were written. */
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

/*
 * JSON text that goes into a file and comes out of it. Keys that reach for prototypes get neither in nor out; only a text that may hold
 * one is looked at closely, for this is done to every event.
 */

/** The names themselves, or a letter of them written as a number: what `JSON.stringify` writes has never one of those for a letter. */
const SUSPICIOUS = ["__proto__", '"constructor"', "\\u00"];

/** Whether a text may hold such a key. Plain searches: an expression would take as long as reading the JSON. */
function isSuspicious(text: string): boolean {
  return SUSPICIOUS.some((name) => text.includes(name));
}

/** @throws NotJsonError when it holds what must not be read again */
function assertPlain(text: string, what: string): void {
  const fault = isSuspicious(text) ? plainFault(JSON.parse(text)) : undefined;
  if (fault !== undefined) throw new NotJsonError(what, fault);
}

/**
 * What was written, or undefined when nobody writes such a thing.
 *
 * @param isSurelyPlain it is part of a text that is not {@link isSuspicious}
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
