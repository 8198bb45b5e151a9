import type { ChatRequest, ChatResponse } from "../model/chat-model.ts";
import type { SteppedModel } from "../model/stepped-model.ts";

/** Text as it comes, or the news that a try failed and its text is void. */
export type ReplyPiece = { readonly text: string } | { readonly text?: undefined };

/**
 * A reply of a model behind a door, as a stream of text that ends with the whole reply. The queue between the two holds no more than the
 * reply's own text: pieces that nobody has taken yet are joined.
 *
 * @throws ModelError, ControlError as the model does
 */
export async function* replyStream(
  model: SteppedModel,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<ReplyPiece, ChatResponse, void> {
  const queue = new PieceQueue();
  const reply = model.chat(request, { signal, onDelta: (text, info) => queue.add(text, info.try) });
  reply.then(queue.close, queue.close);
  for (;;) {
    const pieces = queue.takeAll();
    yield* pieces;
    if (pieces.length > 0) continue;
    if (queue.isClosed) return reply;
    await queue.changed();
  }
}

class PieceQueue {
  #pieces: ReplyPiece[] = [];
  #joined: string[] = [];
  #try = 1;
  #told = false;
  #wake: () => void = () => {};
  isClosed = false;

  readonly close = (): void => {
    this.isClosed = true;
    this.#wake();
  };

  add(text: string, n: number): void {
    if (n !== this.#try) {
      this.#try = n;
      if (this.#told) {
        this.#flush();
        this.#pieces.push({});
      }
    }
    this.#told = true;
    this.#joined.push(text);
    this.#wake();
  }

  takeAll(): readonly ReplyPiece[] {
    this.#flush();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #flush(): void {
    if (this.#joined.length > 0) this.#pieces.push({ text: this.#joined.join("") });
    this.#joined = [];
  }
}
