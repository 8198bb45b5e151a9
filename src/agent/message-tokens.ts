import type { TokenCounter } from "../memory/tokens.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import type { AgentMemory } from "./agent-memory.ts";

/** About what a picture of ordinary size costs. */
export const IMAGE_TOKENS = 1_000;
/** What a message costs besides its text. */
const MESSAGE_TOKENS = 4;

/** Counts the tokens of messages, each once: they never change. What is known, or counted at once, needs no waiting. */
export class MessageTokens {
  readonly #counter: TokenCounter;
  readonly #known = new WeakMap<object, number>();
  /** The counter answers later: it is asked for one message after another. */
  #isLater = false;

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

  /** Of all that a memory gives, which many memories know without looking at it all. */
  ofMemory(memory: AgentMemory, messages: readonly ChatMessage[]): number | Promise<number> {
    const tokens = this.#isLater ? Number.NaN : (memory.weigh?.(this.#atOnce) ?? Number.NaN);
    return Number.isNaN(tokens) ? this.ofMessages(messages) : tokens;
  }

  /** No number where the counter has to be waited for. */
  readonly #atOnce = (message: ChatMessage): number => {
    if (this.#isLater) return this.#known.get(message) ?? Number.NaN;
    const tokens = this.ofMessage(message);
    if (typeof tokens === "number") return tokens;
    this.#isLater = true;
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

  #sum<T>(list: readonly T[], of: (one: T) => number | Promise<number>): number | Promise<number> {
    let sum = 0;
    for (let place = 0; place < list.length; place++) {
      const tokens = of(list[place] as T);
      if (typeof tokens !== "number") return this.#awaited(tokens, list, place + 1, sum, of);
      sum += tokens;
    }
    return sum;
  }

  async #awaited<T>(
    pending: Promise<number>,
    list: readonly T[],
    from: number,
    before: number,
    of: (one: T) => number | Promise<number>,
  ): Promise<number> {
    let sum = before + (await pending);
    for (const one of list.slice(from)) sum += await of(one);
    return sum;
  }
}
