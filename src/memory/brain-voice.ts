import { withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { contentHash } from "../kernel/json.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel, ChatResponse } from "../model/chat-model.ts";
import { checkReply } from "../model/attempt.ts";
import { isStepped } from "../model/ask.ts";

/** Answers that were paid for and may be asked for again, because what was made of them could not be stored. */
const MOST_ANSWERS = 100;

/** Asks a model on behalf of a memory. It owns how long an answer may take, what is one, and which were given already. */
export class BrainVoice {
  readonly #model: ChatModel;
  readonly #clock: Clock;
  readonly #timeout: number;
  readonly #answers = new Map<string, string>();

  constructor(model: ChatModel, clock: Clock, timeout: number) {
    this.#model = model;
    this.#clock = clock;
    this.#timeout = timeout;
  }

  /**
   * One answer, in one attempt: what is tried again is tried by the model. One that is cut off, empty or refused is none.
   *
   * @throws ModelError, ControlError
   */
  async ask(messages: readonly ChatMessage[], signal: AbortSignal = new AbortController().signal): Promise<string> {
    const request = { messages };
    const call = (limited: AbortSignal): Promise<ChatResponse> => this.#model.chat(request, { signal: limited });
    // Behind a door a call has its own limits, and may wait for money as long as it takes.
    const isBound = isStepped(this.#model);
    const what = `an answer of ${this.#model.id}`;
    const reply = await (isBound ? call(signal) : withTimeout(this.#clock, this.#timeout, what, signal, call));
    checkReply(this.#model.id, request, reply);
    return reply.content;
  }

  /**
   * The same, but what was answered once is not asked again. The address is the content: the model and all that it is shown.
   *
   * @throws ModelError, ControlError
   */
  async askOnce(messages: readonly ChatMessage[], signal: AbortSignal | undefined): Promise<string> {
    const address = contentHash({ model: this.#model.id, messages });
    const known = this.#answers.get(address);
    if (known !== undefined) return known;
    const text = await this.ask(messages, signal);
    this.#answers.set(address, text);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MOST_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    return text;
  }
}
