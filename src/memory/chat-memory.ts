import { iterable, readable, takes, aCount } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { unlessMapped } from "../kernel/mapped.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { valueText } from "../kernel/value-text.ts";
import { ChatMessage, joinMessages, parseChatMessage, type ToolCall } from "../model/chat-message.ts";
import { estimatedTokens, messageTokens, type TokenCounter } from "./tokens.ts";

/** Options of a {@link ChatMemory}. */
export interface ChatMemoryOptions {
  /** Limit on the messages, 1 or more, including pinned ones. Infinity: no limit. Default: 100. */
  readonly maxMessages?: number | undefined;
  /** Limit on the tokens, 1 or more, including pinned messages. Default: no limit. */
  readonly maxTokens?: number | undefined;
  /** First messages that are never dropped, for example the goal. A string is a message of the user. */
  readonly pinned?: string | ChatMessage | readonly ChatMessage[] | undefined;
  /** Must count synchronously. Default: an estimate. */
  readonly tokens?: TokenCounter | undefined;
}

const chatMemoryOptions: Known<ChatMemoryOptions> = {
  maxMessages: kinds.checked,
  maxTokens: kinds.checked,
  pinned: kinds.checked,
  tokens: kinds.tokenCounter,
};

export interface AddOptions {
  /** The message is never dropped. Default: false. */
  readonly pin?: boolean | undefined;
}

const addOptions: Known<AddOptions> = { pin: kinds.boolean };

/** A chat memory as plain JSON. */
export interface ChatMemoryJson {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
  /** One message, or tool calls and their answers. */
  readonly units: readonly { readonly messages: readonly ChatMessage[]; readonly pinned?: true }[];
}

const jsonSchema = lazily(() =>
  z.object({
    maxMessages: z.number().int().min(1).optional(),
    maxTokens: z.number().int().min(1).optional(),
    units: z.array(z.object({ messages: z.array(z.unknown()).min(1), pinned: z.literal(true).optional() })),
  }),
);

/** Replaces a missing answer, because servers refuse a call without an answer. The call may have run before its answer was lost. */
const NO_ANSWER = "(no result: the call was cut off. It may have run; look before you call it again)";

/**
 * The window of a conversation with a model: the newest messages within a limit of count and of tokens, in order of arrival.
 *
 * Owns which messages are kept. ChatMemory.H1 (`ChatUnit`) tool calls and their answers are kept or dropped together. ChatMemory.H2
 * (`ChatUnit.messages`) calls that were not answered before the next message get a stand-in. ChatMemory.H3 (`#drop`) pinned messages and the newest
 * unit are never dropped: otherwise the limits hold after each `add` and `addAll`.
 */
export class ChatMemory {
  readonly maxMessages: number;
  readonly maxTokens: number | undefined;
  readonly #tokens: TokenCounter;
  #units: ChatUnit[] = [];
  #size = 0;
  #sum = 0;
  readonly #standIn: number;

  /** @throws UsageError `LIMIT_INVALID`, or `CHAT_MESSAGE_INVALID` for pinned values that are not chat messages */
  constructor(options: ChatMemoryOptions = {}) {
    checkKnownOptions("new ChatMemory", options, chatMemoryOptions);
    const { maxMessages = 100, maxTokens, tokens = estimatedTokens, pinned } = options;
    if (maxMessages !== Infinity) checkLimit("maxMessages", maxMessages);
    if (maxTokens !== undefined && maxTokens !== Infinity) checkLimit("maxTokens", maxTokens);
    this.maxMessages = maxMessages;
    this.maxTokens = maxTokens;
    this.#tokens = tokens;
    this.#standIn = this.#count(ChatMessage.tool({ content: NO_ANSWER, name: "", toolCallId: "" }));
    for (const message of asMessages(pinned)) this.#take(message, true);
  }

  /** All messages, in a form that a model accepts: see ChatMemory.H1 and ChatMemory.H2. */
  get messages(): ChatMessage[] {
    const newest = this.#newest;
    return this.#units.flatMap((unit) => unit.messages(unit !== newest));
  }

