import type { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import { ModelError, OutputError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import type { CallPolicy } from "../model/call.ts";
import { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest, ChatResponse, ToolSpec, Usage } from "../model/chat-model.ts";
import { outputSchema } from "../model/json-schema.ts";
import { type SteppedModel, steppedModel } from "../model/stepped-model.ts";
import { askAgain, issueLine, promptFor, readReply } from "../model/structured-output.ts";
import { addUsage } from "../model/usage.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { Compacted, Compaction } from "./compaction.ts";
import type { AgentEvent } from "./events.ts";
import type { Question } from "./mind.ts";
import { ComingReply } from "./coming-reply.ts";

/** What the questions of one run share. */
export interface ModelDeskParts {
  readonly model: ChatModel;
  readonly steps: StepPort;
  readonly policy: CallPolicy;
  readonly systemPrompt: string | undefined;
  readonly memory: AgentMemory;
  readonly compaction: Compaction;
  readonly signal: AbortSignal;
  readonly tell: (event: AgentEvent) => void;
  readonly step: () => number;
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
 * Asks models for one run: puts requests together, makes room for them, streams replies and adds up what they used. What may pass is
 * tried again below, by the model's door; here nothing is sent twice, but for a request that was too long and has been made shorter.
 */
export class ModelDesk {
  readonly #parts: ModelDeskParts;
  readonly #doors = new Map<ChatModel, SteppedModel>();
  #system: ChatMessage | undefined;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };

  constructor(parts: ModelDeskParts) {
    this.#parts = parts;
  }

  get usage(): Usage {
    return this.#usage;
  }

  async *ask(question: Question): AsyncGenerator<string, ChatResponse, void> {
    const { signal, tell, step } = this.#parts;
    throwIfAborted(signal);
    let request = await this.#request(question, "roomy");
    for (let isShorter = false; ; isShorter = true) {
      try {
        const coming = new ComingReply(this.#door(question.model), request, signal);
        for (;;) {
          const pieces = coming.takeAll();
          for (const { text } of pieces) {
            if (text === undefined) tell({ type: "text.void", step: step() });
            else yield text;
          }
          // Whoever takes the pieces may be slow: more may have come meanwhile, and the end with them.
          if (pieces.length > 0) continue;
          const reply = coming.whole;
          if (reply !== undefined) return this.#took(reply);
          await coming.changed();
        }
      } catch (error) {
        if (isShorter || !isOverflow(error)) throw error;
        const shorter = await this.#request(question, "tight");
        if (JSON.stringify(shorter.messages).length >= JSON.stringify(request.messages).length) throw error;
        request = shorter;
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
    const { signal } = this.#parts;
    const request: ChatRequest = { messages, ...(question.temperature === undefined ? {} : { temperature: question.temperature }) };
    return this.#took(await this.#door(question.model).chat(request, { signal }));
  }

  #took(reply: ChatResponse): ChatResponse {
    const { tell, step } = this.#parts;
    this.#usage = addUsage(this.#usage, reply.usage);
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
    const request: { -readonly [K in keyof ChatRequest]: ChatRequest[K] } = { messages: before.concat(kept, after) };
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
    const around = { tokens, ask: (asked: readonly ChatMessage[]) => this.#plainReply({}, asked).then((reply) => reply.content) };
    const most = room === "roomy" ? compaction.room : Math.min(compaction.room, size) * AFTER_OVERFLOW;
    const [shorter, how] = await compaction.shrink(memory, messages, around, most);
    if (question.messages === undefined) await memory.rewrite?.(shorter);
    tell({ type: "memory.compacted", step: step(), ...(how satisfies Compacted) });
    return shorter;
  }

  /** One system message: not every server takes two. The same words are the same message, whose tokens are known. */
  #systemMessages(more: string | undefined): readonly ChatMessage[] {
    const said = [this.#parts.systemPrompt, more].filter((prompt) => prompt !== undefined && prompt !== "").join("\n\n");
    if (said === "") return NO_MESSAGES;
    if (this.#system?.content !== said) this.#system = ChatMessage.system(said);
    return [this.#system];
  }
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
