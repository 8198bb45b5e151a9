import { aText, readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { unlessMapped } from "../kernel/mapped.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { isObject } from "../kernel/value-kind.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { ChatMemory, type ChatMemoryOptions } from "../memory/chat-memory.ts";
import { ChatMessage, type ImagePart, parseChatMessage, type ToolCall } from "../model/chat-message.ts";
import type { Tool } from "../tool/tool.ts";
import { ToolCollection } from "../tool/tool-collection.ts";
import { type AgentMemory, type Answer, isRemark, type NextAction, openCalls } from "./agent-memory.ts";
import { writtenAction } from "./text-action.ts";

/** Options of a memory of messages. */
export interface MessagesMemoryOptions {
  readonly tools?: ToolCollection | Iterable<Tool>;
  /** Default: 1,000 messages; an agent shortens them by tokens long before. */
  readonly messages?: ChatMemory | ChatMemoryOptions;
}

const messagesMemoryOptions: Known<MessagesMemoryOptions> = {
  tools: kinds.checked,
  messages: kinds.either(kinds.object, kinds.list(kinds.checked)),
};

const WINDOW = 1_000;
const NO_PINS: ReadonlySet<string> = new Set();
const RECOGNIZED = 40;

/**
 * An agent's memory as a list of messages, which the {@link ChatMemory} owns.
 *
 * `MessagesMemory.G1` the goal stays in its place and is never dropped; an earlier goal is a message like others (`setGoal`, `rewrite`).
 * `MessagesMemory.G2` a new goal forgets the answer, the action and the notes of the earlier one (`setGoal`). `MessagesMemory.G3` a record
 * read back continues: calls without a result are the next action (`from`).
 */
export class MessagesMemory implements AgentMemory {
  readonly tools: ToolCollection;
  done = false;
  nextAction: NextAction | undefined;
  answer: Answer | undefined;
  readonly #chat: ChatMemory;
  readonly #pins: ReadonlySet<string>;
  #goal: ChatMessage | undefined;
  #notes: Map<string, Json> | undefined;

  /**
   * @param given the options, or the tools alone
   * @throws UsageError `AGENT_MEMORY_INVALID` for messages: see {@link MessagesMemory.from}
   */
  constructor(given: MessagesMemoryOptions | Iterable<Tool> = {}) {
    takes("new MessagesMemory", "options", given, readable);
    const options: MessagesMemoryOptions = isObject(given) && Symbol.iterator in given ? { tools: given } : given;
    checkKnownOptions("new MessagesMemory", options, messagesMemoryOptions);
    const { tools = [], messages } = options;
    refuseMessages(tools);
    refuseMessages(messages);
    this.tools = tools instanceof ToolCollection ? tools : new ToolCollection(tools);
    this.#chat = messages instanceof ChatMemory ? messages : new ChatMemory({ maxMessages: WINDOW, ...messages });
    this.#pins = this.#chat.size === 0 ? NO_PINS : pinsOf(this.#chat);
  }

  get chat(): ChatMemory {
    return this.#chat;
  }

  setGoal(goal: string, images?: readonly ImagePart[]): Promise<void> {
    takes("MessagesMemory.setGoal", "goal", goal, aText);
    if (this.#goal !== undefined) this.#fill(this.#chat.messages, undefined);
    this.#goal = ChatMessage.user(goal, images && { images });
    this.#chat.add(this.#goal, { pin: true });
    this.done = false;
    this.nextAction = undefined;
    this.answer = undefined;
    this.#notes = undefined;
    return Promise.resolve();
  }

  update(messages: readonly ChatMessage[]): Promise<void> {
    this.#chat.addAll(messages);
    return Promise.resolve();
  }

  goal(): Promise<readonly ChatMessage[]> {
    return Promise.resolve(this.#goal === undefined ? [] : [this.#goal]);
  }

  dump(): Promise<readonly ChatMessage[]> {
    return Promise.resolve(this.#chat.messages);
  }

  rewrite(messages: readonly ChatMessage[]): Promise<void> {
    takes("MessagesMemory.rewrite", "messages", messages, { says: "a list of chat messages", fits: Array.isArray });
    const isGoal = (message: ChatMessage): boolean => isSameGoal(message, this.#goal);
    const found = messages.findLast(isGoal);
    const goal = found ?? this.#goal;
    this.#goal = goal;
    this.#fill(goal === undefined || found !== undefined ? messages : [goal, ...messages], goal);
    return Promise.resolve();
  }

  note(key: string): Promise<Json | undefined> {
    takes("MessagesMemory.note", "key", key, aText);
    return Promise.resolve(this.#notes?.get(key));
  }

  setNote(key: string, value: Json): Promise<void> {
    takes("MessagesMemory.setNote", "key", key, aText);
    this.#notes ??= new Map();
    this.#notes.set(key, value);
    return Promise.resolve();
  }

  listTools(): string {
    return JSON.stringify(this.tools.specs);
  }

  getTool(name: string): Tool | undefined {
    return this.tools.get(name);
  }

  /** Everything but the tools, as plain JSON. */
  toJSON(): JsonObject {
    const { done, nextAction, answer } = this;
    const goal = this.#chat.messages.findLastIndex((message) => isSameGoal(message, this.#goal));
    const state = { goal, messages: this.#chat.messages, done, nextAction, answer, notes: Object.fromEntries(this.#notes ?? []) };
    return JSON.parse(JSON.stringify(state)) as JsonObject;
  }

  /** @throws UsageError `AGENT_MEMORY_INVALID` */
  static fromJSON(json: unknown, o?: MessagesMemoryOptions): MessagesMemory;
  static fromJSON(json: unknown, index: number, list: readonly unknown[]): MessagesMemory;
  static fromJSON(json: unknown, given?: MessagesMemoryOptions | number, list?: readonly unknown[]): MessagesMemory {
    const o = unlessMapped(given, list);
    takes("MessagesMemory.fromJSON", "json", json, readable);
    const parsed = MemoryShape.safeParse(json);
    if (!parsed.success) {
      throw new UsageError(
        "AGENT_MEMORY_INVALID",
        `Expected a memory as toJSON gives it, got something else: ${z.prettifyError(parsed.error)}`,
      );
    }
    const { goal, messages, done, nextAction, answer, notes } = parsed.data;
    const memory = new MessagesMemory(o);
    memory.#take(messages.map(parseChatMessage), goal);
    memory.done = done;
    memory.nextAction = nextAction as NextAction | undefined;
    memory.answer = answer;
    for (const [key, value] of Object.entries(notes)) void memory.setNote(key, value as Json);
    return memory;
  }

  /**
   * A memory from a record of messages, as {@link dump} returns it: work under way continues, and an answered task stays answered. The goal
   * is the user's last message. A record has no notes of nets: see {@link fromJSON}.
   */
  static from(record: readonly ChatMessage[], o?: MessagesMemoryOptions): MessagesMemory;
  static from(record: readonly ChatMessage[], index: number, list: readonly (readonly ChatMessage[])[]): MessagesMemory;
  static from(record: readonly ChatMessage[], given?: MessagesMemoryOptions | number, list?: readonly unknown[]): MessagesMemory {
    const memory = new MessagesMemory(unlessMapped(given, list));
    takes("MessagesMemory.from", "record", record, { says: "a list of chat messages", fits: Array.isArray });
    const messages = record.map(parseChatMessage);
    memory.#take(
      messages,
      messages.findLastIndex((message) => message.role === "user" && !isRemark(message)),
    );
    memory.#resume(record);
    return memory;
  }

  #take(messages: readonly ChatMessage[], goal: number): void {
    this.#goal = messages[goal];
    this.#fill(messages, this.#goal);
  }

  #resume(record: readonly ChatMessage[]): void {
    const calls: readonly ToolCall[] = openCalls(record);
    if (calls.length > 0) {
      this.nextAction = { calls, form: "native" };
      return;
    }
    const last = record.at(-1);
    if (last?.role === "tool") this.#endBy(last);
    if (last?.role !== "assistant") return;
    const written = writtenAction(last.content ?? "", { tools: this.tools, messages: record.slice(0, -1) });
    if (written.kind === "calls") this.nextAction = { calls: written.calls, form: "text" };
    if (written.kind === "answer") this.#answered(written.text);
  }

  #endBy({ name = "", content = "" }: ChatMessage): void {
    if (this.tools.find(name)?.ends === true && !content.startsWith("Error: ")) this.#answered(content);
  }

  #answered(text: string): void {
    this.answer = { text, status: "success" };
    this.done = true;
  }

  #fill(messages: readonly ChatMessage[], pinned: ChatMessage | undefined): void {
    this.#chat.clear();
    for (const message of messages) {
      this.#chat.add(message, { pin: message === pinned || (this.#pins.size > 0 && this.#pins.has(JSON.stringify(message))) });
    }
  }
}

/** Other frameworks give a memory its messages here. */
function refuseMessages(given: unknown): void {
  const [first] = Array.isArray(given) ? (given as readonly unknown[]) : [];
  if (!isObject(first) || !("role" in first || "content" in first)) return;
  throw new UsageError(
    "AGENT_MEMORY_INVALID",
    "Expected tools, or options of a window of messages, got messages. Make a memory of messages by MessagesMemory.from(messages, { tools }).",
  );
}

function pinsOf(chat: ChatMemory): ReadonlySet<string> {
  const pinned = chat.toJSON().units.flatMap((unit) => (unit.pinned === true ? unit.messages : []));
  return new Set(pinned.map((message) => JSON.stringify(message)));
}

function isSameGoal(message: ChatMessage, goal: ChatMessage | undefined): boolean {
  if (goal === undefined || message.role !== "user" || isRemark(message)) return false;
  return message === goal || message.content?.slice(0, RECOGNIZED) === goal.content?.slice(0, RECOGNIZED);
}

const MemoryShape = z.object({
  goal: z.int(),
  messages: z.array(z.unknown()),
  done: z.boolean(),
  nextAction: z
    .object({
      calls: z.array(
        z.object({ id: z.string(), type: z.literal("function"), function: z.object({ name: z.string(), arguments: z.string() }) }),
      ),
      form: z.enum(["native", "text"]),
      cut: z.array(z.string()).optional(),
    })
    .optional(),
  answer: z.object({ text: z.string(), status: z.enum(["success", "failure"]) }).optional(),
  notes: z.record(z.string(), z.unknown()),
});
