import { interruptionBy } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { type Ending, endingOf, Lifetime, throwIfEnded } from "../kernel/lifetime.ts";
import type { ChatModel, ChatRequest, ChatResponse } from "./chat-model.ts";
import { failureOf, modelError } from "./failure.ts";
import { checkReply, ReplyBuilder } from "./reply.ts";

/** What bounds one try. Milliseconds. */
export interface AttemptBounds {
  readonly signal: AbortSignal | Ending;
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
  const above = endingOf(bounds.signal);
  throwIfEnded(above);
  const builder = model.streams === false ? undefined : new ReplyBuilder(model.id);
  const watch = new Watch(model.id, bounds, above);
  try {
    const reply =
      builder === undefined ? await readWhole(model, request, watch) : await readStream(model, request, builder, watch, bounds.onText);
    if (builder === undefined && reply.content !== "") bounds.onText?.(reply.content);
    checkReply(model.id, request, reply);
    return reply;
  } catch (error) {
    throw watch.stopped ?? failureOf(model.id, error, { began: builder?.began === true });
  } finally {
    watch.end();
  }
}

function readWhole(model: ChatModel, request: ChatRequest, watch: Watch): Promise<ChatResponse> {
  return watch.until(model.chat(request, { signal: watch.signal }));
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

/** Ends a try when its caller does, when nothing is heard for too long, or when its time is up. */
class Watch {
  readonly #model: string;
  readonly #bounds: AttemptBounds;
  readonly #life = new Lifetime();
  readonly #cancelWhole: () => void;
  readonly #unheard: () => void;
  #cancelIdle: () => void = () => {};
  #ended = false;

  constructor(model: string, bounds: AttemptBounds, above: Ending) {
    this.#model = model;
    this.#bounds = bounds;
    this.#unheard = above.onEnd((reason) => this.#life.end(interruptionBy(reason)));
    this.#cancelWhole = bounds.clock.timer(bounds.timeLeft, () => this.#life.end(this.#late()));
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  /** Why the try was stopped, if it was. */
  get stopped(): Error | undefined {
    return this.#life.ended?.reason;
  }

  /** The value of `work`, unless the try was stopped before: work may end normally because it was stopped. A model may give it at once. */
  until<T>(work: T | Promise<T>): Promise<T> {
    return this.#life.until(Promise.resolve(work));
  }

  /** Starts the wait for the next sign of life anew. */
  expectLife(): void {
    if (this.#ended) return;
    this.#cancelIdle();
    const { clock, idleTimeout } = this.#bounds;
    this.#cancelIdle = clock.timer(idleTimeout, () => this.#life.end(this.#silent()));
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
