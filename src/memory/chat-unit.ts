import { ChatMessage, type ToolCall } from "../model/chat-message.ts";

/** The stand-in for a missing answer: servers refuse a call without one. The call may have run before its answer was lost. */
export const NO_ANSWER = "(no result: the call was cut off. Nobody knows whether it has run; look before you call it again)";

/**
 * One message, or the tool calls of an assistant with their answers: kept or dropped as a whole. Owns which calls wait for an answer.
 *
 * ChatUnit.U1 (`messages`) answers are in the order of the calls. ChatUnit.U2 (`size`) every call counts as answered, so the size never changes.
 */
export class ChatUnit {
  readonly head: ChatMessage;
  readonly isPinned: boolean;
  /** Number of units that came before it. */
  readonly place: number;
  /** The answer of each call. */
  readonly #answers: (ChatMessage | undefined)[];
  /** Tokens of all its messages. */
  tokens = 0;

  constructor(head: ChatMessage, isPinned: boolean, place: number) {
    this.head = head;
    this.isPinned = isPinned;
    this.place = place;
    this.#answers = this.#calls.map(() => undefined);
  }

  /** Number of messages. */
  get size(): number {
    return 1 + this.#answers.length;
  }

  /** The ids of calls that have no answer. */
  get openIds(): string[] {
    return this.#calls.filter((_call, place) => this.#answers[place] === undefined).map(({ id }) => id);
  }

  waitsFor(id: string): boolean {
    return this.#placeOf(id) !== -1;
  }

  /** Adds the answer to the first call of its id that waits. */
  answer(message: ChatMessage): void {
    const place = this.#placeOf(message.toolCallId ?? "");
    if (place !== -1) this.#answers[place] = message;
  }

  /** Returns the messages. When `isClosed`, calls without an answer get a stand-in. */
  messages(isClosed: boolean): readonly ChatMessage[] {
    const answers = this.#calls.map((call, place) => this.#answers[place] ?? (isClosed ? noAnswer(call) : undefined));
    return [this.head, ...answers.filter((answer) => answer !== undefined)];
  }

  get #calls(): readonly ToolCall[] {
    return this.head.toolCalls ?? [];
  }

  #placeOf(id: string): number {
    return this.#calls.findIndex((call, place) => call.id === id && this.#answers[place] === undefined);
  }
}

function noAnswer({ id, function: { name } }: ToolCall): ChatMessage {
  return ChatMessage.tool({ content: NO_ANSWER, name, toolCallId: id });
}

/** Measures a message, for example in tokens. The result never changes for a message. */
export type ChatMeasure = (message: ChatMessage) => number;

/** A longer list is rebuilt after messages are removed, because moving the rest would cost too much each time. */
const LONGEST_MOVED = 4_096;

/**
 * The messages of a conversation as one list that is kept up to date. Owns the list, which may have to be rebuilt before it is read, and the
 * sum of one measure over it.
 *
 * ChatList.L1 (`remove`) adding and removing cost no more in a long list than in a short one. ChatList.L2 (`#reweigh`) the sum is always that of
 * the list. ChatList.L3 (`#reweigh`) a measure that throws does not stop a change.
 */
export class ChatList {
  readonly #rebuild: () => readonly ChatMessage[];
  #messages: ChatMessage[] | undefined = [];
  #weighed: { readonly measure: ChatMeasure; sum: number } | undefined;

  /** @param rebuild returns all messages */
  constructor(rebuild: () => readonly ChatMessage[]) {
    this.#rebuild = rebuild;
  }

  push(messages: readonly ChatMessage[]): void {
    const list = this.#messages;
    if (list === undefined) return;
    for (const message of messages) list.push(message);
    this.#reweigh(messages, 1);
  }

  /** Removes messages. `before`, the number of messages before them, is called only where it is needed. */
  remove(count: number, before: () => number): void {
    if (this.#messages === undefined) return;
    if (this.#messages.length > LONGEST_MOVED) return this.invalidate();
    this.#reweigh(this.#messages.splice(before(), count), -1);
  }

  /** Rebuilds the list at the next read. */
  invalidate(): void {
    this.#messages = undefined;
    this.#weighed = undefined;
  }

  clear(): void {
    this.#messages = [];
    this.#weighed = undefined;
  }

  /** Returns all messages followed by more, in a new array. */
  with(more: readonly ChatMessage[]): ChatMessage[] {
    return this.#list().concat(more);
  }

  weigh(measure: ChatMeasure): number {
    if (this.#weighed?.measure !== measure) this.#weighed = { measure, sum: weightOf(this.#list(), measure) };
    return this.#weighed.sum;
  }

  /** A measure that throws does so in `weigh`, not here. */
  #reweigh(messages: readonly ChatMessage[], sign: 1 | -1): void {
    if (this.#weighed === undefined) return;
    try {
      this.#weighed.sum += sign * weightOf(messages, this.#weighed.measure);
    } catch {
      this.#weighed = undefined;
    }
  }

  #list(): ChatMessage[] {
    this.#messages ??= [...this.#rebuild()];
    return this.#messages;
  }
}

/** The sum of a measure over messages. */
export function weightOf(messages: readonly ChatMessage[], measure: ChatMeasure): number {
  let sum = 0;
  for (const message of messages) sum += measure(message);
  return sum;
}
