import { canonicalJson, deepFreeze, isUnchanging, type Json } from "../kernel/json.ts";
import type { Database } from "./sqlite-database.ts";
import { digestOf } from "./sqlite-digest.ts";
import { assertPlain, parsePlain, textOf } from "./sqlite-text.ts";

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

/** Where a message that cannot change stood last: mostly it stands there again. */
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
