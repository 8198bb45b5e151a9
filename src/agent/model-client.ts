import type { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import { ControlError, ModelError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { CallPolicy } from "../model/call.ts";
import { ChatMessage, type ToolCall } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import { outputSchema } from "../model/json-schema.ts";
import { type SteppedModel, steppedModel } from "../model/ask.ts";
import { askForValue } from "../model/structured-output.ts";
import { errorData } from "../model/failure.ts";
import { unsupportedBy } from "../model/server-error.ts";
import { inForm, wordsForm } from "../model/reply-form.ts";
import type { DeltaInfo } from "../model/streamed-text.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { type Compaction, withoutPictures } from "./compaction.ts";
import { type AgentEvent, type EventKinds, EventLog } from "./events.ts";
import type { Question } from "./net.ts";
import type { CallTally, RunTally } from "./run-tally.ts";

interface ModelClientParts {
  readonly model: ChatModel;
  readonly steps: StepPort;
  readonly policy: CallPolicy;
  readonly systemPrompt: string | undefined;
  readonly memory: AgentMemory;
  readonly compaction: Compaction;
  /** Models that take no pictures. It outlives the run. */
  readonly blind: WeakSet<ChatModel>;
  readonly signal: AbortSignal;
  readonly tell: (event: AgentEvent) => void;
  readonly step: () => number;
  readonly tally: RunTally;
}

type RoomNeeded = "usual" | "less";

/** The limit of a server that refused a request as too long is unknown. */
const AFTER_OVERFLOW = 0.5;
const MUCH_LARGER = 1.25;
const SHOWN_ERROR = 500;

/**
 * Asks models for one run: builds requests, makes room for them, streams replies and counts their tries.
 *
 * `ModelClient.C1` nothing is sent twice from here but a request that was too long and is shorter now, and one whose pictures the model
 * refused, with words in their place (`ask`, `#plainReply`); all other retries are those of the model's calls. `ModelClient.C2` a summary
 * that failed is not asked for again in this run (`#unsummed`).
 */
export class ModelClient {
  readonly #parts: ModelClientParts;
  readonly #stepped = new Map<ChatModel, SteppedModel>();
  #system: ChatMessage | undefined;
  #isUnsummed = false;
  #isGuessed = false;
  #lastTaken = Infinity;

  constructor(parts: ModelClientParts) {
    this.#parts = parts;
  }

  get tally(): RunTally {
    return this.#parts.tally;
  }

  /** For a tool: its answers are steps inside the step of the call. */
  modelOf(steps: StepPort): SteppedModel {
    const { model, policy } = this.#parts;
    return steppedModel(model, { steps, policy, meter: () => this.tally.begin(model.id) });
  }

  async *ask(question: Question): AsyncGenerator<string, ChatResponse, void> {
    throwIfAborted(this.#parts.signal);
    let request = await this.#request(question, "usual");
    for (let isShorter = false; ;) {
      try {
        const reply = yield* this.#streamed(question, request);
        this.#lastTaken = sizeOf(request);
        return reply;
      } catch (error) {
        const blind = this.#withoutPictures(question, request, error);
        if (
          blind === undefined &&
          (isShorter || !((error instanceof ModelError && error.code === "MODEL_CONTEXT_OVERFLOW") || this.#maybeOverflow(error, request)))
        )
          throw error;
        isShorter ||= blind === undefined;
        request = blind ?? (await this.#shorterRequest(question, request, error));
      }
    }
  }

  /** Once: an unexplained refusal of a request much larger than the last accepted one. */
  #maybeOverflow(error: unknown, request: ChatRequest): boolean {
    const isOdd = error instanceof ModelError && errorData(error).isUnexplained === true && !this.#isGuessed;
    if (!isOdd || sizeOf(request) < this.#lastTaken * MUCH_LARGER) return false;
    this.#isGuessed = true;
    this.#warn("REQUEST_TOO_LONG", `The server refuses a long request and does not say why; it is made shorter. ${shownError(error)}`);
    return true;
  }

  async read<S extends z.ZodType>(schema: S, question: Question): Promise<z.infer<S>> {
    const { messages } = await this.#request({ ...question, tools: undefined }, "usual");
    return askForValue({
      model: this.#parts.model.id,
      schema,
      messages: inForm(messages, wordsForm(outputSchema(schema))),
      ask: async (asked) => {
        const reply = await this.#plainReply(question, asked);
        return { reply, isCut: reply.finishReason === "length" };
      },
    });
  }

  async *#streamed(question: Question, request: ChatRequest): AsyncGenerator<string, ChatResponse, void> {
    const { signal, tell, step } = this.#parts;
    const model = this.#steppedOf(question.model);
    const meter = this.tally.begin(model.id);
    const pieces = new EventLog<ReplyPiece>(replyPieces);
    let last: number | undefined;
    const onDelta = (text: string, info: DeltaInfo): void => {
      if (last !== undefined && last !== info.try) pieces.add(null);
      last = info.try;
      pieces.add(text);
    };
    const reply = model.chat(request, { signal, meter, takesCut: question.takesCut, onDelta }).finally(() => pieces.end());
    reply.catch(() => {});
    for await (const text of pieces.read()) {
      if (text === null) tell({ type: "text.void", step: step() });
      else yield text;
    }
    return this.#took(await reply, meter);
  }

  async #plainReply({ model, temperature }: Question, messages: readonly ChatMessage[], aside?: boolean): Promise<ChatResponse> {
    const request = { messages: this.#seenBy(messages, model), ...(temperature === undefined ? {} : { temperature }) };
    try {
      return await this.#chat(model, request, aside);
    } catch (error) {
      const blind = this.#withoutPictures({ model }, request, error);
      if (blind === undefined) throw error;
      return this.#chat(model, blind, aside);
    }
  }

  async #chat(asked: ChatModel | undefined, request: ChatRequest, aside: boolean | undefined): Promise<ChatResponse> {
    const model = this.#steppedOf(asked);
    const meter = this.tally.begin(model.id);
    return this.#took(await model.chat(request, { signal: this.#parts.signal, meter, takesCut: true, aside }), meter);
  }

  #took(reply: ChatResponse, meter: CallTally): ChatResponse {
    const { tell, step } = this.#parts;
    meter.answered(reply.usage);
    tell({ type: "reply.ended", step: step(), text: reply.content, calls: reply.toolCalls, usage: reply.usage });
    return reply;
  }

  #steppedOf(model: ChatModel = this.#parts.model): SteppedModel {
    const { steps, policy } = this.#parts;
    const stepped = this.#stepped.get(model) ?? steppedModel(model, { steps, policy });
    this.#stepped.set(model, stepped);
    return stepped;
  }

  async #shorterRequest(question: Question, request: ChatRequest, error: unknown): Promise<ChatRequest> {
    const shorter = await this.#request(question, "less");
    if (JSON.stringify(shorter.messages).length >= JSON.stringify(request.messages).length) throw error;
    return shorter;
  }

  #withoutPictures({ model = this.#parts.model }: Question, request: ChatRequest, error: unknown): ChatRequest | undefined {
    if (!refusesPictures(error, request)) return undefined;
    this.#parts.blind.add(model);
    this.#warn("PICTURES_UNSUPPORTED", `${model.id} takes no pictures; words stand in their place from now on. ${shownError(error)}`);
    return { ...request, messages: withoutPictures(request.messages) };
  }

  #seenBy(messages: readonly ChatMessage[], model: ChatModel = this.#parts.model): readonly ChatMessage[] {
    return this.#parts.blind.has(model) ? withoutPictures(messages) : messages;
  }

  #warn(code: string, text: string): void {
    this.#parts.tell({ type: "warning", step: this.#parts.step(), code, text });
  }

  async #request(question: Question, needed: RoomNeeded): Promise<ChatRequest> {
    const { compaction, memory } = this.#parts;
    const { tools = [], toolChoice, temperature, prompt } = question;
    const before = this.#systemMessages(question.system);
    const after = prompt === undefined ? [] : [ChatMessage.user(prompt)];
    const messages = question.messages ?? (await memory.dump());
    const counter = compaction.tokens;
    const around = (await counter.ofTools(tools)) + (await counter.ofMessages(before)) + (await counter.ofMessages(after));
    const size = around + (await counter.ofMessages(messages));
    const fits = needed === "usual" && size <= compaction.room;
    const kept = fits ? messages : await this.#shorter(question, messages, { around, size, needed });
    return {
      messages: [...before, ...this.#seenBy(kept, question.model), ...after],
      ...(tools.length === 0 ? {} : { tools }),
      ...(tools.length === 0 || toolChoice === undefined ? {} : { toolChoice }),
      ...(temperature === undefined ? {} : { temperature }),
    };
  }

  async #shorter(
    question: Question,
    messages: readonly ChatMessage[],
    { around, size, needed }: { readonly around: number; readonly size: number; readonly needed: RoomNeeded },
  ): Promise<readonly ChatMessage[]> {
    const { compaction, memory, tell, step } = this.#parts;
    const ask = (asked: readonly ChatMessage[]): Promise<string> => this.#plainReply({}, asked, true).then((reply) => reply.content);
    const room = needed === "usual" ? compaction.room : Math.min(compaction.room, size) * AFTER_OVERFLOW;
    const [shorter, how] = await compaction.shrink(memory, messages, {
      room,
      tokens: around,
      ask: this.#isUnsummed ? undefined : ask,
      unsummed: (error) => this.#unsummed(error),
    });
    if (question.messages === undefined) await memory.rewrite?.(shorter);
    tell({ type: "memory.compacted", step: step(), ...how });
    return shorter;
  }

  #unsummed(error: unknown): void {
    if (error instanceof ControlError || this.#parts.signal.aborted) throw error;
    this.#isUnsummed = true;
    this.#warn(
      "SUMMARY_FAILED",
      `What was said before could not be summed up, so it is cut instead, here and later in this run. ${shownError(error)}`,
    );
  }

  /** One system message, because some servers refuse two. Equal text gives the same message, so its tokens are counted once. */
  #systemMessages(more: string | undefined): readonly ChatMessage[] {
    const text = [this.#parts.systemPrompt, more].filter((prompt) => prompt !== undefined && prompt !== "").join("\n\n");
    if (text === "") return [];
    if (this.#system?.content !== text) this.#system = ChatMessage.system(text);
    return [this.#system];
  }
}

/** Null: the try failed, and the text of the reply so far is void. */
type ReplyPiece = string | null;

/** Neighbors are joined, so no more waits than the reply's own text. */
const replyPieces: EventKinds<ReplyPiece> = {
  isPassing: () => true,
  join: (first, second) => (first === null || second === null ? undefined : first + second),
};

/** A failure for other reasons is no evidence about pictures. */
const REFUSALS: ReadonlySet<string> = new Set(["MODEL_BAD_REQUEST", "MODEL_NOT_FOUND", "MODEL_FORMAT_UNSUPPORTED", "MODEL_SERVER"]);

function refusesPictures(error: unknown, request: ChatRequest): boolean {
  if (!(error instanceof ModelError) || !REFUSALS.has(error.code) || unsupportedBy(error.message) !== "images") return false;
  return request.messages.some(({ images = [] }) => images.length > 0);
}

function sizeOf({ messages }: ChatRequest): number {
  const argumentsOf = (calls: readonly ToolCall[]): number => calls.reduce((sum, call) => sum + call.function.arguments.length, 0);
  return messages.reduce((sum, { content = "", toolCalls = [] }) => sum + content.length + argumentsOf(toolCalls), 0);
}

function shownError(error: unknown): string {
  return thrownText(error).slice(0, SHOWN_ERROR);
}
