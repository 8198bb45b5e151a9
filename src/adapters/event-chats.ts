import { canonicalJson, deepFreeze, isUnchanging, type Json } from "../kernel/json.ts";
import { assertPlain, digestOf, parsePlain } from "./stored-json.ts";

/*
 * Conversations. A run stores each message once, and each beginning of a conversation: a request that adds two messages to a hundred adds two rows.
 * The name of a conversation is the digest of its last message and of the conversation before it, so it verifies all of it.
 */

export interface ChatTurn {
  readonly chat: string;
  readonly before: string;
  readonly message: string;
  readonly body: string;
}

export interface Chat {
  readonly digest: string;
  readonly turns: readonly ChatTurn[];
}

/** Conversations that a reader keeps, because the next request of a role mostly repeats its last one. */
const MAX_CHATS = 32;

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

export interface ChatRow {
  readonly before: unknown;
  readonly message: unknown;
  readonly body: unknown;
}

export type FindChatRow = (chat: string) => ChatRow | undefined;

/**
 * Reads the conversations of one run, and owns the latest ones. ChatReader.C1 (`turnIn`) a turn counts only when its name is the digest of its
 * message and of the conversation before it; a conversation without one of its turns is not returned. ChatReader.C2 (`known`) forgets all but the
 * latest {@link MAX_CHATS} conversations. Those it names are read without their rows until its next call.
 */
export class ChatReader {
  readonly #kept = new Map<string, readonly Json[]>();

  read(chat: string, rowOf: FindChatRow): readonly Json[] | undefined {
    const found: Json[] = [];
    let at = chat;
    while (at !== "" && !this.#kept.has(at)) {
      const turn = turnIn(at, rowOf(at));
      if (turn === undefined) return undefined;
      found.push(turn.message);
      at = turn.before;
    }
    const messages = Object.freeze([...(this.#kept.get(at) ?? []), ...found.reverse()]);
    this.#kept.delete(chat);
    this.#kept.set(chat, messages);
    return messages;
  }

  known(): readonly string[] {
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_CHATS) break;
      this.#kept.delete(oldest);
    }
    return [...this.#kept.keys()];
  }
}

function turnIn(chat: string, row: ChatRow | undefined): { readonly message: Json; readonly before: string } | undefined {
  const { before, message, body } = row ?? {};
  if (typeof before !== "string" || typeof message !== "string" || digestOf(`${before} ${message}`) !== chat) return undefined;
  if (typeof body !== "string" || digestOf(body) !== message) return undefined;
  const parsed = parsePlain(body);
  return parsed && { message: deepFreeze(parsed.value as Json), before };
}
