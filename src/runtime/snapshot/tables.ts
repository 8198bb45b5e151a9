import type { Json } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { Message } from "../../message/message.ts";
import type { StepStarted } from "../record/event.ts";
import type { HiredAs } from "../record/role-state.ts";

/**
 * Numbers objects in the order in which they first come. The state of a run shares its messages and definitions, so each is written once and
 * named by its number. It owns the numbers.
 *
 * Table.T1 (`placeOf`) an object keeps the number that it first got, which is its place in `values`.
 */
export class Table<T extends object> {
  readonly #places = new Map<T, number>();

  placeOf(value: T): number {
    let place = this.#places.get(value);
    if (place === undefined) this.#places.set(value, (place = this.#places.size));
    return place;
  }

  placesOf(values: Iterable<T>): number[] {
    return Array.from(values, (value) => this.placeOf(value));
  }

  get values(): readonly T[] {
    return [...this.#places.keys()];
  }
}

/** A conversation as its last message and the number of the conversation before that one; -1 for none. */
export type ChatTurn = readonly [before: number, message: Json];

/** The conversation before the first message. */
export const NO_CHAT = -1;

/** The step of a state, and the conversation that its request lacks. */
export interface StartedJson {
  readonly started: StepStarted;
  readonly chat?: number;
}

/**
 * The conversations that the requests of open steps hold. Each request of an activation repeats the one before it, so the messages of each
 * beginning are written once. Messages that two requests share are one object in a state. It owns the turns.
 *
 * ChatTable.C1 (`#turn`) conversations that begin with the same messages share the turns of that beginning.
 * ChatTable.C2 (`#turn`) a turn comes after the turn that it names, so following the numbers leads to the beginning of the conversation.
 */
export class ChatTable {
  readonly turns: ChatTurn[] = [];
  readonly #after = new Map<number, Map<Json, number>>();

  /** Returns a step whose request has its conversation in the table. */
  without(started: StepStarted): StartedJson {
    const { request } = started;
    const messages = isRecord(request) ? request["messages"] : undefined;
    if (!isRecord(request) || !Array.isArray(messages) || messages.length === 0) return { started };
    let chat = NO_CHAT;
    for (const message of messages as readonly Json[]) chat = this.#turn(chat, message);
    return { started: { ...started, request: { ...request, messages: [] } as Json }, chat };
  }

  #turn(before: number, message: Json): number {
    let turns = this.#after.get(before);
    if (turns === undefined) this.#after.set(before, (turns = new Map<Json, number>()));
    let turn = turns.get(message);
    if (turn === undefined) turns.set(message, (turn = this.turns.push([before, message]) - 1));
    return turn;
  }
}

/** The tables of one state. */
export class Tables {
  readonly messages: Table<Message> = new Table<Message>();
  readonly definitions: Table<HiredAs> = new Table<HiredAs>();
  readonly chats: ChatTable = new ChatTable();
}
