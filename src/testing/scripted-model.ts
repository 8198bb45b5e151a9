import { aFunction, either, takes, type Shape } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { throwIfAborted, untilAborted } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { canonicalJson, deepFreeze, textHash } from "../kernel/json.ts";
import { defined } from "../kernel/value-kind.ts";
import { calledHere } from "../model/ask.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, ChatResponse, Usage } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";

/** An answer of the model: a string, parts of an answer, or an error it throws. */
export type ScriptedReply = string | Partial<ChatResponse> | Error;

/** Answers a request; `n` counts the requests from 0. May throw, wait, or never come. */
export type ScriptedAnswer = (request: ChatRequest, n: number) => ScriptedReply | Promise<ScriptedReply>;

export interface ScriptedOptions {
  /** Default: "scripted", for a list of replies with their hash, so that another list is another model to records and forks. */
  readonly id?: string;
  /** Default: nothing, so that tests of runs cost $0. */
  readonly price?: ModelPrice;
  readonly maxOutputTokens?: number;
  /** The media types of files that it reads. Default: `["image/*"]`. */
  readonly takes?: readonly string[];
  /** Milliseconds that the n-th answer (from 0) takes on `clock`. */
  readonly latency?: (n: number) => number;
  /** Needed with `latency`. */
  readonly clock?: Clock;
}

const scriptedOptions: Known<ScriptedOptions> = {
  id: kinds.text,
  price: kinds.price,
  maxOutputTokens: kinds.count,
  takes: kinds.list(kinds.text),
  latency: kinds.function,
  clock: kinds.clock,
};

/** A model with scripted replies. */
export interface ScriptedModel extends ChatModel {
  /** Every request so far, frozen, in the order they came. */
  readonly calls: readonly ChatRequest[];
  /** As {@link ChatModel.chat}; a test that stops nothing needs no signal. */
  chat(request: ChatRequest, o?: Partial<ChatOptions>): Promise<ChatResponse>;
  stream(request: ChatRequest, o?: Partial<ChatOptions>): AsyncIterable<ChatChunk>;
}

/** A list of replies is used up: the program under test asks more often than the test expects. */
export class ScriptExhaustedError extends TroupeError {
  constructor(model: string, replies: number) {
    super("SCRIPT_EXHAUSTED", `Expected at most ${replies} calls of ${model}, and one more came. Give it more replies, or a function.`, {
      data: { replies },
    });
  }
}

const NEVER = new AbortController().signal;
const PIECE = 12;

/**
 * A model for tests: answers from a list, one after another, or from a function. Retries use up replies too. Without a usage, four
 * characters count as a token.
 *
 * @throws UsageError `SCRIPT_CLOCK` for a latency without a clock
 */
export function scriptedModel(
  replies: readonly (ScriptedReply | ScriptedAnswer)[] | ScriptedAnswer,
  options: ScriptedOptions = {},
): ScriptedModel {
  takes("scriptedModel", "replies", replies, someReplies);
  checkKnownOptions("scriptedModel", options, scriptedOptions);
  if (options.latency !== undefined && options.clock === undefined) {
    throw new UsageError("SCRIPT_CLOCK", "Expected a clock beside latency, got none. Give the clock that the test advances.");
  }
  return new Script(replies, options);
}

const someReplies: Shape = either({ says: "a list of replies", fits: Array.isArray }, aFunction);

class Script implements ScriptedModel {
  readonly id: string;
  readonly price: ModelPrice;
  readonly maxOutputTokens?: number;
  readonly takes?: readonly string[];
  readonly #replies: readonly (ScriptedReply | ScriptedAnswer)[] | ScriptedAnswer;
  readonly #options: ScriptedOptions;
  readonly #calls: ChatRequest[] = [];

