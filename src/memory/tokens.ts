import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ChatMessage } from "../model/chat-message.ts";

/** Counts the tokens of a string. */
export interface TokenCounter {
  /** The name in screens and errors: "estimate", or the name of an encoding. */
  readonly name: string;
  count(text: string): number | Promise<number>;
}

const CHARACTERS_PER_TOKEN = 4;

/** Characters that take about one token each, as ranges of UTF-16 code units. */
const CJK: readonly (readonly [number, number])[] = [
  [0x1100, 0x11ff],
  [0x2e80, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7ff],
  // The high surrogates of the supplementary ideographs; their low surrogates are not counted.
  [0xd840, 0xd88c],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xffef],
];

/** Most strings have none of these characters. */
const WIDE = /[\u1100-\uffff]/;

/** A quarter of the characters, and one for each Chinese, Japanese or Korean character. */
export function estimateTokens(text: string): number {
  if (!WIDE.test(text)) return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  let cjk = 0;
  let others = 0;
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n);
    if (isCjk(unit)) {
      cjk++;
      if (isHighHalf(unit)) n++;
    } else others++;
  }
  return cjk + Math.ceil(others / CHARACTERS_PER_TOKEN);
}

export const estimatedTokens: TokenCounter = { name: "estimate", count: estimateTokens };

export function isCjk(unit: number): boolean {
  return unit >= 0x1100 && CJK.some(([first, last]) => unit >= first && unit <= last);
}

function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

const PER_MESSAGE = 4;
/** Tokens of a picture of unknown size, as providers count it at most. */
const PER_IMAGE = 1_024;

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
