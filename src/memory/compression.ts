import { UsageError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "./tokens.ts";

/** When a history is too long. */
export interface CompressionLimits {
  /** So many messages. */
  readonly maxMessages: number;
  /** More than so many tokens. */
  readonly maxTokens: number;
}

/** A token is about so many characters where a text has to be cut. */
const WINDOW_CHARACTERS = 4;

/** Characters of a text that are read at once. */
export function windowOf({ maxTokens }: CompressionLimits): number {
  return maxTokens * WINDOW_CHARACTERS;
}

/** @throws UsageError `LIMIT_INVALID` for a limit under which nothing could be remembered. */
export function checkedLimits(limits: CompressionLimits): CompressionLimits {
  for (const [name, limit] of Object.entries(limits) as [string, number][]) {
    if (!(limit >= 1)) throw new UsageError("LIMIT_INVALID", `Expected ${name} to be a number of 1 or more, got ${limit}.`);
  }
  return limits;
}

/** Tokens of messages, each counted once: they never change. */
export class MessageSizes {
  readonly #counter: TokenCounter;
  readonly #textOf: (message: Message) => string;
  readonly #sizes = new WeakMap<Message, number>();

  /** @param textOf what of a message counts */
  constructor(counter: TokenCounter, textOf: (message: Message) => string = ({ content }) => content) {
    this.#counter = counter;
    this.#textOf = textOf;
  }

  async of(message: Message): Promise<number> {
    const known = this.#sizes.get(message);
    if (known !== undefined) return known;
    const size = await this.#counter.count(this.#textOf(message));
    this.#sizes.set(message, size);
    return size;
  }
}

/**
 * What of a history is summed up next: its oldest messages, at most as many as the limits allow and at least one; none while the history
 * is within both.
 */
export async function dueMessages(history: readonly Message[], sizes: MessageSizes, limits: CompressionLimits): Promise<Message[]> {
  let chunk: Message[] | undefined;
  let tokens = 0;
  for (const [place, message] of history.entries()) {
    if (place >= limits.maxMessages) break;
    tokens += await sizes.of(message);
    if (tokens > limits.maxTokens) {
      chunk = history.slice(0, Math.max(1, place));
      break;
    }
  }
  return chunk ?? (history.length >= limits.maxMessages ? history.slice(0, limits.maxMessages) : []);
}
