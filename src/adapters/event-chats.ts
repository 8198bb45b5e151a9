import { canonicalJson, deepFreeze, isUnchanging, type Json } from "../kernel/json.ts";
import { assertPlain, digestOf, parsePlain } from "./stored-json.ts";

/*
 * Conversations. A run stores each message once, and each beginning of a conversation too: a request that adds two messages to a hundred
 * adds two rows. The name of a conversation is the digest of its last message and of the conversation before it, so it verifies all of it.
 */

/** One message of a conversation, and the conversation up to it. */
export interface ChatTurn {
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

/** The row of a turn as it is in a store, unchecked. */
export interface ChatRow {
  readonly before: unknown;
  readonly message: unknown;
  /** The text of the message; undefined without one. */
  readonly body: string | undefined;
}

export type FindChatRow = (chat: string) => ChatRow | undefined;

/**
 * Reads the conversations of one run. It owns the latest ones it has read; events share their frozen messages.
 *
 * ChatReader.C1 (`#turn`) a turn is taken only when its name is the digest of its message and of the conversation before it. A conversation
 * with a turn that is missing or damaged is not returned.
 * ChatReader.C2 (`#keep`) at most 64 conversations are kept. Once more than 8,000,000 characters have been read, those are forgotten before
 * another one is kept.
 * ChatReader.C3 (`#held`) the conversations that `known` has named are read without their rows until its next call, whatever is read between.
 */
export class ChatReader {
  readonly #kept = new Map<string, readonly Json[]>();
  #held: ReadonlyMap<string, readonly Json[]> = new Map();
  #keptCharacters = 0;

  /** Returns the messages of a conversation; undefined when one is missing or damaged. @param rowOf finds the row of a turn */
  read(chat: string, rowOf: FindChatRow): readonly Json[] | undefined {
    const found: Json[] = [];
    let at = chat;
    while (at !== "" && !this.#kept.has(at) && !this.#held.has(at)) {
      const turn = this.#turn(at, rowOf(at));
      if (turn === undefined) return undefined;
      found.push(turn.message);
      at = turn.before;
    }
    const messages = Object.freeze([...(this.#kept.get(at) ?? this.#held.get(at) ?? []), ...found.reverse()]);
    this.#keep(chat, messages);
    return messages;
  }

  /** Returns the names of the conversations that are kept. They can be read without rows until the next call. */
  known(): readonly string[] {
    this.#held = new Map(this.#kept);
    return [...this.#held.keys()];
  }

  #turn(chat: string, row: ChatRow | undefined): { readonly message: Json; readonly before: string } | undefined {
    const { before, message, body } = row ?? {};
    if (typeof before !== "string" || typeof message !== "string" || digestOf(`${before} ${message}`) !== chat) return undefined;
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
