import { ChatMessage, type ToolCall } from "../model/chat-message.ts";

/** The stand-in for a missing answer: servers refuse a call without one. The call may have run before its answer was lost. */
export const NO_ANSWER = "(no result: the call was cut off. Nobody knows whether it has run; look before you call it again)";

/** Measures a message, for example in tokens. The result never changes for a message. */
export type ChatMeasure = (message: ChatMessage) => number;

/**
 * One message, or the tool calls of an assistant with their answers: kept or dropped as a whole. Owns which calls wait for an answer.
 *
 * ChatUnit.U1 (`messages`) answers are in the order of the calls. ChatUnit.U2 (`size`) every call counts as answered, so the size never changes.
 */
export class ChatUnit {
  readonly head: ChatMessage;
  readonly isPinned: boolean;
  /** The answer of each call. */
  readonly #answers: (ChatMessage | undefined)[];
  /** Tokens of all its messages. */
  tokens = 0;

  constructor(head: ChatMessage, isPinned: boolean) {
    this.head = head;
    this.isPinned = isPinned;
    this.#answers = this.#calls.map(() => undefined);
  }

  get size(): number {
    return 1 + this.#answers.length;
  }

  get openIds(): string[] {
    return this.#calls.filter((_call, index) => this.#answers[index] === undefined).map(({ id }) => id);
  }

  waitsFor(id: string): boolean {
    return this.#indexOf(id) !== -1;
  }

  answer(message: ChatMessage): void {
    const index = this.#indexOf(message.toolCallId ?? "");
    if (index !== -1) this.#answers[index] = message;
  }

  /** Returns the messages. When `isClosed`, calls without an answer get a stand-in. */
  messages(isClosed: boolean): readonly ChatMessage[] {
    if (this.#answers.length === 0) return [this.head];
    const answers = this.#calls.map((call, index) => this.#answers[index] ?? (isClosed ? noAnswer(call) : undefined));
    return [this.head, ...answers.filter((answer) => answer !== undefined)];
  }

  get #calls(): readonly ToolCall[] {
    return this.head.toolCalls ?? [];
  }

  #indexOf(id: string): number {
    return this.#calls.findIndex((call, index) => call.id === id && this.#answers[index] === undefined);
  }
}

function noAnswer({ id, function: { name } }: ToolCall): ChatMessage {
  return ChatMessage.tool({ content: NO_ANSWER, name, toolCallId: id });
}