  constructor(replies: readonly (ScriptedReply | ScriptedAnswer)[] | ScriptedAnswer, options: ScriptedOptions) {
    this.#replies = typeof replies === "function" ? replies : [...replies];
    this.#options = options;
    this.id = options.id ?? idOf(this.#replies);
    this.price = options.price ?? { input: 0, output: 0 };
    if (options.maxOutputTokens !== undefined) this.maxOutputTokens = options.maxOutputTokens;
    if (options.takes !== undefined) this.takes = options.takes;
  }

  get calls(): readonly ChatRequest[] {
    return [...this.#calls];
  }

  chat(request: ChatRequest, o: Partial<ChatOptions> = {}): Promise<ChatResponse> {
    return calledHere(this.#answering).chat(request, { ...o, signal: o.signal ?? NEVER });
  }

  stream(request: ChatRequest, o: Partial<ChatOptions> = {}): AsyncIterable<ChatChunk> {
    return calledHere(this.#answering).stream(request, { ...o, signal: o.signal ?? NEVER });
  }

  get #answering(): ChatModel {
    const { id, price, maxOutputTokens, takes: taken } = this;
    const own = { id, price, ...defined({ maxOutputTokens, takes: taken }) };
    return { ...own, chat: (request, o) => this.#chat(request, o), stream: (request, o) => streamOf(this.#chat(request, o), o.signal) };
  }

  async #chat(request: ChatRequest, { signal }: ChatOptions): Promise<ChatResponse> {
    throwIfAborted(signal);
    const n = this.#calls.push(deepFreeze(structuredClone(request))) - 1;
    const { latency, clock } = this.#options;
    if (latency !== undefined && clock !== undefined) await sleep(clock, latency(n), signal);
    const reply = await untilAborted(this.#reply(request, n), signal);
    if (reply instanceof Error) throw reply;
    return completeReply(reply, request);
  }

  async #reply(request: ChatRequest, n: number): Promise<ScriptedReply> {
    if (typeof this.#replies === "function") return this.#replies(request, n);
    const reply = this.#replies[n];
    if (reply === undefined) throw new ScriptExhaustedError(this.id, this.#replies.length);
    return typeof reply === "function" ? reply(request, n) : reply;
  }
}

/** Functions have no identity that survives a new build of their program. */
function idOf(replies: readonly (ScriptedReply | ScriptedAnswer)[] | ScriptedAnswer): string {
  if (typeof replies === "function" || replies.length === 0) return "scripted";
  const reported = replies.map((reply) => {
    if (typeof reply === "function") return ["function"];
    return reply instanceof Error ? [reply.name, reply.message] : reply;
  });
  return `scripted-${textHash(JSON.stringify(reported)).slice(0, 12)}`;
}

/** Adds what a reply leaves out. Four characters count as a token. */
function completeReply(reply: string | Partial<ChatResponse>, request: ChatRequest): ChatResponse {
  const { content = "", toolCalls = [], ...given } = typeof reply === "string" ? { content: reply } : reply;
  const said = content.length + toolCalls.reduce((sum, call) => sum + call.function.name.length + call.function.arguments.length, 0);
  // Not marked as estimated: a ledger would charge the most that such a call can cost.
  const usage: Usage = { inputTokens: Math.ceil(canonicalJson(request).length / 4), outputTokens: Math.ceil(said / 4) };
  return { usage, finishReason: toolCalls.length > 0 ? "tool_calls" : "stop", ...given, content, toolCalls };
}

export async function* streamOf(answer: Promise<ChatResponse>, signal: AbortSignal = NEVER): AsyncGenerator<ChatChunk> {
  const { content, toolCalls, finishReason, usage, refusal, reasoning } = await answer;
  if (reasoning !== undefined) yield { reasoning };
  for (let start = 0; start < content.length; start += PIECE) {
    throwIfAborted(signal);
    yield { content: content.slice(start, start + PIECE) };
  }
  if (refusal !== undefined) yield { refusal };
  for (const [index, { id, function: called, extra }] of toolCalls.entries()) {
    yield { toolCalls: [{ index, id, name: called.name, arguments: "", ...(extra === undefined ? {} : { extra }) }] };
    yield { toolCalls: [{ index, arguments: called.arguments }] };
  }
  yield { finishReason, ...(usage === undefined ? {} : { usage }) };
}
