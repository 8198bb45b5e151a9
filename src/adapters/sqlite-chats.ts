import { canonicalJson, type Json } from "../kernel/json.ts";
import type { Database } from "./sqlite-database.ts";
import { digestOf } from "./sqlite-digest.ts";
import { assertPlain, parsePlain } from "./sqlite-text.ts";

/*
 * Conversations, each message stored once in a run, and each beginning of a conversation too: a question that adds two messages to a
 * hundred adds two rows. A conversation is named by the digest of its last message and of everything before, so that the name vouches for
 * the whole of it.
 */

/** One message of a conversation, and the conversation up to it. */
interface Turn {
  readonly chat: Buffer;
  readonly before: Buffer | null;
  readonly message: Buffer;
  readonly body: string;
}

/** A conversation ready to be written: never empty. */
export interface Chat {
  readonly digest: Buffer;
  readonly turns: readonly Turn[];
}

/** Bytes of messages that a reader keeps, so that the next question, which mostly repeats the last, is read quickly. */
const KEPT_BYTES = 8_000_000;
/** Conversations that a reader keeps: as many roles may take turns. */
const KEPT_CHATS = 64;

/** @throws NotJsonError */
export function chatOf(messages: readonly Json[]): Chat | undefined {
  const turns: Turn[] = [];
  let before: Buffer | null = null;
  for (const each of messages) {
    const body = canonicalJson(each);
    assertPlain(body, "a message to a model");
    const message = digestOf(body);
    const chat: Buffer = digestOf(before ?? "", message);
    turns.push({ chat, before, message, body });
    before = chat;
  }
  return before === null ? undefined : { digest: before, turns };
}

/** Writes what is not there yet, the beginning first: what is there has all that came before it. */
export function writeChat(db: Database, number: number, { turns }: Chat): void {
  let known = turns.length;
  while (known > 0 && !hasChat(db, number, turns[known - 1])) known -= 1;
  for (const { chat, before, message, body } of turns.slice(known)) {
    db.run("INSERT OR IGNORE INTO chat_messages (number, message, body) VALUES (?, ?, ?)", [number, message, body]);
    db.run("INSERT INTO chats (number, chat, before, message) VALUES (?, ?, ?, ?)", [number, chat, before, message]);
  }
}

function hasChat(db: Database, number: number, turn: Turn | undefined): boolean {
  return turn !== undefined && db.first("SELECT 1 FROM chats WHERE number = ? AND chat = ?", [number, turn.chat]) !== undefined;
}

/** Reads the conversations of one run. It owns what it has read lately; messages are shared between events. */
export class ChatReader {
  readonly #kept = new Map<string, readonly Json[]>();
  #keptBytes = 0;

  /** The messages of a conversation, or undefined when not all of them are there as they were written. */
  read(db: Database, number: number, chat: Uint8Array): readonly Json[] | undefined {
    const found: Json[] = [];
    let at: Uint8Array | null = chat;
    let beginning: readonly Json[] = [];
    while (at !== null) {
      const kept = this.#kept.get(nameOf(at));
      if (kept !== undefined) {
        beginning = kept;
        break;
      }
      const turn = this.#turn(db, number, at);
      if (turn === undefined) return undefined;
      found.push(turn.message);
      at = turn.before;
    }
    const messages = [...beginning, ...found.reverse()];
    this.#keep(nameOf(chat), messages);
    return messages;
  }

  #turn(db: Database, number: number, chat: Uint8Array): { readonly message: Json; readonly before: Uint8Array | null } | undefined {
    const [before, message] =
      db.first("SELECT CAST(before AS BLOB), CAST(message AS BLOB) FROM chats WHERE number = ? AND chat = ?", [number, chat]) ?? [];
    if (!(message instanceof Uint8Array) || !(before === null || before instanceof Uint8Array)) return undefined;
    if (!digestOf(before ?? "", message).equals(chat)) return undefined;
    const sql = "SELECT CAST(body AS BLOB) FROM chat_messages WHERE number = ? AND message = ?";
    const [body] = db.first(sql, [number, message]) ?? [];
    if (!(body instanceof Uint8Array) || !digestOf(body).equals(message)) return undefined;
    const parsed = parsePlain(body);
    if (parsed === undefined) return undefined;
    this.#keptBytes += body.length;
    return { message: parsed.value as Json, before };
  }

  #keep(name: string, messages: readonly Json[]): void {
    if (this.#keptBytes > KEPT_BYTES) {
      this.#kept.clear();
      this.#keptBytes = 0;
    }
    this.#kept.delete(name);
    this.#kept.set(name, messages);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_CHATS) break;
      this.#kept.delete(oldest);
    }
  }
}

function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("base64");
}
