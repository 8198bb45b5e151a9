import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ChatMessage } from "../model/chat-message.ts";

/** Something that tells how many tokens a text is. */
export interface TokenCounter {
  /** What counts, as screens and errors tell it: "estimate", or the name of an encoding. */
  readonly name: string;
  count(text: string): number | Promise<number>;
}

const CHARACTERS_PER_TOKEN = 4;

/** Characters that are words or syllables of their own: a tokenizer gives about one token to each. Ranges of UTF-16 code units. */
const CJK: readonly (readonly [number, number])[] = [
  [0x1100, 0x11ff],
  [0x2e80, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7ff],
  // The high halves of the supplementary ideographs; their low halves count as nothing.
  [0xd840, 0xd88c],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xffef],
];

/** What may be a word of its own; most texts hold none of it, and need not be read one by one. */
const WIDE = /[\u1100-\uffff]/;

/**
 * How many tokens a text is, near enough to decide whether it is long: a quarter of its characters, and one for each Chinese, Japanese or
 * Korean character, of which a quarter would tell less than half.
 */
export function estimateTokens(text: string): number {
  if (!WIDE.test(text)) return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  let cjk = 0;
  let others = 0;
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place);
    if (isCjk(unit)) {
      cjk++;
      if (isHighHalf(unit)) place++;
    } else others++;
  }
  return cjk + Math.ceil(others / CHARACTERS_PER_TOKEN);
}

/** {@link estimateTokens} as a counter: needs nothing, and is what is used when no other is given. */
export const estimatedTokens: TokenCounter = { name: "estimate", count: estimateTokens };

/** Whether a UTF-16 code unit begins a character that is about one token. */
export function isCjk(unit: number): boolean {
  return unit >= 0x1100 && CJK.some(([first, last]) => unit >= first && unit <= last);
}

function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** What every message costs besides its words. */
const PER_MESSAGE = 4;
/** A picture whose size nobody knows, as providers count it at most. */
const PER_IMAGE = 1_024;

/**
 * How many tokens a message is, near enough for a window.
 *
 * @throws UsageError `TOKENS_INVALID` when the counter gives no number at once.
 */
export function messageTokens(message: ChatMessage, counter: TokenCounter): number {
  const { content, name, toolCalls = [], images = [] } = message;
  const words = [content, name, ...toolCalls.flatMap((call) => [call.function.name, call.function.arguments])];
  const counted = words.map((text) => (text === undefined || text === "" ? 0 : tokensOf(text, counter)));
  return counted.reduce((sum, tokens) => sum + tokens, PER_MESSAGE + images.length * PER_IMAGE);
}

function tokensOf(text: string, counter: TokenCounter): number {
  const tokens = counter.count(text);
  if (typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0) return tokens;
  throw new UsageError(
    "TOKENS_INVALID",
    `Expected the token counter "${counter.name}" to give a number of 0 or more at once, got ${valueText(tokens)}. A chat memory cannot wait for one.`,
  );
}
