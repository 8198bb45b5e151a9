import type { Compacted } from "./events.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type AskText, summarizeText } from "../memory/summary.ts";
import { estimatedTokens, type TokenCounter } from "../memory/tokens.ts";
import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { type AgentMemory, isOneOf, remark } from "./agent-memory.ts";
import { onFrom, upTo } from "../tool/shown-text.ts";

/** Numbers are tokens unless said otherwise. */
export interface CompactionOptions {
  /** The context window of the model, its reply included. Default 128,000. */
  readonly contextTokens?: number;
  /** Messages are shortened when a request exceeds this share of the window. Default 0.75. */
  readonly share?: number;
  /** The newest results of tools that are never cleared. Default 3. */
  readonly keepResults?: number;
  /** Default 300. */
  readonly summaryWords?: number;
  /** Default: about four characters to a token. */
  readonly counter?: TokenCounter;
}

/** @internal */
export const compactionOptions: Known<CompactionOptions> = {
  ...kinds.each(kinds.checked, "contextTokens", "share", "keepResults", "summaryWords"),
  counter: kinds.tokenCounter,
};

/** Of a picture of ordinary size, roughly. */
const IMAGE_TOKENS = 1_000;
const MESSAGE_TOKENS = 4;

/** Counts the tokens of each message once: they never change. */
export class MessageTokens {
  readonly #counter: TokenCounter;
  readonly #known = new WeakMap<object, number>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  ofMessage(message: ChatMessage): number | Promise<number> {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const calls = message.toolCalls === undefined ? "" : JSON.stringify(message.toolCalls);
    const thoughts = message.reasoning === undefined ? "" : JSON.stringify(message.reasoning);
    const besides = MESSAGE_TOKENS + IMAGE_TOKENS * (message.images?.length ?? 0);
    return this.#counted(message, `${message.content ?? ""}${message.name ?? ""}${calls}${thoughts}`, besides);
  }

  ofMessages(messages: readonly ChatMessage[]): Promise<number> {
    return sumOf(messages, (message) => this.ofMessage(message));
  }

  ofTools(tools: readonly ToolSpec[]): Promise<number> {
    return sumOf(tools, (tool) => this.#known.get(tool) ?? this.#counted(tool, JSON.stringify(tool), 0));
  }

  #counted(what: object, text: string, besides: number): number | Promise<number> {
    const took = (count: number): number => {
      this.#known.set(what, count + besides);
      return count + besides;
    };
    const count = this.#counter.count(text);
    return typeof count === "number" ? took(count) : count.then(took);
  }
}

async function sumOf<T>(items: readonly T[], tokensOf: (item: T) => number | Promise<number>): Promise<number> {
  let sum = 0;
  for (const item of items) {
    const tokens = tokensOf(item);
    // A wait for each item would let other roles ask first.
    sum += typeof tokens === "number" ? tokens : await tokens;
  }
  return sum;
}

interface ShrinkOptions {
  /** Tokens of the whole request. */
  readonly room: number;
  /** Tokens of the request besides the messages. */
  readonly tokens: number;
  /** Undefined when no summary may be asked for. */
  readonly ask: AskText | undefined;
  /** Called when the summary failed. @throws the error when it ends the run */
  readonly unsummed: (error: unknown) => void;
}

/** Of a token, roughly. */
const CHARACTERS = 3;
const NEWEST_SHARE = 0.5;

/**
 * Shortens the messages of a memory before a request exceeds the context window: old results of tools are cleared first, which costs
 * nothing; then the model sums up old messages; then long texts are cut in the middle, and the oldest messages left out if needed.
 *
 * `Compaction.C1` the goal and the newest group of messages stay (`#summed`, `#withoutOldest`). `Compaction.C2` calls and their results
 * stay together ({@link groupsOf}). `Compaction.C3` the result fits, also when no model answers, or not with a short text (`shrink`).
 */
export class Compaction {
  readonly tokens: MessageTokens;
  readonly #room: number;
  readonly #keepResults: number;
  readonly #words: number;

  constructor(options: CompactionOptions = {}) {
    this.tokens = new MessageTokens(options.counter ?? estimatedTokens);
    this.#room = Math.floor((options.contextTokens ?? 128_000) * (options.share ?? 0.75));
    this.#keepResults = options.keepResults ?? 3;
    this.#words = options.summaryWords ?? 300;
  }

  get room(): number {
    return this.#room;
  }

  async shrink(
    memory: AgentMemory,
    messages: readonly ChatMessage[],
    options: ShrinkOptions,
  ): Promise<readonly [ChatMessage[], Compacted]> {
    const { room, tokens } = options;
    const size = async (these: readonly ChatMessage[]): Promise<number> => (await this.tokens.ofMessages(these)) + tokens;
    const before = await size(messages);
    const cleared = withoutOldResults(messages, this.#keepResults);
    const afterClearing = await size(cleared);
    if (afterClearing <= room) return [cleared, { how: "cleared", before, after: afterClearing }];
    const goal = await memory.goal();
    const summed = await this.#summed(cleared, goal, options);
    const afterSumming = await size(summed);
    if (afterSumming <= room) return [summed, { how: "summarized", before, after: afterSumming }];
    const cut = await this.#withoutOldest(this.#cut(summed, goal, Math.max(0, room - tokens)), goal, room - tokens);
    return [cut, { how: "cut", before, after: await size(cut) }];
  }

  async #summed(messages: readonly ChatMessage[], goal: readonly ChatMessage[], options: ShrinkOptions): Promise<ChatMessage[]> {
    const groups = groupsOf(messages);
    const from = await this.#newestFrom(groups, (options.room - options.tokens) * NEWEST_SHARE);
    const isGoal = (group: readonly ChatMessage[]): boolean => group.some((message) => isOneOf(goal, message));
    const old = groups.slice(0, from).filter((group) => !isGoal(group));
    if (old.length === 0) return [...messages];
    const summary = await this.#summary(old.flat(), options);
    if (summary === undefined) return [...messages];
    const record = remark(`What was done before, in short, as a record and not as an instruction: ${summary}`);
    return [...groups.slice(0, from).filter(isGoal).flat(), record, ...groups.slice(from).flat()];
  }

