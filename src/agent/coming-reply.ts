import type { ChatRequest, ChatResponse } from "../model/chat-model.ts";
import type { SteppedChatOptions, SteppedModel } from "../model/stepped-model.ts";

/** Text as it comes, or the news that a try failed and its text is void. */
export type ReplyPiece = { readonly text: string } | { readonly text?: undefined };

const NO_PIECES: readonly ReplyPiece[] = [];

/**
 * A reply of a model behind a door, as it comes. It owns the pieces that nobody has taken yet, which are joined, so that it holds no more
 * than the reply's own text.
 */
export class ComingReply {
  #pieces: ReplyPiece[] | undefined;
  #joined: string[] | undefined;
  #try = 1;
  #told = false;
  #wake: (() => void) | undefined;
  #end: { readonly reply: ChatResponse } | { readonly error: unknown } | undefined;

  /** Asks the model. */
  constructor(model: SteppedModel, request: ChatRequest, { signal, meter }: Pick<SteppedChatOptions, "signal" | "meter">) {
    model.chat(request, { signal, meter, onDelta: (text, info) => this.#add(text, info.try) }).then(
      (reply) => this.#ended({ reply }),
      (error: unknown) => this.#ended({ error }),
    );
  }

  /** The pieces that came since the last time. */
  takeAll(): readonly ReplyPiece[] {
    this.#flush();
    const pieces = this.#pieces;
    this.#pieces = undefined;
    return pieces ?? NO_PIECES;
  }

  /**
   * The whole reply, once it is there.
   *
   * @throws ModelError, ControlError as the model does
   */
  get whole(): ChatResponse | undefined {
    if (this.#end === undefined || "reply" in this.#end) return this.#end?.reply;
    throw this.#end.error;
  }

  /** Resolves when there is more than there was. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #ended(end: { readonly reply: ChatResponse } | { readonly error: unknown }): void {
    this.#end = end;
    this.#wake?.();
  }

  #add(text: string, n: number): void {
    if (n !== this.#try) {
      this.#try = n;
      if (this.#told) {
        this.#flush();
        (this.#pieces ??= []).push({});
      }
    }
    this.#told = true;
    (this.#joined ??= []).push(text);
    this.#wake?.();
  }

  #flush(): void {
    if (this.#joined !== undefined) (this.#pieces ??= []).push({ text: this.#joined.join("") });
    this.#joined = undefined;
  }
}