  get size(): number {
    return this.#size;
  }

  get tokens(): number {
    return this.#sum;
  }

  /**
   * Appends a message, or adds an answer to its call. Returns false for an answer without a waiting call: it is not kept.
   * @throws UsageError `CHAT_MESSAGE_INVALID`
   */
  add(message: ChatMessage, o: AddOptions = {}): boolean {
    checkKnownOptions("add", o, addOptions);
    const isTaken = this.#take(message, o.pin === true);
    this.#drop();
    return isTaken;
  }

  addAll(messages: Iterable<ChatMessage>): number {
    takes("ChatMemory.addAll", "messages", messages, iterable("chat messages"));
    const list = Array.from(messages, parseChatMessage);
    const taken = list.filter((message) => this.#take(message, false)).length;
    this.#drop();
    return taken;
  }

  /** Returns at most the newest `n` messages. Calls come with all their answers or not at all. @throws UsageError `ARGUMENT_INVALID` */
  recent(n: number): ChatMessage[] {
    takes("ChatMemory.recent", "n", n, aCount);
    const newest = this.#newest;
    const units = this.#units.map((unit) => unit.messages(unit !== newest));
    let count = 0;
    let from = units.length;
    while (from > 0 && count + (units[from - 1]?.length ?? 0) <= n) {
      from -= 1;
      count += units[from]?.length ?? 0;
    }
    return units.slice(from).flat();
  }

  clear(): void {
    this.#units = [];
    this.#size = 0;
    this.#sum = 0;
  }

  toJSON(): ChatMemoryJson {
    const units = this.#units.map((unit) => ({
      messages: unit.messages(false),
      ...(unit.isPinned ? { pinned: true as const } : {}),
    }));
    return {
      ...(this.maxMessages === Infinity ? {} : { maxMessages: this.maxMessages }),
      ...(this.maxTokens === undefined || this.maxTokens === Infinity ? {} : { maxTokens: this.maxTokens }),
      units,
    };
  }

  /** Restores a memory from {@link toJSON}. @throws UsageError `CHAT_MEMORY_INVALID` */
  static fromJSON(json: unknown, o?: Pick<ChatMemoryOptions, "tokens">): ChatMemory;
  static fromJSON(json: unknown, index: number, list: readonly unknown[]): ChatMemory;
  static fromJSON(json: unknown, given?: Pick<ChatMemoryOptions, "tokens"> | number, list?: readonly unknown[]): ChatMemory {
    const o = unlessMapped(given, list, {});
    takes("ChatMemory.fromJSON", "json", json, readable);
    checkKnownOptions("ChatMemory.fromJSON", o, { tokens: kinds.tokenCounter });
    const parsed = jsonSchema().safeParse(json);
    if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
    const { units, maxMessages = Infinity, maxTokens } = parsed.data;
    const memory = new ChatMemory({ ...o, maxMessages, maxTokens });
    for (const { messages, pinned = false } of units) {
      const isUnit = messages.map(parseChatMessage).every((message, index) => {
        if (index === 0) return message.role !== "tool" && memory.#take(message, pinned);
        return memory.#newest?.waitsFor(message.toolCallId ?? "") === true && memory.#take(message, pinned);
      });
      if (!isUnit) throw invalid("its messages are not in units of calls and their answers");
    }
    return memory;
  }

  /** Joins messages and lists of messages into one list without a limit. */
  static concat(...parts: readonly (ChatMessage | readonly ChatMessage[])[]): ChatMessage[] {
    return joinMessages(...parts);
  }

  #take(message: ChatMessage, isPinned: boolean): boolean {
    const own = parseChatMessage(message);
    const tokens = this.#count(own);
    if (own.role === "tool") return this.#answer(own, tokens);
    const calls = own.toolCalls?.length ?? 0;
    const unit = new ChatUnit(own, isPinned);
    unit.tokens = tokens + calls * this.#standIn;
    this.#units.push(unit);
    this.#size += unit.size;
    this.#sum += unit.tokens;
    return true;
  }

  #answer(message: ChatMessage, tokens: number): boolean {
    const id = message.toolCallId ?? "";
    // Some servers count their ids from 0 in each reply: an id means the newest call that has it.
    const unit = this.#units.findLast(({ head }) => head.toolCalls?.some((call) => call.id === id) === true);
    if (unit?.waitsFor(id) !== true) return false;
    unit.answer(message);
    unit.tokens += tokens - this.#standIn;
    this.#sum += tokens - this.#standIn;
    return true;
  }

  get #newest(): ChatUnit | undefined {
    return this.#units.at(-1);
  }

  #drop(): void {
    while (this.#size > this.maxMessages || this.#sum > (this.maxTokens ?? Infinity)) {
      const index = this.#units.findIndex(({ isPinned }) => !isPinned);
      const oldest = this.#units[index];
      if (oldest === undefined || oldest === this.#newest) return;
      this.#units.splice(index, 1);
      this.#size -= oldest.size;
      this.#sum -= oldest.tokens;
    }
  }

  #count(message: ChatMessage): number {
    return this.maxTokens === undefined ? 0 : messageTokens(message, this.#tokens);
  }
}

