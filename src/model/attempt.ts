import { defined, isList, isObject, isRecord } from "../kernel/value-kind.ts";
import { interruptionBy } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { type Cancellation, cancellationOf, CancellationScope, throwIfEnded } from "../kernel/cancellation.ts";
import type { ChatModel, ChatOptions, ChatRequest, ChatResponse, ChatChunk, FinishReason, ToolCallDelta, Usage } from "./chat-model.ts";
import { failureOf, modelError, type ModelErrorData } from "./failure.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { Reasoning, ToolCall } from "./chat-message.ts";
import type { Attempts } from "../kernel/step.ts";
import { withoutThoughts } from "./thoughts.ts";
import { unmetered } from "./meter.ts";
import type { SetTimeouts } from "./timeouts.ts";

/** The bounds of one try. Times are milliseconds. */
export interface AttemptBounds {
  readonly signal: AbortSignal | Cancellation;
  readonly clock: Clock;
  readonly timeouts: SetTimeouts;
  /** `Infinity`: no limit. */
  readonly timeLeft: number;
  readonly onText?: (text: string) => void;
  /** Text that the length limit cut, also none at all, is an answer, with `finishReason` "length". Default: it is an error. */
  readonly takesCut?: boolean | undefined;
  /** They have {@link ChatOptions.key}, and may have this try done elsewhere. Default: a call without a step. */
  readonly attempts?: Pick<Attempts, "key" | "run" | "current"> | undefined;
}

/**
 * Makes one try: sends the request, watches the answer, and returns it whole and checked. The loop of a model may end normally when it was
 * aborted or when the server hung up, and may hang after the first byte, so abort, silence and total time are watched here. A model that
 * continues after that is not awaited.
 *
 * @throws ControlError when the signal aborts; ModelError
 */
export async function attempt(model: ChatModel, request: ChatRequest, bounds: AttemptBounds): Promise<ChatResponse> {
  const above = cancellationOf(bounds.signal);
  throwIfEnded(above);
  const builder = new ReplyBuilder(model.id);
  const watch = watchOf(model.id, bounds, above, () => builder.began);
  try {
    const one: Try = { model, request, bounds, builder, watch };
    const here = (): Promise<ChatResponse> => unmetered(() => (model.streams === false ? readWhole(one) : readStream(one)));
    const reply = await (bounds.attempts?.run === undefined ? here() : bounds.attempts.run(here, { request, ending: watch.life }));
    checkReply(model.id, request, reply, bounds.takesCut);
    return reply;
  } catch (error) {
    throw watch.life.ended?.reason ?? failureOf(model.id, error, { began: builder.began });
  } finally {
    watch.end();
  }
}

function identityOf(attempts: Try["bounds"]["attempts"]): Pick<ChatOptions, "key" | "occurrence"> {
  const { key, current } = attempts ?? {};
  return defined({ key, occurrence: current && `${current.act} ${current.key}` });
}

async function readWhole({ model, request, watch: { life }, bounds: { onText, attempts } }: Try): Promise<ChatResponse> {
  // A model written in JavaScript may answer without a promise.
  const reply = await life.until(Promise.resolve(model.chat(request, { signal: life.signal, ...identityOf(attempts) })));
  if (reply.content !== "") onText?.(reply.content);
  return reply;
}

async function readStream({ model, request, builder, watch, bounds: { onText, attempts } }: Try): Promise<ChatResponse> {
  const { life } = watch;
  watch.expectLife();
  const o = { signal: life.signal, ...identityOf(attempts), alive: () => watch.expectLife() };
  const pieces = model.stream(request, o)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await life.until(Promise.resolve(pieces.next()));
      if (next.done === true) return builder.finish();
      const text = builder.add(next.value);
      watch.expectLife();
      if (text !== "") onText?.(text);
    }
  } catch (error) {
    // Not awaited: a generator that hangs in `next` never answers `return`.
    void pieces.return?.().then(undefined, () => {});
    throw error;
  }
}

