import { UsageError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import { type AskText, boundedSummary, summarizeText, summaryItem, type SummaryItem, summaryPrompt, timeRange } from "./summary.ts";
import type { TokenCounter } from "./tokens.ts";

/**
 * The summary of a long conversation: each level is ten times as coarse as the one before. Some messages make one summary of `recent`, ten of those
 * make one of `older`, and ten of those are merged into `oldest`. Each level has its oldest summary first.
 */
export interface SummaryLevels {
  readonly oldest: string;
  readonly older: readonly string[];
  readonly recent: readonly string[];
}

/** Summaries of one level that are merged into one of the next. */
const FAN_IN = 10;

export const NO_SUMMARY: SummaryLevels = { oldest: "", older: [], recent: [] };

export interface RoleSummary extends SummaryLevels {
  /** Ids of the messages summarized last, oldest first. All earlier messages are covered too. */
  readonly covered: readonly string[];
  /** After a failure the model is asked again when this many messages are not summarized. */
  readonly waits?: number;
}

export const NOTHING_SUMMED_UP: RoleSummary = { ...NO_SUMMARY, covered: [] };

export interface Merge {
  readonly level: "recent" | "older";
  readonly items: readonly string[];
  readonly earlier: string;
}

export function summaryText({ oldest, older, recent }: SummaryLevels): string {
  return [oldest, ...older, ...recent].filter((text) => text !== "").join("\n\n");
}

export function dueMerge({ oldest, older, recent }: SummaryLevels): Merge | undefined {
  if (older.length >= FAN_IN) return { level: "older", items: older.slice(0, FAN_IN), earlier: oldest };
  if (recent.length < FAN_IN) return undefined;
  return { level: "recent", items: recent.slice(0, FAN_IN), earlier: summaryText({ oldest, older, recent: [] }) };
}

/** Levels that have changed since, because others were loaded, stay unchanged. */
function merged(levels: SummaryLevels, { level, items }: Merge, text: string): SummaryLevels {
  if (items.some((item, n) => levels[level][n] !== item)) return levels;
  if (level === "older") return { ...levels, oldest: text, older: levels.older.slice(items.length) };
  return { ...levels, older: [...levels.older, text], recent: levels.recent.slice(items.length) };
}

export function joined(stored: SummaryLevels, here: SummaryLevels): SummaryLevels {
  const known = new Set([stored.oldest, ...stored.older, ...stored.recent]);
  const news = [here.oldest, ...here.older, ...here.recent].filter((text) => text !== "" && !known.has(text));
  return { ...stored, recent: [...stored.recent, ...news] };
}

export interface SummaryParts {
  readonly levels: SummaryLevels;
  readonly history: readonly Message[];
  readonly sizes: MessageSizes;
  readonly limits: CompressionLimits;
  readonly ask: AskText;
  /** Leaves out the time range, so that two runs ask the same. Default false. */
  readonly isTimeless?: boolean;
}

export interface NextSummary {
  readonly covers: readonly Message[];
  readonly change: (levels: SummaryLevels) => SummaryLevels;
}

export async function nextSummary(parts: SummaryParts): Promise<NextSummary | undefined> {
  const { levels, history, sizes, limits, ask, isTimeless = false } = parts;
  const merge = dueMerge(levels);
  if (merge !== undefined) {
    const merging = { earlier: merge.earlier, items: merge.items.map((text) => ({ text })) };
    const text = boundedSummary(await ask(summaryPrompt(merging)));
    return { covers: [], change: (now) => merged(now, merge, text) };
  }
  const covers = await dueMessages(history, sizes, limits);
  if (covers.length === 0) return undefined;
  const items: SummaryItem[] = [];
  for (const message of covers) items.push(await readable(parts, message));
  const range = isTimeless ? undefined : timeRange(covers);
  const text = boundedSummary(await ask(summaryPrompt({ earlier: summaryText(levels), items, range })));
  return { covers, change: (now) => ({ ...now, recent: [...now.recent, text] }) };
}

/** A message that alone exceeds the limit is summarized in windows first. */
async function readable({ sizes, limits, ask }: SummaryParts, message: Message): Promise<SummaryItem> {
  const item = summaryItem(message);
  if ((await sizes.of(message)) <= limits.maxTokens) return item;
  return { ...item, text: await summarizeText(ask, item.text, windowOf(limits)) };
}

export interface CompressionLimits {
  readonly maxMessages: number;
  readonly maxTokens: number;
  /** This many of the newest messages are left out, as far as they fit into `maxTokens`, and an open question anyway. Default: none is. */
  readonly keepMessages?: number;
}

const WINDOW_CHARACTERS = 4;

export function windowOf({ maxTokens }: CompressionLimits): number {
  return maxTokens * WINDOW_CHARACTERS;
}

export function checkLimits({ keepMessages = 0, ...limits }: CompressionLimits): void {
  for (const [name, limit] of Object.entries(limits) as [string, number][]) {
    if (!(limit >= 1)) throw new UsageError("LIMIT_INVALID", `Expected ${name} to be a number of 1 or more, got ${limit}.`);
  }
  if (Number.isInteger(keepMessages) && keepMessages >= 0 && keepMessages < limits.maxMessages) return;
  const expected = `Expected keepMessages to be a whole number of 0 or more, and fewer than maxMessages (${limits.maxMessages})`;
  throw new UsageError("LIMIT_INVALID", `${expected}, got ${keepMessages}. Otherwise there is nothing to summarize.`);
}

/** Counts the tokens of each message once, because messages never change. */
export class MessageSizes {
  readonly #counter: TokenCounter;
  readonly #textOf: (message: Message) => string;
  readonly #sizes = new WeakMap<Message, number>();

  constructor(counter: TokenCounter, textOf: (message: Message) => string = ({ content }) => content) {
    this.#counter = counter;
    this.#textOf = textOf;
  }

  async of(message: Message): Promise<number> {
    const known = this.#sizes.get(message);
    if (known !== undefined) return known;
    const size = await this.#counter.count(this.#textOf(message));
    this.#sizes.set(message, size);
    return size;
  }
}

/** Returns the oldest messages within the limits, at least one; none while the history is within both limits, or when all of it is kept. */
export async function dueMessages(history: readonly Message[], sizes: MessageSizes, limits: CompressionLimits): Promise<Message[]> {
  const { maxMessages, maxTokens } = limits;
  const rest = history.length - (await keptCount(history, sizes, limits));
  let tokens = 0;
  for (const [n, message] of history.entries()) {
    if (n >= maxMessages) break;
    tokens += await sizes.of(message);
    if (tokens > maxTokens) return history.slice(0, Math.min(rest, Math.max(1, n)));
  }
  return history.length >= maxMessages ? history.slice(0, Math.min(rest, maxMessages)) : [];
}

async function keptCount(history: readonly Message[], sizes: MessageSizes, limits: CompressionLimits): Promise<number> {
  const { maxTokens, keepMessages } = limits;
  if (keepMessages === undefined) return 0;
  let kept = 0;
  let tokens = 0;
  for (const message of history.slice(Math.max(0, history.length - keepMessages)).toReversed()) {
    tokens += await sizes.of(message);
    if (tokens > maxTokens) break;
    kept++;
  }
  return Math.max(kept, openQuestion(history).length);
}

/** The last message, if it is the user's and has no answer yet. */
export function openQuestion(history: readonly Message[]): readonly Message[] {
  return history.at(-1)?.role === "user" ? history.slice(-1) : [];
}