function checkLimit(name: string, limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return;
  throw new UsageError(
    "LIMIT_INVALID",
    `Expected ${name} to be a whole number of 1 or more, got ${valueText(limit)}. Use Infinity for no limit.`,
  );
}

function invalid(why: string): UsageError {
  return new UsageError("CHAT_MEMORY_INVALID", `Expected a chat memory as JSON, got something else: ${why.slice(0, 500)}`);
}

function asMessages(pinned: ChatMemoryOptions["pinned"]): readonly ChatMessage[] {
  if (pinned === undefined) return [];
  if (typeof pinned === "string") return [ChatMessage.user(pinned)];
  return Array.isArray(pinned) ? (pinned as readonly ChatMessage[]) : [pinned as ChatMessage];
}

/** A message, or the tool calls of an assistant with their answers. ChatUnit.U2 (`size`) every call counts as answered, so the size never changes. */
class ChatUnit {
  readonly head: ChatMessage;
  readonly isPinned: boolean;
  readonly #answers: (ChatMessage | undefined)[];
  /** Its closed form, until an answer changes it. */
  #whole: readonly ChatMessage[] | undefined;
  tokens = 0;

  constructor(head: ChatMessage, isPinned: boolean) {
    this.head = head;
    this.isPinned = isPinned;
    this.#answers = this.#calls.map(() => undefined);
  }

  get size(): number {
    return 1 + this.#answers.length;
  }

  waitsFor(id: string): boolean {
    return this.#indexOf(id) !== -1;
  }

  answer(message: ChatMessage): void {
    const index = this.#indexOf(message.toolCallId ?? "");
    if (index === -1) return;
    this.#answers[index] = message;
    this.#whole = undefined;
  }

  /** Calls without an answer get a stand-in if `isClosed`. */
  messages(isClosed: boolean): readonly ChatMessage[] {
    if (isClosed && this.#whole !== undefined) return this.#whole;
    const answers = this.#calls.map((call, index) => this.#answers[index] ?? (isClosed ? noAnswer(call) : undefined));
    const all = [this.head, ...answers.filter((answer) => answer !== undefined)];
    // Each step of an agent reads the whole window.
    if (isClosed) this.#whole = all;
    return all;
  }

  get #calls(): readonly ToolCall[] {
    return this.head.toolCalls ?? [];
  }

  #indexOf(id: string): number {
    return this.#calls.findIndex((call, index) => call.id === id && this.#answers[index] === undefined);
  }
}

function noAnswer({ id, function: { name } }: ToolCall): ChatMessage {
  return ChatMessage.tool({ content: NO_ANSWER, name, toolCallId: id });
}