interface Try {
  readonly model: ChatModel;
  readonly request: ChatRequest;
  readonly bounds: AttemptBounds;
  readonly builder: ReplyBuilder;
  readonly watch: Watch;
}

interface Watch {
  readonly life: CancellationScope;
  expectLife(): void;
  end(): void;
}

/** Ends a try when its caller does, after silence, or when its time is up. A server that says that it thinks is not cut. */
function watchOf(model: string, { clock, timeouts, timeLeft }: AttemptBounds, above: Cancellation, hasBegun: () => boolean): Watch {
  const life = new CancellationScope();
  let isOver = false;
  let cancelSilence = (): void => {};
  const after = (ms: number, why: () => Error): (() => void) => (ms === Infinity ? () => {} : clock.timer(ms, () => life.end(why())));
  const late = (): Error => {
    const lost = hasBegun() ? "it was still coming" : "it had not begun";
    return timeout("call", timeouts.call, `the whole answer of ${model}`, lost, { retryable: false });
  };
  const unsubscribe = above.onEnd((reason) => life.end(interruptionBy(reason)));
  const cancelWhole = after(timeLeft, late);
  return {
    life,
    expectLife() {
      if (isOver) return;
      cancelSilence();
      const limit = hasBegun() ? "silence" : "firstByte";
      const piece = `the ${limit === "silence" ? "next" : "first"} piece of an answer from ${model}`;
      cancelSilence = after(timeouts[limit], () => timeout(limit, timeouts[limit], piece, "nothing came"));
    },
    end() {
      isOver = true;
      for (const cancel of [cancelSilence, cancelWhole, unsubscribe]) cancel();
    },
  };
}

function timeout(
  limit: keyof SetTimeouts,
  limitMs: number,
  expected: string,
  came: string,
  more: { readonly retryable?: boolean } = {},
): Error {
  return modelError(
    "MODEL_TIMEOUT",
    `Expected ${expected} within ${timeText(limitMs)}, but ${came}. Raise timeouts.${limit} of the model (${OPTION_OF[limit]} on the command line; 0 for no limit) if it may take longer.`,
    { ...more, data: { limit, limitMs } },
  );
}

const OPTION_OF: { readonly [Limit in keyof SetTimeouts]: string } = {
  firstByte: "--first-byte",
  silence: "--silence",
  call: "--call-limit",
};

function timeText(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;
}

/** A server that never stops must not fill the memory. */
export const MAX_REPLY_CHARS: number = 32 * 1024 * 1024;

const KEPT_TEXT = 20_000;

interface PartialCall {
  id: string;
  name: string;
  readonly pieces: string[];
  extra: JsonObject | undefined;
}

/**
 * Joins the pieces of a streamed answer, and owns them.
 *
 * Attempt.P1 (`finish`) an answer without a finish reason is a cut one, never a short one.
 * Attempt.P2 (`add`) text or pieces of calls after the end are an error, except that the last chunk may come twice.
 * Attempt.P3 (`#addCall`) a piece of a call that comes twice doubles neither its id nor its name. A name may come in pieces.
 */
export class ReplyBuilder {
  readonly #model: string;
  readonly #text: string[] = [];
  readonly #refusal: string[] = [];
  readonly #calls = new Map<number, PartialCall>();
  #size = 0;
  #finish: FinishReason | undefined;
  #lastText = "";
  #usage: Usage | undefined;
  #reasoning: Reasoning | undefined;
  #served: ChatResponse["served"];

  constructor(model: string) {
    this.#model = model;
  }

  get began(): boolean {
    return this.#text.length > 0 || this.#refusal.length > 0 || this.#calls.size > 0 || this.#finish !== undefined;
  }

