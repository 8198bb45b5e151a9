import type { Message } from "../message/message.ts";
import { type AskText, boundedSummary, summarizeText, summaryItem, type SummaryItem, summaryPrompt, timeRange } from "./summary.ts";
import { dueMerge, merged, type SummaryLevels, summaryText, withRecent } from "./summary-levels.ts";
import { UsageError } from "../kernel/errors.ts";
import type { TokenCounter } from "./tokens.ts";

/** What is to be summed up, and how. */
export interface SummaryParts {
  readonly levels: SummaryLevels;
  /** What was said and is not summed up yet, oldest first. */
  readonly history: readonly Message[];
  readonly sizes: MessageSizes;
  readonly limits: CompressionLimits;
  readonly ask: AskText;
  /** Leaves out what time a summary covers: no two runs would ask for the same one. Default false. */
  readonly isTimeless?: boolean;
}

/** A summary that was made and not taken over yet. */
export interface NextSummary {
  /** The messages it stands for. */
  readonly covers: readonly Message[];
  readonly change: (levels: SummaryLevels) => SummaryLevels;
}

/** Makes the next summary that is due: of ten summaries that have come together, else of the oldest messages. Undefined: none is due. */
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
  return { covers, change: (now) => withRecent(now, text) };
}

/** A message that alone is longer than a history may be is read in windows first. */
async function readable({ sizes, limits, ask }: SummaryParts, message: Message): Promise<SummaryItem> {
  const item = summaryItem(message);
  if ((await sizes.of(message)) <= limits.maxTokens) return item;
  return { ...item, text: await summarizeText(ask, item.text, windowOf(limits)) };
}

/** When a history is too long. */
export interface CompressionLimits {
  /** So many messages. */
  readonly maxMessages: number;
  /** More than so many tokens. */
  readonly maxTokens: number;
}

/** A token is about so many characters where a text has to be cut. */
const WINDOW_CHARACTERS = 4;

/** Characters of a text that are read at once. */
export function windowOf({ maxTokens }: CompressionLimits): number {
  return maxTokens * WINDOW_CHARACTERS;
}

/** @throws UsageError `LIMIT_INVALID` for a limit under which nothing could be remembered. */
export function checkedLimits(limits: CompressionLimits): CompressionLimits {
  for (const [name, limit] of Object.entries(limits) as [string, number][]) {
    if (!(limit >= 1)) throw new UsageError("LIMIT_INVALID", `Expected ${name} to be a number of 1 or more, got ${limit}.`);
  }
  return limits;
}

/** Tokens of messages, each counted once: they never change. */
export class MessageSizes {
  readonly #counter: TokenCounter;
  readonly #textOf: (message: Message) => string;
  readonly #sizes = new WeakMap<Message, number>();

  /** @param textOf what of a message counts */
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

/**
 * What of a history is summed up next: its oldest messages, at most as many as the limits allow and at least one; none while the history
 * is within both.
 */
export async function dueMessages(history: readonly Message[], sizes: MessageSizes, limits: CompressionLimits): Promise<Message[]> {
  let chunk: Message[] | undefined;
  let tokens = 0;
  for (const [place, message] of history.entries()) {
    if (place >= limits.maxMessages) break;
    tokens += await sizes.of(message);
    if (tokens > limits.maxTokens) {
      chunk = history.slice(0, Math.max(1, place));
      break;
    }
  }
  return chunk ?? (history.length >= limits.maxMessages ? history.slice(0, limits.maxMessages) : []);
}
