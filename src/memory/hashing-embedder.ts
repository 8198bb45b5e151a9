import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Embedder } from "./embedder.ts";
import { stableHash, charactersAndPairs, runsOf } from "./text-terms.ts";

/** Weights of features relative to a whole word. Pieces of words match misspelt and inflected words, but carry less meaning. */
const PIECE = 0.35;
const PAIR = 0.5;
/** Words up to this length are mostly function words. */
const SHORT = 3;
const SHORT_WORD = 0.4;
const MAX_CHARS = 20_000;

/** Options of {@link hashingEmbedder}. */
export interface HashingOptions {
  /** Numbers of a vector, 16 or more. Default 512. */
  readonly dimensions?: number | undefined;
}

const hashingOptions: Known<HashingOptions> = { dimensions: true };

/**
 * An embedder that needs no network, no model and no download: words, pairs of words, pieces of words and, where writing has no spaces
 * (Chinese, Japanese, Korean), characters and pairs of them, hashed into a vector.
 *
 * It is **lexical**: texts are alike when they share words or pieces of them. It does not know that a car is an automobile, finds no
 * paraphrase and nothing across languages. For that use an embedding model, such as `openaiEmbedder` from `troupe/openai`.
 *
 * @throws UsageError `OPTION_INVALID` for dimensions that are none
 * @example
 * import { createMessage, hashingEmbedder, MemoryStorage } from "troupe";
 *
 * const storage = new MemoryStorage({ roleId: "Ada", embedder: hashingEmbedder() });
 * await storage.add(createMessage("Bridges are built of stone."));
 * const [best] = await storage.searchSimilar("a stone bridge");
 * console.log((best?.score ?? 0) > 0.3); // true
 */
export function hashingEmbedder(options: HashingOptions = {}): Embedder {
  checkKnownOptions("hashingEmbedder", options, hashingOptions);
  const { dimensions = 512 } = options;
  if (!Number.isInteger(dimensions) || dimensions < 16) {
    throw new UsageError(
      "OPTION_INVALID",
      `Expected the dimensions of a hashing embedder to be a whole number from 16 on, got ${dimensions}.`,
    );
  }
  return {
    id: `hashing-2/${dimensions}`,
    dimensions,
    maxBatch: 256,
    maxChars: MAX_CHARS,
    threshold: 0.2,
    isFree: true,
    embed: (texts) => Promise.resolve(texts.map((text) => hashed(text, dimensions))),
  };
}

function hashed(text: string, dimensions: number): Float32Array {
  const weights = new Map<string, number>();
  const count = (feature: string, weight: number): void => void weights.set(feature, (weights.get(feature) ?? 0) + weight ** 2);
  let before = "";
  for (const run of runsOf(text)) {
    if (run.isCjk) {
      for (const term of charactersAndPairs(run.text)) count(`c${term}`, term.length > 1 ? 1 : PAIR);
      before = "";
      continue;
    }
    count(`w${run.text}`, run.text.length <= SHORT ? SHORT_WORD : 1);
    if (before !== "") count(`b${before} ${run.text}`, PAIR);
    for (const piece of piecesOf(run.text)) count(`p${piece}`, PIECE);
    before = run.text;
  }
  const vector = new Float32Array(dimensions);
  for (const [feature, squares] of weights) addFeature(vector, feature, Math.sqrt(squares));
  return vector;
}

/** Each feature has two places with a sign each, so that collisions cancel out on average. */
function addFeature(vector: Float32Array, feature: string, weight: number): void {
  for (const seed of [1, 2]) {
    const hash = stableHash(feature, seed);
    const place = (hash >>> 1) % vector.length;
    vector[place] = (vector[place] as number) + ((hash & 1) === 0 ? weight : -weight);
  }
}

/** The sequences of three letters of a word, with its ends marked. */
function piecesOf(word: string): string[] {
  if (word.length <= SHORT) return [];
  const marked = `^${word}$`;
  return Array.from({ length: marked.length - 2 }, (_, n) => marked.slice(n, n + 3));
}