  /** Adds the next piece, and returns its text, once. @throws ModelError `MODEL_PROTOCOL` for pieces after the end, or too many */
  add(chunk: ChatChunk): string {
    const text = chunk.content ?? "";
    if (chunk.usage !== undefined) this.#usage = chunk.usage;
    this.#served ??= chunk.served;
    if (chunk.reasoning !== undefined) {
      this.#reasoning = joinedReasoning(this.#reasoning, chunk.reasoning);
      this.#size += chunk.reasoning.text?.length ?? 0;
    }
    if (this.#finish !== undefined) return this.#afterEnd(text, chunk.toolCalls ?? []);
    this.#size += text.length + (chunk.refusal?.length ?? 0);
    if (text !== "") this.#text.push(text);
    if (chunk.refusal !== undefined && chunk.refusal !== "") this.#refusal.push(chunk.refusal);
    for (const delta of chunk.toolCalls ?? []) this.#addCall(delta);
    if (this.#size > MAX_REPLY_CHARS) {
      throw modelError(
        "MODEL_PROTOCOL",
        `Expected an answer of at most ${MAX_REPLY_CHARS} characters from ${this.#model}, and more came. Set maxTokens.`,
        { retryable: false },
      );
    }
    if (chunk.finishReason !== undefined) {
      this.#finish = chunk.finishReason;
      this.#lastText = text;
    }
    return text;
  }

  /** @throws ModelError `MODEL_CUT` when no finish reason came */
  finish(): ChatResponse {
    const content = this.#text.join("");
    if (this.#finish === undefined) {
      throw modelError(
        "MODEL_CUT",
        `Expected a whole answer from ${this.#model}, but it ended after ${content.length} characters without a finish reason. Check the server's log and any proxy on the way, or ask for less at once.`,
        content === "" ? {} : { data: { text: content.slice(0, KEPT_TEXT) } },
      );
    }
    const isCut = this.#finish === "length";
    const toolCalls = [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([index, call]) => wholeCall(index, call, isCut));
    return {
      content,
      toolCalls,
      finishReason: this.#finish,
      ...defined({
        usage: this.#usage,
        refusal: this.#refusal.length === 0 ? undefined : this.#refusal.join(""),
        reasoning: this.#reasoning,
        served: this.#served,
      }),
    };
  }

  #addCall(delta: ToolCallDelta): void {
    const call = this.#calls.get(delta.index) ?? { id: "", name: "", pieces: [], extra: undefined };
    this.#calls.set(delta.index, call);
    if (call.id === "") call.id = delta.id ?? "";
    if (delta.name !== undefined && call.pieces.length === 0) call.name = joinedName(call.name, delta.name);
    if (delta.extra !== undefined) {
      call.extra = delta.extra;
      this.#size += JSON.stringify(delta.extra).length;
    }
    if (delta.arguments === undefined) return;
    call.pieces.push(delta.arguments);
    this.#size += delta.arguments.length;
  }

