import { readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { Deque } from "../kernel/deque.ts";
import { lazily } from "../kernel/lazily.ts";
import { valueText } from "../kernel/value-text.ts";
import { ChatMessage, joinMessages, parseChatMessage } from "../model/chat-message.ts";
import { ChatList, type ChatMeasure, ChatUnit, NO_ANSWER, weightOf } from "./chat-unit.ts";
import { estimatedTokens, messageTokens, type TokenCounter } from "./tokens.ts";

/** How much of a conversation is kept. */
export interface ChatMemoryOptions {
  /** Most messages, 1 or more, pinned ones counted. Infinity: no limit. Default: 100. */
  readonly maxMessages?: number | undefined;
  /** Most tokens, 1 or more, pinned messages counted. Default: no limit. */
  readonly maxTokens?: number | undefined;
  /** What is never dropped, first of all: the goal. A text is the user's. */
  readonly pinned?: string | ChatMessage | readonly ChatMessage[] | undefined;
  /** Must count at once, not later. Default: an estimate. */
  readonly tokens?: TokenCounter | undefined;
  /** Whether a batch is held to the limits when it is added ("always"), or only when the next single message is ("on_add"). Default: "always". */
  readonly trim?: "always" | "on_add" | undefined;
}

const chatMemoryOptions: Known<ChatMemoryOptions> = { maxMessages: true, maxTokens: true, pinned: true, tokens: true, trim: true };

/** What is said of one message when it is added. */
export interface AddOptions {
  /** Never dropped. Default: false. */
  readonly pin?: boolean | undefined;
}

const addOptions: Known<AddOptions> = { pin: true };

/** A chat memory as plain JSON. */
export interface ChatMemoryJson {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
  readonly trim: "always" | "on_add";
  /** One message, or calls and the answers that came. */
  readonly units: readonly { readonly messages: readonly ChatMessage[]; readonly pinned?: true }[];
}

const jsonSchema = lazily(() =>
  z.object({
    maxMessages: z.number().int().min(1).optional(),
    maxTokens: z.number().int().min(1).optional(),
    trim: z.enum(["always", "on_add"]),
    units: z.array(z.object({ messages: z.array(z.unknown()).min(1), pinned: z.literal(true).optional() })),
  }),
);

/**
 * The window of a conversation with a model: the newest messages within a limit of count and of tokens, in order of arrival.
 *
 * It owns what is kept; whether calls wait for answers is their unit's business, and what a request finally holds, the agent's.
 *
 * H1 an assistant's calls and their answers are kept or dropped together, so no answer ever stands without its call. An answer stands with
 * its call, whenever it came. H2 calls that were not answered when the conversation went on are answered by words that say so; those at the
 * end wait. H3 pinned messages are never dropped, nor is the newest unit, however large: with these exceptions the limits hold after each
 * `add`, and after each `addAll` unless `trim` says "on_add". H4 `add` is O(1) amortised, and `messages` is one copy of a list that is kept up
 * as messages come and go. H5 lists that are given out are the caller's own, and messages are frozen.
 */
export class ChatMemory {
  readonly maxMessages: number;
  readonly maxTokens: number | undefined;
  readonly trim: "always" | "on_add";
  readonly #tokens: TokenCounter;
  /** What may be dropped, the oldest first. */
  #units = new Deque<ChatUnit>();
  readonly #pinned: ChatUnit[] = [];
  /** The newest unit that waits for an answer of an id. */
  readonly #open = new Map<string, ChatUnit>();
  #newest: ChatUnit | undefined;
  /** The messages of all units before the newest one. */
  readonly #settled = new ChatList(() => [...this.#kept()].flatMap((unit) => (unit === this.#newest ? [] : unit.messages(true))));
  #places = 0;
  #size = 0;
  #sum = 0;
  /** Tokens of the words that answer a call which waits. */
  readonly #standIn: number;

  /** @throws UsageError `LIMIT_INVALID` for limits that are none; `CHAT_MESSAGE_INVALID` for pinned messages that are none. */
  constructor(options: ChatMemoryOptions = {}) {
    checkKnownOptions("new ChatMemory", options, chatMemoryOptions);
    const { maxMessages = 100, maxTokens, trim = "always", tokens = estimatedTokens, pinned } = options;
    if (maxMessages !== Infinity) checkLimit("maxMessages", maxMessages);
    if (maxTokens !== undefined && maxTokens !== Infinity) checkLimit("maxTokens", maxTokens);
    if (trim !== "always" && trim !== "on_add") {
      throw new UsageError("LIMIT_INVALID", `Expected trim to be "always" or "on_add", got ${valueText(trim)}.`);
    }
    this.maxMessages = maxMessages;
    this.maxTokens = maxTokens;
    this.trim = trim;
    this.#tokens = tokens;
    this.#standIn = this.#count(ChatMessage.tool({ content: NO_ANSWER, name: "", toolCallId: "" }));
    for (const message of asMessages(pinned)) this.#take(message, true);
  }

  /** All that is kept. What a model can be sent: see H1 and H2. */
  get messages(): ChatMessage[] {
    return this.#settled.with(this.#newest?.messages(false) ?? []);
  }

  /** The sum over {@link messages} of a measure, such as their tokens: kept up as messages come and go, for one measure at a time. */
  weigh(measure: ChatMeasure): number {
    return this.#settled.weigh(measure) + weightOf(this.#newest?.messages(false) ?? [], measure);
  }

  /** How many messages are kept, calls that wait counted as answered. */
  get size(): number {
    return this.#size;
  }

  /** Their tokens, 0 where no limit asks for them. */
  get tokens(): number {
    return this.#sum;
  }

  /**
   * Puts a message at the end, or an answer to its call. False for an answer without a call that waits for it: it was dropped, was
   * answered, or never was; no server takes such an answer, and it is not kept.
   *
   * @throws UsageError `CHAT_MESSAGE_INVALID` for what is no chat message.
   */
  add(message: ChatMessage, o: AddOptions = {}): boolean {
    checkKnownOptions("add", o, addOptions);
    const isTaken = this.#take(message, o.pin === true);
    this.#drop();
    return isTaken;
  }

  /** Puts messages at the end; gives back how many were taken. */
  addAll(messages: Iterable<ChatMessage>): number {
    const list = [...messages].map(parseChatMessage);
    const taken = list.filter((message) => this.#take(message, false)).length;
    if (this.trim === "always") this.#drop();
    return taken;
  }

  /**
   * The newest messages, at most `n`, calls with all of their answers or not at all. `recent(0)` is none.
   *
   * @throws RangeError for an `n` that is no whole number of 0 or more.
   */
  recent(n: number): ChatMessage[] {
    if (!Number.isInteger(n) || n < 0) throw new RangeError(`Expected a whole number of 0 or more messages, got ${n}.`);
    const units = [...this.#kept()].map((unit) => unit.messages(unit !== this.#newest));
    let count = 0;
    let from = units.length;
    while (from > 0 && count + (units[from - 1]?.length ?? 0) <= n) {
      from -= 1;
      count += units[from]?.length ?? 0;
    }
    return units.slice(from).flat();
  }

  /** Forgets everything, pinned messages too. */
  clear(): void {
    this.#units = new Deque();
    this.#pinned.length = 0;
    this.#open.clear();
    this.#newest = undefined;
    this.#settled.clear();
    this.#size = 0;
    this.#sum = 0;
  }

  toJSON(): ChatMemoryJson {
    const units = [...this.#kept()].map((unit) => ({
      messages: unit.messages(false),
      ...(unit.isPinned ? { pinned: true as const } : {}),
    }));
    return {
      ...(this.maxMessages === Infinity ? {} : { maxMessages: this.maxMessages }),
      ...(this.maxTokens === undefined || this.maxTokens === Infinity ? {} : { maxTokens: this.maxTokens }),
      trim: this.trim,
      units,
    };
  }

  /**
   * A memory as {@link toJSON} gave it, also after it was written and read.
   *
   * @throws UsageError `CHAT_MEMORY_INVALID` for anything else.
   */
  static fromJSON(json: unknown, o: Pick<ChatMemoryOptions, "tokens"> = {}): ChatMemory {
    takes("ChatMemory.fromJSON", "json", json, readable);
    const parsed = jsonSchema().safeParse(json);
    if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
    const { units, maxMessages = Infinity, maxTokens, trim } = parsed.data;
    const memory = new ChatMemory({ ...o, maxMessages, maxTokens, trim });
    for (const { messages, pinned = false } of units) {
      const isUnit = messages.map(parseChatMessage).every((message, index) => {
        if (index === 0) return message.role !== "tool" && memory.#take(message, pinned);
        return memory.#newest?.waitsFor(message.toolCallId ?? "") === true && memory.#take(message, pinned);
      });
      if (!isUnit) throw invalid("its messages are not in units of calls and their answers");
    }
    return memory;
  }

  /** Messages and lists of messages as one list that no limit applies to. */
  static concat(...parts: readonly (ChatMessage | readonly ChatMessage[])[]): ChatMessage[] {
    return joinMessages(...parts);
  }

  /** False for an answer that nothing waits for. */
  #take(message: ChatMessage, isPinned: boolean): boolean {
    const own = parseChatMessage(message);
    const tokens = this.#count(own);
    if (own.role === "tool") return this.#answer(own, tokens);
    const calls = own.toolCalls?.length ?? 0;
    const unit = new ChatUnit(own, isPinned, this.#places++);
    unit.tokens = tokens + calls * this.#standIn;
    if (isPinned) this.#pinned.push(unit);
    else this.#units.push(unit);
    for (const id of unit.openIds) this.#open.set(id, unit);
    if (this.#newest !== undefined) this.#settled.push(this.#newest.messages(true));
    this.#newest = unit;
    this.#size += unit.size;
    this.#sum += unit.tokens;
    return true;
  }

  #answer(message: ChatMessage, tokens: number): boolean {
    const id = message.toolCallId ?? "";
    const unit = this.#open.get(id);
    if (unit === undefined) return false;
    unit.answer(message);
    if (unit !== this.#newest) this.#settled.change();
    if (!unit.waitsFor(id)) this.#open.delete(id);
    unit.tokens += tokens - this.#standIn;
    this.#sum += tokens - this.#standIn;
    return true;
  }

  #drop(): void {
    while (this.#size > this.maxMessages || this.#sum > (this.maxTokens ?? Infinity)) {
      const oldest = this.#units.at(0);
      if (oldest === undefined || oldest === this.#newest) return;
      this.#units.shift();
      this.#settled.remove(oldest.size, () => this.#pinnedBefore(oldest));
      this.#size -= oldest.size;
      this.#sum -= oldest.tokens;
      for (const id of oldest.openIds) if (this.#open.get(id) === oldest) this.#open.delete(id);
    }
  }

  #pinnedBefore({ place }: ChatUnit): number {
    return this.#pinned.reduce((sum, pinned) => (pinned.place < place ? sum + pinned.size : sum), 0);
  }

  /** Both lists are in order of arrival. */
  *#kept(): Generator<ChatUnit, void> {
    let next = 0;
    for (const unit of this.#units) {
      for (let pinned = this.#pinned[next]; pinned !== undefined && pinned.place < unit.place; pinned = this.#pinned[++next]) yield pinned;
      yield unit;
    }
    yield* this.#pinned.slice(next);
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
