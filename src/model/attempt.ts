import { abortReason, onAbort, throwIfAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ChatModel, ChatRequest, ChatResponse } from "./chat-model.ts";
import { failureOf, modelError } from "./failure.ts";
import { checkReply, ReplyBuilder } from "./reply.ts";

/** What bounds one try. Milliseconds. */
export interface AttemptBounds {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Longest silence between two signs of life, the first byte included. */
  readonly idleTimeout: number;
  /** What is left of the time for the whole call. */
  readonly timeLeft: number;
  /** Text as it comes. */
  readonly onText?: (text: string) => void;
}

/**
 * One try: sends the request, watches over the answer and gives it back whole and checked.
 *
 * A model's loop may end normally when it was aborted or when the server hung up, and may hang after the first byte; so abort,
 * silence and total time are watched from here, whatever the model does, and a model that goes on after that is left to itself.
 *
 * @throws ControlError when the signal aborts, ModelError for everything a model or server did wrong.
 */
export async function attempt(model: ChatModel, request: ChatRequest, bounds: AttemptBounds): Promise<ChatResponse> {
  throwIfAborted(bounds.signal);
  const stop = new AbortController();
  const watch = new Watch(model.id, bounds, stop);
  const builder = new ReplyBuilder(model.id);
  try {
    const reply =
      model.streams === false
        ? await readWhole(model, request, watch, bounds.onText)
        : await readStream(model, request, builder, watch, bounds.onText);
    checkReply(model.id, request, reply);
    return reply;
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    throw failureOf(model.id, error, { began: builder.began });
  } finally {
    watch.end();
  }
}

async function readWhole(model: ChatModel, request: ChatRequest, watch: Watch, onText: AttemptBounds["onText"]): Promise<ChatResponse> {
  const reply = await watch.until(model.chat(request, { signal: watch.signal }));
  if (reply.content !== "") onText?.(reply.content);
  return reply;
}

async function readStream(
  model: ChatModel,
  request: ChatRequest,
  builder: ReplyBuilder,
  watch: Watch,
  onText: AttemptBounds["onText"],
): Promise<ChatResponse> {
  watch.expectLife();
  const pieces = model.stream(request, { signal: watch.signal, alive: () => watch.expectLife() })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await watch.until(pieces.next());
      if (next.done === true) break;
      watch.expectLife();
      const text = builder.add(next.value);
      if (text !== "") onText?.(text);
    }
  } catch (error) {
    // Not awaited: a generator that hangs in `next` never answers to `return`.
    void pieces.return?.().then(undefined, () => {});
    throw error;
  }
  return builder.finish();
}

/** Aborts a try when its caller does, when nothing is heard for too long, or when its time is up. */
class Watch {
  readonly signal: AbortSignal;
  readonly #model: string;
  readonly #bounds: AttemptBounds;
  readonly #stop: AbortController;
  readonly #stopped: Promise<never>;
  readonly #cancelWhole: () => void;
  readonly #unheard: () => void;
  #cancelIdle: () => void = () => {};
  #ended = false;

  constructor(model: string, bounds: AttemptBounds, stop: AbortController) {
    this.#model = model;
    this.#bounds = bounds;
    this.#stop = stop;
    this.signal = stop.signal;
    this.#stopped = new Promise((_resolve, reject) => {
      stop.signal.addEventListener("abort", () => reject(stop.signal.reason as Error), { once: true });
    });
    this.#stopped.catch(() => {});
    this.#unheard = onAbort(bounds.signal, () => stop.abort(abortReason(bounds.signal)));
    this.#cancelWhole = bounds.clock.timer(bounds.timeLeft, () => stop.abort(this.#late()));
  }

  /** The value of `work`, unless the try was stopped before: work may end normally because it was stopped. */
  until<T>(work: Promise<T>): Promise<T> {
    return Promise.race([this.#stopped, work]);
  }

  /** Starts the wait for the next sign of life anew. */
  expectLife(): void {
    if (this.#ended) return;
    this.#cancelIdle();
    const { clock, idleTimeout } = this.#bounds;
    this.#cancelIdle = clock.timer(idleTimeout, () => this.#stop.abort(this.#silent()));
  }

  end(): void {
    this.#ended = true;
    this.#cancelIdle();
    this.#cancelWhole();
    this.#unheard();
  }

  #silent(): Error {
    const ms = this.#bounds.idleTimeout;
    return modelError(
      "MODEL_TIMEOUT",
      `Expected the next piece of an answer from ${this.#model} within ${ms} ms, but nothing came. Raise idleTimeout if the model thinks that long.`,
    );
  }

  #late(): Error {
    return modelError(
      "MODEL_TIMEOUT",
      `Expected the whole answer of ${this.#model} within the time of the call, but its last ${this.#bounds.timeLeft} ms are over. Raise callTimeout or ask for less.`,
      {
        retryable: false,
      },
    );
  }
}