  async #summary(old: readonly ChatMessage[], { ask, unsummed, room }: ShrinkOptions): Promise<string | undefined> {
    if (ask === undefined) return undefined;
    try {
      return await summarizeText(ask, old.map(lineOf).join("\n"), Math.max(1_000, (room * CHARACTERS) / 2), this.#words);
    } catch (error) {
      unsummed(error);
      return undefined;
    }
  }

  async #withoutOldest(messages: ChatMessage[], goal: readonly ChatMessage[], room: number): Promise<ChatMessage[]> {
    let left = await this.tokens.ofMessages(messages);
    if (left <= room) return messages;
    const groups = groupsOf(messages);
    const out = new Set<readonly ChatMessage[]>();
    left += await this.tokens.ofMessages([leftOut(messages.length)]);
    for (const group of groups.slice(0, -1)) {
      if (left <= room) break;
      if (group.some((message) => isOneOf(goal, message))) continue;
      left -= await this.tokens.ofMessages(group);
      out.add(group);
    }
    if (out.size === 0) return messages;
    const first = groups.findIndex((group) => out.has(group));
    const count = [...out].reduce((sum, group) => sum + group.length, 0);
    return groups.flatMap((group, index) => (index === first ? [leftOut(count)] : out.has(group) ? [] : group));
  }

  async #newestFrom(groups: readonly ChatMessage[][], room: number): Promise<number> {
    let left = room;
    let from = groups.length;
    while (from > 0) {
      left -= await this.tokens.ofMessages(groups[from - 1] ?? []);
      if (left < 0 && from < groups.length) break;
      from--;
      if (left < 0) break;
    }
    return from;
  }

  /** Pictures are left out. Every message gets an equal share of the room, the goal a double one. */
  #cut(messages: readonly ChatMessage[], goal: readonly ChatMessage[], room: number): ChatMessage[] {
    const share = Math.max(80, Math.floor((room * CHARACTERS) / (messages.length + goal.length)) - 40);
    const plain = inWords(messages, (count) => `[${count} pictures were left out to make room]`);
    return plain.map((message) => shortened(message, isOneOf(goal, message) ? 2 * share : share));
  }
}

function leftOut(count: number): ChatMessage {
  return remark(`${count} older messages were left out here to make room.`);
}

function lineOf({ role, content = "", toolCalls = [] }: ChatMessage): string {
  const calls = toolCalls.map(({ function: { name, arguments: args } }) => `${name}(${args.slice(0, 500)})`);
  return JSON.stringify({ role, text: content, ...(calls.length === 0 ? {} : { calls }) });
}

const SHORT_RESULT = 200;

/** Calls of tools and their results stay together; any other message stands alone. */
export function groupsOf(messages: readonly ChatMessage[]): ChatMessage[][] {
  const groups: ChatMessage[][] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    const belongs = message.role === "tool" && last?.[0]?.toolCalls !== undefined;
    if (belongs) last?.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** Clears long results and pictures in all but the newest groups. Unchanged messages stay the same objects. */
export function withoutOldResults(messages: readonly ChatMessage[], newest: number): ChatMessage[] {
  const groups = groupsOf(messages);
  const withResults = groups.filter((group) => group.length > 1);
  const kept = new Set(newest === 0 ? [] : withResults.slice(-newest));
  return groups.flatMap((group) => (kept.has(group) ? group : group.map(withoutResult)));
}

function withoutResult(message: ChatMessage): ChatMessage {
  const { images, content = "", ...rest } = message;
  if (message.role !== "tool" || (content.length <= SHORT_RESULT && images === undefined)) return message;
  const pictures = images === undefined ? "" : ` and ${images.length} pictures`;
  return {
    ...rest,
    content: `[${content.length} characters${pictures} of this result were cleared to make room. Call the tool again if you need them.]`,
  };
}

/** Messages without pictures stay the same objects. */
export function withoutPictures(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const words = "[picture left out: the model does not take pictures]";
  return inWords(messages, (count) => Array.from({ length: count }, () => words).join("\n"));
}

function inWords(messages: readonly ChatMessage[], words: (count: number) => string): readonly ChatMessage[] {
  return messages.map((message) => {
    const { images, content = "", ...rest } = message;
    return images === undefined ? message : { ...rest, content: [content, words(images.length)].filter((part) => part !== "").join("\n") };
  });
}

export function shortened(message: ChatMessage, limit: number): ChatMessage {
  const { content = "", toolCalls } = message;
  const isLong = (call: ToolCall): boolean => call.function.arguments.length > limit;
  const text = content.length <= limit ? message : { ...message, content: middleCut(content, limit) };
  return toolCalls?.some(isLong) === true
    ? { ...text, toolCalls: toolCalls.map((call) => (isLong(call) ? withoutArguments(call) : call)) }
    : text;
}

/** Servers parse arguments. */
function withoutArguments(call: ToolCall): ToolCall {
  const cleared = JSON.stringify({ cleared: `${call.function.arguments.length} characters` });
  return { ...call, function: { ...call.function, arguments: cleared } };
}

function middleCut(text: string, limit: number): string {
  const half = Math.max(0, Math.floor((limit - 60) / 2));
  const left = text.length - 2 * half;
  return `${upTo(text, half)}\n[${left} characters were cut to make room]\n${onFrom(text, text.length - half)}`;
}
