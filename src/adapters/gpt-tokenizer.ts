import { aText, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { estimateTokens, type TokenCounter } from "../memory/tokens.ts";
import { optionalPackage } from "./optional-package.ts";

/** Options of {@link gptTokenizer}. */
export interface GptTokenizerOptions {
  /** A model's name at its provider, for example "gpt-5-mini" or "openai/gpt-4o". */
  readonly model: string;
}

const gptTokenizerOptions: Known<GptTokenizerOptions> = { model: kinds.text };

type Encoding = "o200k_base" | "o200k_harmony" | "cl100k_base";
type Count = (text: string, options: { readonly disallowedSpecial: Set<string> }) => number;

/** Encodings by the name of the model; the first match counts. Other providers do not publish theirs. */
const ENCODINGS: readonly (readonly [RegExp, Encoding])[] = [
  [/^gpt-oss/, "o200k_harmony"],
  [/^(chatgpt-4o|gpt-4o|gpt-4\.\d|gpt-[5-9]|o\d|codex)/, "o200k_base"],
  [/^(gpt-4|gpt-3\.5|text-embedding-)/, "cl100k_base"],
];

const LOADERS: Readonly<Record<Encoding, () => Promise<{ readonly countTokens: Count }>>> = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  o200k_harmony: () => import("gpt-tokenizer/encoding/o200k_harmony"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
};

/** Limit on the characters of a piece. The tokenizer takes quadratic time for text without spaces: fifty thousand equal letters take two seconds. */
const PIECE = 2000;
/** Counts `<|endoftext|>` in a text as plain characters; without this the tokenizer throws. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * Counts tokens exactly for OpenAI's models and by estimate for others. The `gpt-tokenizer` package and the encoding's data (2 MB) are loaded
 * with the first count; when the package is missing, that count is refused with UsageError `PACKAGE_MISSING`.
 *
 * A text is counted in pieces of at most 2000 characters that end at a space if possible. A longer run without a space may count a token
 * or two too many.
 *
 * @example
 * import { defineRole } from "troupe";
 * import { gptTokenizer } from "troupe/tokens";
 *
 * export const role = defineRole({ name: "Ada", memory: { tokens: gptTokenizer({ model: "gpt-5-mini" }) } });
 */
export function gptTokenizer(options: GptTokenizerOptions): TokenCounter {
  checkGivenOptions("gptTokenizer", options, gptTokenizerOptions);
  const { model } = options;
  takes("gptTokenizer", "model", model, aText);
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const encoding = ENCODINGS.find(([pattern]) => pattern.test(name))?.[1];
  if (encoding === undefined) return { name: "estimate", count: estimateTokens };
  let loading: ReturnType<(typeof LOADERS)[Encoding]> | undefined;
  return {
    name: encoding,
    async count(text) {
      const { countTokens } = await (loading ??= optionalPackage("gpt-tokenizer", "4", LOADERS[encoding]));
      let sum = 0;
      for (const piece of piecesOf(text)) sum += countTokens(piece, PLAIN_TEXT);
      return sum;
    },
  };
}

function* piecesOf(text: string): Generator<string, void> {
  for (let start = 0; start < text.length;) {
    const end = Math.min(start + PIECE, text.length);
    const cut = end === text.length ? end : lastBreak(text, start, end);
    yield text.slice(start, cut);
    start = cut;
  }
}

/** A space between two words belongs to the word after it in every encoding, so a cut before it changes no count. */
function lastBreak(text: string, start: number, end: number): number {
  for (let place = end; place > start + 1; place--) {
    if (text[place] === " " && isLetter(text[place - 1]) && isLetter(text[place + 1])) return place;
  }
  return isLowHalf(text.charCodeAt(end)) ? end - 1 : end;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /\p{L}/u.test(character);
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
