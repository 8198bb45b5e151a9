import type { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import { ControlError, ModelError, OutputError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { CallPolicy } from "../model/call.ts";
import { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest, ChatResponse, ToolSpec } from "../model/chat-model.ts";
import { outputSchema } from "../model/json-schema.ts";
import { type SteppedChatOptions, type SteppedModel, steppedModel } from "../model/stepped-model.ts";
import { askAgain, issueLine, promptFor, readReply } from "../model/structured-output.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { type Compacted, type Compaction, withoutPictures } from "./compaction.ts";
import type { AgentEvent } from "./events.ts";
import type { Question } from "./net.ts";
import type { CallTally, RunTally } from "./run-tally.ts";

/** What the questions of one run share. */
interface ModelDeskParts {
  readonly model: ChatModel;
  readonly steps: StepPort;
  readonly policy: CallPolicy;
  readonly systemPrompt: string | undefined;
  readonly memory: AgentMemory;
  readonly compaction: Compaction;
  /** Models that are known to take no pictures. What is learnt is kept here, beyond the run. */
  readonly blind: WeakSet<ChatModel>;
  readonly signal: AbortSignal;
  readonly tell: (event: AgentEvent) => void;
  readonly step: () => number;
  readonly tally: RunTally;
}

/** Of the room, what is left to requests when a server says that one was too long: nobody knows how long it may be. */
const AFTER_OVERFLOW = 0.5;
/** A reply that does not fit its schema is asked for again so often. */
const REASKS = 1;
const NO_MESSAGES: readonly ChatMessage[] = [];
const NO_TOOLS: readonly ToolSpec[] = [];
/** The words of an error that repeat a reply. */
const KEPT_TEXT = 100_000;

/**
 * Asks models for one run: puts requests together, makes room for them, streams replies and has their tries counted. What may pass is
 * tried again below, by the model's door; here nothing is sent twice, but for a request that was too long and has been made shorter, and one
 * with pictures that the model refuses, which is sent with words in their place.
 */
export class ModelDesk {
  readonly #parts: ModelDeskParts;
  readonly #doors = new Map<ChatModel, SteppedModel>();
  #system: ChatMessage | undefined;
  /** A summary that failed is not asked for again in this run. */
  #isUnsummed = false;

  constructor(parts: ModelDeskParts) {
    this.#parts = parts;
  }

  get tally(): RunTally {
    return this.#parts.tally;
  }

  async *ask(question: Question): AsyncGenerator<string, ChatResponse, void> {
    const { signal, tell, step } = this.#parts;
    throwIfAborted(signal);
    let request = await this.#request(question, "roomy");
    for (let isShorter = false; ;) {
      try {
        const door = this.#door(question.model);
        const meter = this.tally.begin(door.id);
        const coming = new ComingReply(door, request, { signal, meter });
        for (;;) {
          const pieces = coming.takeAll();
          for (const { text } of pieces) {
            if (text === undefined) tell({ type: "text.void", step: step() });
            else yield text;
          }
          // Whoever takes the pieces may be slow: more may have come meanwhile, and the end with them.
          if (pieces.length > 0) continue;
          const reply = coming.whole;
          if (reply !== undefined) return this.#took(reply, meter);
          await coming.changed();
        }
      } catch (error) {
        const blindly = this.#withoutPictures(question, request, error);
        if (blindly === undefined) {
          if (isShorter || !isOverflow(error)) throw error;
          isShorter = true;
          request = await this.#shorterRequest(question, request, error);
        } else request = blindly;
      }
    }
  }

  async read<S extends z.ZodType>(schema: S, question: Question): Promise<z.infer<S>> {
    const output = outputSchema(schema);
    const { messages } = await this.#request({ ...question, tools: undefined }, "roomy");
    let asked = promptFor(messages, output, { format: { type: "text" }, inPrompt: "schema and fence" });
    for (let n = 0; ; n++) {
      const reply = await this.#plainReply(question, asked);
      const read = readReply(reply.content, schema, output);
      if (read.ok) return read.value;
      if (n === REASKS) throw unreadable(this.#parts.model.id, reply.content, read.issues.map(issueLine));
      asked = askAgain(asked, output, reply.content, read.issues);
    }
  }

  async #plainReply(question: Question, messages: readonly ChatMessage[]): Promise<ChatResponse> {
    const request: ChatRequest = {
      messages: this.#seenBy(messages, question.model),
      ...(question.temperature === undefined ? {} : { temperature: question.temperature }),
    };
    try {
      return await this.#chat(question, request);
    } catch (error) {
      const blindly = this.#withoutPictures(question, request, error);
      if (blindly === undefined) throw error;
      return this.#chat(question, blindly);
    }
  }

  async #chat({ model }: Question, request: ChatRequest): Promise<ChatResponse> {
    const door = this.#door(model);
    const meter = this.tally.begin(door.id);
    return this.#took(await door.chat(request, { signal: this.#parts.signal, meter }), meter);
  }

  /** @throws the error itself when the request cannot be made shorter */
  async #shorterRequest(question: Question, request: ChatRequest, error: unknown): Promise<ChatRequest> {
    const shorter = await this.#request(question, "tight");
    if (JSON.stringify(shorter.messages).length >= JSON.stringify(request.messages).length) throw error;
    return shorter;
  }

  /** The same request with words in place of its pictures, when the model has refused it for those. From now on the model is shown none. */
  #withoutPictures({ model = this.#parts.model }: Question, request: ChatRequest, error: unknown): ChatRequest | undefined {
    if (!refusesPictures(error, request)) return undefined;
    this.#parts.blind.add(model);
    this.#warn("PICTURES_UNSUPPORTED", `${model.id} takes no pictures; words stand in their place from now on. ${wordsOf(error)}`);
    return { ...request, messages: withoutPictures(request.messages) };
  }

  #seenBy(messages: readonly ChatMessage[], model: ChatModel = this.#parts.model): readonly ChatMessage[] {
    return this.#parts.blind.has(model) ? withoutPictures(messages) : messages;
  }

  #warn(code: string, text: string): void {
    this.#parts.tell({ type: "warning", step: this.#parts.step(), code, text });
  }

  #took(reply: ChatResponse, meter: CallTally): ChatResponse {
    const { tell, step } = this.#parts;
    meter.answered(reply.usage);
    tell({ type: "reply.ended", step: step(), text: reply.content, calls: reply.toolCalls, usage: reply.usage });
    return reply;
  }

  #door(model: ChatModel = this.#parts.model): SteppedModel {
    let door = this.#doors.get(model);
    if (door === undefined) {
      const { steps, policy } = this.#parts;
      door = steppedModel(model, { steps, policy });
      this.#doors.set(model, door);
    }
    return door;
  }

  async #request(question: Question, room: "roomy" | "tight"): Promise<ChatRequest> {
    const { compaction, memory } = this.#parts;
    const { tools = NO_TOOLS, toolChoice, temperature } = question;
    const before = this.#systemMessages(question.system);
    const after: readonly ChatMessage[] = question.prompt === undefined ? [] : [{ role: "user", content: question.prompt }];
    const messages = question.messages ?? (await memory.dump());
    const counter = compaction.tokens;
    const told = counter.ofTools(tools);
    let around = typeof told === "number" ? told : await told;
    for (const prompts of [before, after]) {
      const said = counter.ofMessages(prompts);
      around += typeof said === "number" ? said : await said;
    }
    const inside = question.messages === undefined ? counter.ofMemory(memory, messages) : counter.ofMessages(messages);
    const size = around + (typeof inside === "number" ? inside : await inside);
    const fits = room === "roomy" && size <= compaction.room;
    const kept = fits ? messages : await this.#shorter(question, messages, around, size, room);
    const request: { -readonly [K in keyof ChatRequest]: ChatRequest[K] } = {
      messages: before.concat(this.#seenBy(kept, question.model), after),
    };
    if (tools.length > 0) request.tools = tools;
    if (tools.length > 0 && toolChoice !== undefined) request.toolChoice = toolChoice;
    if (temperature !== undefined) request.temperature = temperature;
    return request;
  }

  /** Messages are made shorter for good where they are the memory's, and not a question's own. */
  async #shorter(
    question: Question,
    messages: readonly ChatMessage[],
    tokens: number,
    size: number,
    room: "roomy" | "tight",
  ): Promise<readonly ChatMessage[]> {
    const { compaction, memory, tell, step } = this.#parts;
    const ask = (asked: readonly ChatMessage[]): Promise<string> => this.#plainReply({}, asked).then((reply) => reply.content);
    const around = { tokens, ask: this.#isUnsummed ? undefined : ask, unsummed: (error: unknown) => this.#unsummed(error) };
    const most = room === "roomy" ? compaction.room : Math.min(compaction.room, size) * AFTER_OVERFLOW;
    const [shorter, how] = await compaction.shrink(memory, messages, around, most);
    if (question.messages === undefined) await memory.rewrite?.(shorter);
    tell({ type: "memory.compacted", step: step(), ...(how satisfies Compacted) });
    return shorter;
  }

  /** Room is made without a summary then. @throws what interrupts the run */
  #unsummed(error: unknown): void {
    if (error instanceof ControlError || this.#parts.signal.aborted) throw error;
    this.#isUnsummed = true;
    this.#warn(
      "SUMMARY_FAILED",
      `What was said before could not be summed up, so it is cut instead, here and later in this run. ${wordsOf(error)}`,
    );
  }

  /** One system message: not every server takes two. The same words are the same message, whose tokens are known. */
  #systemMessages(more: string | undefined): readonly ChatMessage[] {
    const said = [this.#parts.systemPrompt, more].filter((prompt) => prompt !== undefined && prompt !== "").join("\n\n");
    if (said === "") return NO_MESSAGES;
    if (this.#system?.content !== said) this.#system = ChatMessage.system(said);
    return [this.#system];
  }
}

/** An error in a warning: enough of it to find it again. */
function wordsOf(error: unknown): string {
  return thrownText(error).slice(0, 500);
}

function isOverflow(error: unknown): boolean {
  return error instanceof ModelError && error.code === "MODEL_CONTEXT_OVERFLOW";
}

function unreadable(model: string, text: string, issues: readonly string[]): OutputError {
  return new OutputError(
    "OUTPUT_INVALID",
    `Expected a reply of ${model} that fits its schema, also after asking again, but: ${issues.slice(0, 5).join("; ").slice(0, 600)}. Use another model, or ask for less at once.`,
    { data: { text: text.slice(0, KEPT_TEXT) } },
  );
}

/** Text as it comes, or the news that a try failed and its text is void. */
type ReplyPiece = { readonly text: string } | { readonly text?: undefined };

const NO_PIECES: readonly ReplyPiece[] = [];

/**
 * A reply of a model behind a door, as it comes. It owns the pieces that nobody has taken yet, which are joined, so that it holds no more
 * than the reply's own text.
 */
class ComingReply {
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

/** Servers have no code for it: each says it in words of its own. */
const ABOUT_PICTURES = /\bimages?\b|image_url|\bpictures?\b|\bvision\b|multi-?modal|mmproj|\bcontent\b.{0,60}\bstring\b/i;
/** How a refusal of the request itself is told; of a server that failed for other reasons nothing follows. */
const REFUSALS: ReadonlySet<string> = new Set(["MODEL_BAD_REQUEST", "MODEL_NOT_FOUND", "MODEL_FORMAT_UNSUPPORTED", "MODEL_SERVER"]);

/** Whether a model refused a request because of the pictures in it. */
function refusesPictures(error: unknown, request: ChatRequest): boolean {
  if (!(error instanceof ModelError) || !REFUSALS.has(error.code) || !ABOUT_PICTURES.test(error.message)) return false;
  return request.messages.some(({ images = [] }) => images.length > 0);
}
