import type { TokenCounter } from "../memory/tokens.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import type { AgentMemory } from "./agent-memory.ts";

/** Roughly the tokens of a picture of ordinary size. */
export const IMAGE_TOKENS = 1_000;
/** Tokens of a message besides its text. */
const MESSAGE_TOKENS = 4;

/** Counts the tokens of messages, each once: they never change. */
export class MessageTokens {
  readonly #counter: TokenCounter;
  readonly #known = new WeakMap<object, number>();
  /** The counter is async: it counts one message after another. */
  #isAsync = false;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  ofMessage(message: ChatMessage): number | Promise<number> {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const calls = message.toolCalls === undefined ? "" : JSON.stringify(message.toolCalls);
    const besides = MESSAGE_TOKENS + IMAGE_TOKENS * (message.images?.length ?? 0);
    return this.#counted(message, `${message.content ?? ""}${message.name ?? ""}${calls}`, besides);
  }

  async ofMessages(messages: readonly ChatMessage[]): Promise<number> {
    let sum = 0;
    for (const message of messages) {
      const tokens = this.ofMessage(message);
      // A wait for each message of a long conversation would let other roles ask first.
      sum += typeof tokens === "number" ? tokens : await tokens;
    }
    return sum;
  }

  /** Returns the sum over all messages of a memory. Many memories know it without a look at each message. */
  ofMemory(memory: AgentMemory, messages: readonly ChatMessage[]): number | Promise<number> {
    const tokens = this.#isAsync ? Number.NaN : (memory.weigh?.(this.#countedSync) ?? Number.NaN);
    return Number.isNaN(tokens) ? this.ofMessages(messages) : tokens;
  }

  /** Returns NaN when the counter is async. */
  readonly #countedSync = (message: ChatMessage): number => {
    if (this.#isAsync) return this.#known.get(message) ?? Number.NaN;
    const tokens = this.ofMessage(message);
    if (typeof tokens === "number") return tokens;
    this.#isAsync = true;
    tokens.catch(() => {});
    return Number.NaN;
  };

  async ofTools(tools: readonly ToolSpec[]): Promise<number> {
    let sum = 0;
    for (const tool of tools) {
      const tokens = this.#known.get(tool) ?? this.#counted(tool, JSON.stringify(tool), 0);
      sum += typeof tokens === "number" ? tokens : await tokens;
    }
    return sum;
  }

  #counted(what: object, text: string, besides: number): number | Promise<number> {
    const took = (count: number): number => {
      this.#known.set(what, count + besides);
      return count + besides;
    };
    const count = this.#counter.count(text);
    return typeof count === "number" ? took(count) : count.then(took);
  }
}
