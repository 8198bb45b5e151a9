import type { TokenCounter } from "../memory/tokens.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import type { AgentMemory } from "./agent-memory.ts";

/** Roughly the tokens of a picture of ordinary size. */
export const IMAGE_TOKENS = 1_000;
/** Tokens of a message besides its text. */
const MESSAGE_TOKENS = 4;

/** Counts the tokens of messages, each once: they never change. A promise is made only where the counter makes one. */
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

  ofMessages(messages: readonly ChatMessage[]): number | Promise<number> {
    return this.#sum(messages, (message) => this.ofMessage(message));
  }

  /** The sum over `messages`, which are all of a memory. Many memories know it without looking at each. */
  ofMemory(memory: AgentMemory, messages: readonly ChatMessage[]): number | Promise<number> {
    const tokens = this.#isAsync ? Number.NaN : (memory.weigh?.(this.#countedSync) ?? Number.NaN);
    return Number.isNaN(tokens) ? this.ofMessages(messages) : tokens;
  }

  /** NaN when the counter is async. */
  readonly #countedSync = (message: ChatMessage): number => {
    if (this.#isAsync) return this.#known.get(message) ?? Number.NaN;
    const tokens = this.ofMessage(message);
    if (typeof tokens === "number") return tokens;
    this.#isAsync = true;
    tokens.catch(() => {});
    return Number.NaN;
  };

  ofTools(tools: readonly ToolSpec[]): number | Promise<number> {
    return this.#sum(tools, (tool) => this.#known.get(tool) ?? this.#counted(tool, JSON.stringify(tool), 0));
  }

  #counted(what: object, text: string, besides: number): number | Promise<number> {
    const took = (count: number): number => {
      this.#known.set(what, count + besides);
      return count + besides;
    };
    const count = this.#counter.count(text);
    return typeof count === "number" ? took(count) : count.then(took);
  }

  #sum<T>(list: readonly T[], of: (one: T) => number | Promise<number>, from = 0, before = 0): number | Promise<number> {
    let sum = before;
    for (let place = from; place < list.length; place++) {
      const tokens = of(list[place] as T);
      if (typeof tokens !== "number") return tokens.then((count) => this.#sum(list, of, place + 1, sum + count));
      sum += tokens;
    }
    return sum;
  }
}
