import type { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import { ModelError, OutputError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import type { CallPolicy } from "../model/call.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest, ChatResponse, Usage } from "../model/chat-model.ts";
import { outputSchema } from "../model/json-schema.ts";
import { type SteppedModel, steppedModel } from "../model/stepped-model.ts";
import { askAgain, issueLine, promptFor, readReply } from "../model/structured-output.ts";
import { addUsage } from "../model/usage.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { Compacted, Compaction } from "./compaction.ts";
import type { AgentEvent } from "./events.ts";
import type { Question } from "./mind.ts";
import { replyStream } from "./reply-stream.ts";

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
/** The words of an error that repeat a reply. */
const KEPT_TEXT = 100_000;

/**
 * Asks models for one run: puts requests together, makes room for them, streams replies and adds up what they used. What may pass is
 * tried again below, by the model's door; here nothing is sent twice, but for a request that was too long and has been made shorter.
 */
export class ModelDesk {
  readonly #parts: ModelDeskParts;
  readonly #doors = new Map<ChatModel, SteppedModel>();
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };

  constructor(parts: ModelDeskParts) {
    this.#parts = parts;
  }

  get usage(): Usage {
    return this.#usage;
  }

  async *ask(question: Question): AsyncGenerator<string, ChatResponse, void> {
    const { signal } = this.#parts;
    throwIfAborted(signal);
    const request = await this.#request(question, "roomy");
    try {
      return yield* this.#reply(question, request);
    } catch (error) {
      if (!(error instanceof ModelError) || error.code !== "MODEL_CONTEXT_OVERFLOW") throw error;
      const shorter = await this.#request(question, "tight");
      if (JSON.stringify(shorter.messages).length >= JSON.stringify(request.messages).length) throw error;
      return yield* this.#reply(question, shorter);
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

  async *#reply(question: Question, request: ChatRequest): AsyncGenerator<string, ChatResponse, void> {
    const { signal, tell, step } = this.#parts;
    const pieces = replyStream(this.#door(question.model), request, signal);
    for (;;) {
      const next = await pieces.next();
      if (next.done === true) return this.#took(next.value);
      if (next.value.text === undefined) tell({ type: "text.void", step: step() });
      else yield next.value.text;
    }
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
    const { tools = [], toolChoice, temperature } = question;
    const before = systemMessages(this.#parts.systemPrompt, question.system);
    const after: readonly ChatMessage[] = question.prompt === undefined ? [] : [{ role: "user", content: question.prompt }];
    const messages = await this.#messages(question, [...before, ...after], room);
    return {
      messages: [...before, ...messages, ...after],
      ...(tools.length === 0 ? {} : { tools }),
      ...(tools.length === 0 || toolChoice === undefined ? {} : { toolChoice }),
      ...(temperature === undefined ? {} : { temperature }),
    };
  }

  /** What is said between the prompts: the question's own messages, or the memory's, which are made shorter for good. */
  async #messages(question: Question, prompts: readonly ChatMessage[], room: "roomy" | "tight"): Promise<readonly ChatMessage[]> {
    const { compaction, memory, tell, step } = this.#parts;
    const messages = question.messages ?? (await memory.dump());
    const tokens = (await compaction.tokens.ofMessages(prompts)) + (await compaction.tokens.ofTools(question.tools ?? []));
    const around = { tokens, ask: (asked: readonly ChatMessage[]) => this.#plainReply({}, asked).then((reply) => reply.content) };
    const made = await (room === "roomy"
      ? compaction.fit(memory, messages, around)
      : compaction.shrink(memory, messages, around, await this.#tightRoom(messages, tokens)));
    if (made === undefined) return messages;
    const [shorter, how] = made;
    if (question.messages === undefined) await memory.rewrite?.(shorter);
    tell({ type: "memory.compacted", step: step(), ...(how satisfies Compacted) });
    return shorter;
  }

  async #tightRoom(messages: readonly ChatMessage[], around: number): Promise<number> {
    const { compaction } = this.#parts;
    return Math.min(compaction.room, (await compaction.tokens.ofMessages(messages)) + around) * AFTER_OVERFLOW;
  }
}

/** One system message: not every server takes two. */
function systemMessages(...prompts: readonly (string | undefined)[]): readonly ChatMessage[] {
  const said = prompts.filter((prompt) => prompt !== undefined && prompt !== "");
  return said.length === 0 ? [] : [{ role: "system", content: said.join("\n\n") }];
}

function unreadable(model: string, text: string, issues: readonly string[]): OutputError {
  return new OutputError(
    "OUTPUT_INVALID",
    `Expected a reply of ${model} that fits its schema, also after asking again, but: ${issues.slice(0, 5).join("; ").slice(0, 600)}. Use another model, or ask for less at once.`,
    { data: { text: text.slice(0, KEPT_TEXT) } },
  );
}
