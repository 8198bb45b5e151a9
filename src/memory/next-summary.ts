import type { Message } from "../message/message.ts";
import { type CompressionLimits, dueMessages, type MessageSizes, windowOf } from "./compression.ts";
import { type AskText, boundedSummary, summarizeText, summaryItem, type SummaryItem, summaryPrompt, timeRange } from "./summary.ts";
import { dueMerge, merged, type SummaryLevels, summaryText, withRecent } from "./summary-levels.ts";

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
