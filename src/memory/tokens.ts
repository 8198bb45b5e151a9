import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import { estimateTokens } from "../model/token-estimate.ts";

export { estimateTokens, isCjk } from "../model/token-estimate.ts";

/** Counts the tokens of a string. */
export interface TokenCounter {
  /** The name in screens and errors: "estimate", or the name of an encoding. */
  readonly name: string;
  count(text: string): number | Promise<number>;
}

export const estimatedTokens: TokenCounter = { name: "estimate", count: estimateTokens };

const PER_MESSAGE = 4;
/** Tokens of a picture of unknown size, as providers count it at most. */
const PER_IMAGE = 1_024;

export function messageTokens(message: ChatMessage, counter: TokenCounter): number {
  const { content, name, toolCalls = [], images = [], reasoning } = message;
  const thoughts = reasoning === undefined ? "" : JSON.stringify(reasoning);
  const words = [content, name, thoughts, ...toolCalls.flatMap((call) => [call.function.name, call.function.arguments])];
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