  #afterEnd(text: string, calls: readonly ToolCallDelta[]): string {
    if ((text === "" || text === this.#lastText) && calls.every((call) => (call.arguments ?? "") === "")) return "";
    throw modelError(
      "MODEL_PROTOCOL",
      `Expected nothing after the end of the answer of ${this.#model}, but more of it came. Say stream: false, or use another server.`,
    );
  }
}

/**
 * Refuses an incomplete answer. One that its length limit cut passes when it calls tools: its last call may be incomplete.
 *
 * @throws ModelError `MODEL_REFUSED`, `MODEL_CONTENT_FILTER`, `MODEL_TRUNCATED`, `MODEL_PROTOCOL` or `MODEL_EMPTY`, with text and usage in
 * its data
 */
export function checkReply(model: string, request: ChatRequest, reply: ChatResponse, takesCut: boolean = false): void {
  const data = keptOf(reply);
  if (reply.refusal !== undefined && reply.refusal !== "") {
    const refusal = reply.refusal.slice(0, KEPT_TEXT);
    throw modelError(
      "MODEL_REFUSED",
      `Expected an answer from ${model}, but it declined: "${refusal.slice(0, 300)}". Change the words of the request, or use another model.`,
      { data: { ...data, refusal } },
    );
  }
  if (reply.finishReason === "content_filter") {
    throw modelError(
      "MODEL_CONTENT_FILTER",
      `Expected an answer from ${model}, but a content filter stopped it. Change the words of the request.`,
      { data },
    );
  }
  const mayCall = (request.tools?.length ?? 0) > 0 && request.toolChoice !== "none";
  const named = reply.toolCalls.every((call) => isObject(call?.function) && call.function.name !== "");
  // The caller can see which calls of a cut reply are whole.
  const isCut = reply.finishReason === "length";
  if (isCut && !takesCut && !(mayCall && named && reply.toolCalls.length > 0)) throw truncated(model, request.maxTokens, reply);
  if (!named) {
    throw modelError(
      "MODEL_PROTOCOL",
      `Expected every tool call of ${model} to name its tool, but one does not. Use a model that is made for tools.`,
      { data },
    );
  }
  const called = reply.toolCalls.length > 0 && request.tools !== undefined && request.tools.length > 0;
  // Of thoughts alone no answer came.
  if (!called && !isCut && (reply.content.trim() === "" || (!isCallInChannel(reply.content) && withoutThoughts(reply.content) === ""))) {
    throw modelError(
      "MODEL_EMPTY",
      `Expected text${request.tools === undefined ? "" : " or tool calls"} from ${model}, got an empty answer. Say more plainly what to answer, raise maxTokens if the model thinks before it writes, or use another model.`,
      { data },
    );
  }
}

/** A call as text stands in a channel of its own. */
function isCallInChannel(content: string): boolean {
  return /<\|channel\|>\s*commentary|to=functions\./.test(content);
}

function keptOf({ content, usage }: { readonly content: string; readonly usage?: Usage | undefined }): ModelErrorData {
  return defined({ text: content === "" ? undefined : content.slice(0, KEPT_TEXT), usage });
}

export function truncated(
  model: string,
  maxTokens: number | undefined,
  { content, usage }: Pick<ChatResponse, "content" | "usage">,
): Error {
  return modelError(
    "MODEL_TRUNCATED",
    `Expected a whole answer from ${model}, but it reached its limit of ${maxTokens ?? "unknown"} tokens after ${content.length} characters. Raise maxTokens or ask for less.`,
    { data: keptOf({ content, usage }) },
  );
}

function joinedName(soFar: string, more: string): string {
  return more.startsWith(soFar) ? more : soFar + more;
}

function joinedReasoning(soFar: Reasoning | undefined, more: Reasoning): Reasoning {
  if (soFar === undefined) return more;
  const text = `${soFar.text ?? ""}${more.text ?? ""}`;
  const parts = more.parts === undefined ? soFar.parts : (joinedParts(soFar.parts ?? {}, more.parts) as JsonObject);
  return defined({ text: text || undefined, parts });
}

/** Strings are joined, and items of one index are one item that came in pieces. */
function joinedParts(first: Json | undefined, second: Json, name = ""): Json {
  const isText = typeof first === "string" && typeof second === "string";
  if (isText && !/^(?:id|type|format|index)$/.test(name)) return first + second;
  if (isList(first) && isList(second)) return (second as readonly Json[]).reduce<Json[]>(withItem, [...(first as readonly Json[])]);
  if (!isRecord(first) || !isRecord(second)) return second;
  const joined = Object.entries(second).map(([key, member]) => [key, joinedParts((first as JsonObject)[key], member as Json, key)]);
  return { ...first, ...Object.fromEntries(joined) } as Json;
}

function withItem(items: Json[], item: Json): Json[] {
  const last = items.at(-1);
  const isPiece = isRecord(last) && isRecord(item) && item["index"] !== undefined && item["index"] === last["index"];
  return isPiece ? [...items.slice(0, -1), joinedParts(last as Json, item)] : [...items, item];
}

/** Servers leave out the id of a call, and empty arguments. Nine letters and digits are an id everywhere. A cut reply may lack arguments. */
function wholeCall(index: number, call: PartialCall, isCut: boolean): ToolCall {
  const id = call.id === "" ? `call${String(index).padStart(5, "0")}` : call.id;
  const { name, pieces, extra } = call;
  return {
    id,
    type: "function",
    function: { name, arguments: pieces.join("") || (isCut ? "" : "{}") },
    ...(extra === undefined ? {} : { extra }),
  };
}
