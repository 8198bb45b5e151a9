import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import type { MessageSizes } from "./compression.ts";
import type { ReadableMemory } from "./message-memory.ts";
import { memoryLine, summaryLine } from "./recall-prompt.ts";
import type { SummaryLevels } from "./summary-levels.ts";
import type { TokenCounter } from "./tokens.ts";

/** Texts that fit, and how many tokens they are. */
export interface Fitting {
  readonly texts: readonly string[];
  readonly tokens: number;
}

/** The newest messages that fit. */
export interface RecentWindow extends Fitting {
  /** Oldest first. */
  readonly messages: readonly Message[];
}

const NOTHING: Fitting = { texts: [], tokens: 0 };
/** No token is longer than this: what is behind cannot fit. */
const MAX_CHARACTERS_PER_TOKEN = 32;

/** The newest messages of a memory, besides some, as lines. They follow each other; the newest alone is cut where it does not fit. */
export async function recentWindow(
  memory: ReadableMemory,
  besides: ReadonlySet<string>,
  budget: number,
  parts: { readonly sizes: MessageSizes; readonly tokens: TokenCounter; readonly mask: Mask },
): Promise<RecentWindow> {
  const messages: Message[] = [];
  let tokens = 0;
  for (const message of memory.newestFirst()) {
    if (besides.has(message.id)) continue;
    const whole = await parts.sizes.of(message);
    if (tokens + whole > budget) {
      if (messages.length > 0) break;
      const { content, tokens: size } = await cutLine({ ...message, content: parts.mask(message.content) }, budget, parts.tokens);
      if (content === undefined) break;
      return { messages: [message], texts: [memoryLine({ ...message, content })], tokens: size };
    }
    messages.unshift(message);
    tokens += whole;
  }
  return { messages, texts: messages.map(memoryLine), tokens };
}

/** The newest summaries that fit, oldest first: each was made with all before it as its input. The newest is cut where it does not fit. */
export async function summaryWindow(levels: SummaryLevels, budget: number, counter: TokenCounter): Promise<Fitting> {
  const texts: string[] = [];
  let tokens = 0;
  for (const text of [...levels.recent.toReversed(), ...levels.older.toReversed(), levels.oldest]) {
    if (text === "") continue;
    const size = await counter.count(`${summaryLine(text)}\n`);
    if (tokens + size > budget) return texts.length > 0 ? { texts, tokens } : cutText(summaryLine, text, budget, counter);
    texts.unshift(text);
    tokens += size;
  }
  return { texts, tokens };
}

/** What a message says, cut so that its line has at most so many tokens; undefined where no word of it fits. */
export async function cutLine(
  { sentFrom, content }: Pick<Message, "sentFrom" | "content">,
  budget: number,
  counter: TokenCounter,
  lineOf: (message: Pick<Message, "sentFrom" | "content">) => string = memoryLine,
): Promise<{ readonly content: string | undefined; readonly tokens: number }> {
  const { texts, tokens } = await cutText((cut) => lineOf({ sentFrom, content: cut }), content, budget, counter);
  return { content: texts[0], tokens };
}

/** The longest beginning of a text that fits once it is written as a line. */
async function cutText(lineOf: (text: string) => string, text: string, budget: number, counter: TokenCounter): Promise<Fitting> {
  const cutAt = (length: number): string => `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…`;
  let [fits, tooLong] = [0, Math.min(text.length, budget * MAX_CHARACTERS_PER_TOKEN + 1)];
  let tokens = 0;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    const size = await counter.count(`${lineOf(cutAt(middle))}\n`);
    if (size <= budget) [fits, tokens] = [middle, size];
    else tooLong = middle;
  }
  return fits === 0 ? NOTHING : { texts: [cutAt(fits)], tokens };
}
