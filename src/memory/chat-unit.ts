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
