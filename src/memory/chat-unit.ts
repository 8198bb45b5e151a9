import { ChatMessage, type ToolCall } from "../model/chat-message.ts";

/** What stands where a call was never answered: servers refuse a call without an answer. The call may have run before its answer was lost. */
export const NO_ANSWER = "(no result: the call was cut off. Nobody knows whether it has run; look before you call it again)";

/**
 * What is kept or dropped as a whole: one message, or an assistant's calls of tools with their answers. It owns which calls wait.
 *
 * U1 answers stand in the order of the calls, whenever they came. U2 its size counts every call as answered, so it does not grow.
 */
export class ChatUnit {
  readonly head: ChatMessage;
  readonly isPinned: boolean;
  /** How many units came before it. */
  readonly place: number;
  readonly #answers: (ChatMessage | undefined)[];
  /** Places of the calls that wait, by id, the last first. */
  readonly #waiting: Map<string, number[]> | undefined;
  /** Of all its messages. */
  tokens = 0;

  constructor(head: ChatMessage, isPinned: boolean, place: number) {
    this.head = head;
    this.isPinned = isPinned;
    this.place = place;
    const ids = (head.toolCalls ?? []).map((call) => call.id);
    this.#answers = ids.map(() => undefined);
    this.#waiting = ids.length === 0 ? undefined : placesOf(ids);
  }

  /** How many messages it is. */
  get size(): number {
    return 1 + this.#answers.length;
  }

  /** The ids of calls that have no answer. */
  get openIds(): Iterable<string> {
    return this.#waiting?.keys() ?? [];
  }

  waitsFor(id: string): boolean {
    return this.#waiting?.has(id) === true;
  }

  /** Takes the answer to a call that waits. */
  answer(message: ChatMessage): void {
    const id = message.toolCallId ?? "";
    const places = this.#waiting?.get(id);
    const place = places?.pop();
    if (place === undefined) return;
    this.#answers[place] = message;
    if (places?.length === 0) this.#waiting?.delete(id);
  }

  /** Its messages; calls that wait are given an answer that says so when `isClosed`. */
  messages(isClosed: boolean): readonly ChatMessage[] {
    if (this.#waiting === undefined) return [this.head];
    const all = [this.head];
    const calls = this.head.toolCalls ?? [];
    for (let place = 0; place < calls.length; place++) {
      const answer = this.#answers[place] ?? (isClosed ? noAnswer(calls[place] as ToolCall) : undefined);
      if (answer !== undefined) all.push(answer);
    }
    return all;
  }
}

function noAnswer({ id, function: { name } }: ToolCall): ChatMessage {
  return ChatMessage.tool({ content: NO_ANSWER, name, toolCallId: id });
}

function placesOf(ids: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let place = ids.length - 1; place >= 0; place--) {
    const id = ids[place] as string;
    const known = places.get(id);
    if (known === undefined) places.set(id, [place]);
    else known.push(place);
  }
  return places;
}

/** What a message weighs. It never changes for a message. */
export type ChatMeasure = (message: ChatMessage) => number;

/** A longer list is put together anew when its oldest messages leave, so that what leaving costs is bounded. */
const LONGEST_MOVED = 4_096;

/**
 * The messages of a conversation as one list that is kept up as messages come and go. It owns the list, which may have to be put together
 * anew before it is read, and the sum of one measure over it.
 *
 * CL1 coming and leaving cost no more in a long list than in a short one. CL2 the sum is that of the list, whatever came and left. CL3 what comes
 * and leaves does so whatever the measure says.
 */
export class ChatList {
  readonly #anew: () => readonly ChatMessage[];
  #messages: ChatMessage[] | undefined = [];
  #weighed: { readonly measure: ChatMeasure; sum: number } | undefined;

  /** @param anew puts the list together from what its owner keeps */
  constructor(anew: () => readonly ChatMessage[]) {
    this.#anew = anew;
  }

  push(messages: readonly ChatMessage[]): void {
    const list = this.#messages;
    if (list === undefined) return;
    for (const message of messages) list.push(message);
    this.#reweigh(messages, 1);
  }

  /** Takes messages out; how many stand before them is asked only where it is needed. */
  remove(count: number, before: () => number): void {
    if (this.#messages === undefined) return;
    if (this.#messages.length > LONGEST_MOVED) return this.change();
    this.#reweigh(this.#messages.splice(before(), count), -1);
  }

  /** It is no longer what it was, in another way than these. */
  change(): void {
    this.#messages = undefined;
    this.#weighed = undefined;
  }

  clear(): void {
    this.#messages = [];
    this.#weighed = undefined;
  }

  /** All of them and some more: the caller's own array. */
  with(more: readonly ChatMessage[]): ChatMessage[] {
    return this.#list().concat(more);
  }

  weigh(measure: ChatMeasure): number {
    if (this.#weighed?.measure !== measure) this.#weighed = { measure, sum: weightOf(this.#list(), measure) };
    return this.#weighed.sum;
  }

  /** A measure that throws is heard by whoever weighs the list, not by whoever changes it. */
  #reweigh(messages: readonly ChatMessage[], sign: 1 | -1): void {
    if (this.#weighed === undefined) return;
    try {
      this.#weighed.sum += sign * weightOf(messages, this.#weighed.measure);
    } catch {
      this.#weighed = undefined;
    }
  }

  #list(): ChatMessage[] {
    this.#messages ??= [...this.#anew()];
    return this.#messages;
  }
}

/** The sum of a measure. */
export function weightOf(messages: readonly ChatMessage[], measure: ChatMeasure): number {
  let sum = 0;
  for (const message of messages) sum += measure(message);
  return sum;
}
