import type { Clock } from "../kernel/clock.ts";
import type { ModelPrice } from "../model/price.ts";
import { throwIfAborted, untilAborted, withTimeout } from "../kernel/abort.ts";
import { ControlError, MemoryError, UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { contentHash } from "../kernel/json.ts";
import { beginningOf, charactersAndPairs, runsOf, stableHash } from "./text-terms.ts";

export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
  /** Some models embed queries and documents in different ways. Default `document`. */
  readonly kind?: "document" | "query" | undefined;
  /** Send the request once: the caller retries. Default false. */
  readonly isOneTry?: boolean | undefined;
  /** Called with the tokens of the call, if the server reports them. */
  readonly onUsage?: ((usage: { readonly inputTokens: number }) => void) | undefined;
}

/** Turns strings into vectors, so that similar strings are close to each other. Port. */
export interface Embedder {
  /** Names the model and every setting that changes its vectors. Stored vectors of another id are computed again. */
  readonly id: string;
  /** Numbers of a vector. Default: those of the first vector. */
  readonly dimensions?: number | undefined;
  /** Limit on the strings per call. */
  readonly maxBatch: number;
  /** Limit on the characters per string. Only the beginning of a longer string is embedded. */
  readonly maxChars: number;
  /** The cosine similarity below which two strings are unrelated. It depends on the model. */
  readonly threshold: number;
  /** The model's name, by which its price is looked up. */
  readonly model?: string | undefined;
  /** The price, for a model that is not in the price table. */
  readonly price?: ModelPrice | undefined;
  /** The vectors depend on the strings alone and cost nothing, so a run does not record them. Default false. */
  readonly isFree?: boolean | undefined;
  /** Returns one vector for each string, in order. A vector of zeros means that the string cannot be embedded. */
  embed(texts: readonly string[], o?: EmbedOptions): Promise<readonly ArrayLike<number>[]>;
}

export interface EmbedLimits extends EmbedOptions {
  readonly clock: Clock;
  readonly timeout: number | undefined;
  readonly dimensions?: number | undefined;
}

/** The vectors of consecutive strings; undefined if one cannot be embedded. */
export interface EmbeddedBatch {
  readonly from: number;
  readonly vectors: readonly (Float32Array | undefined)[];
}

/** Changes when vectors are stored or computed differently. */
const VECTOR_VERSION = 1;

/** The rounding error of the square of a unit vector in 32-bit numbers. */
const UNIT = 1e-6;

export function fingerprintOf(embedder: Embedder): string {
  return contentHash([VECTOR_VERSION, embedder.id, embedder.dimensions ?? null]).slice(0, 32);
}

/** Empty for a blank text, because servers refuse a batch with one. */
export function embeddable(embedder: Pick<Embedder, "maxChars">, text: string): string {
  return beginningOf(text, embedder.maxChars).trim();
}

/**
 * Embeds batch by batch. Each batch is checked and yielded before the next, so a failure loses no earlier batch.
 *
 * @throws MemoryError `EMBEDDING_FAILED`, `EMBEDDING_INVALID`, `EMBEDDING_DIMENSION`; ControlError when the signal aborts
 */
export async function* embedBatches(embedder: Embedder, texts: readonly string[], limits: EmbedLimits): AsyncGenerator<EmbeddedBatch> {
  const step = Math.max(1, Math.floor(embedder.maxBatch));
  let dimensions = limits.dimensions ?? embedder.dimensions;
  for (let from = 0; from < texts.length; from += step) {
    throwIfAborted(limits.signal);
    const asked = texts.slice(from, from + step).map((text) => embeddable(embedder, text));
    const full = asked.filter((text) => text !== "");
    const raw = full.length === 0 ? [] : await called(embedder, full, limits);
    if (raw.length !== full.length) {
      throw new MemoryError(
        "EMBEDDING_INVALID",
        `Expected ${full.length} vectors from embedder ${embedder.id}, got ${raw.length}. Use an embedder that answers every string.`,
      );
    }
    const made = raw.map((vector) => {
      dimensions ??= vector.length;
      if (vector.length !== dimensions) throw otherDimension(embedder, dimensions, vector.length);
      return unitVector(vector, embedder.id);
    });
    let next = 0;
    yield { from, vectors: asked.map((text) => (text === "" ? undefined : made[next++])) };
  }
}

export async function embedQuery(embedder: Embedder, text: string, limits: EmbedLimits): Promise<Float32Array | undefined> {
  for await (const { vectors } of embedBatches(embedder, [text], { ...limits, kind: "query" })) return vectors[0];
  return undefined;
}

async function called(embedder: Embedder, texts: readonly string[], limits: EmbedLimits): Promise<readonly ArrayLike<number>[]> {
  const { clock, timeout, signal = new AbortController().signal, kind = "document" } = limits;
  const what = `embedder ${embedder.id} over ${texts.length} texts`;
  const call = (inner: AbortSignal): ReturnType<Embedder["embed"]> => embedder.embed(texts, { signal: inner, kind });
  try {
    return await (timeout === undefined ? untilAborted(call(signal), signal) : withTimeout(clock, timeout, what, signal, call));
  } catch (error) {
    if (error instanceof ControlError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new MemoryError("EMBEDDING_FAILED", `Expected vectors from embedder ${embedder.id}, but it failed: ${why} Try again later.`, {
      cause: error,
    });
  }
}

/** Returns the vector scaled to length 1; undefined for one of zeros. @throws MemoryError `EMBEDDING_INVALID` for a value that is not finite */
export function unitVector(vector: ArrayLike<number>, source: string): Float32Array | undefined {
  let sum = 0;
  for (let n = 0; n < vector.length; n++) {
    const value = vector[n];
    if (typeof value !== "number" || !Number.isFinite(value)) throw noNumber(value, n, source);
    sum += value * value;
  }
  if (sum === Infinity) throw noNumber("numbers whose squares overflow", 0, source);
  if (sum === 0) return undefined;
  if (vector instanceof Float32Array && Math.abs(sum - 1) < UNIT) return vector;
  const length = Math.sqrt(sum);
  return Float32Array.from(vector, (value) => value / length);
}

/** The product of two vectors of equal length. Four sums, because the processor can add them in parallel. */
export function dotProduct(a: Float32Array, b: Float32Array): number {
  const whole = a.length & ~3;
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let n = 0; n < whole; n += 4) {
    first += (a[n] as number) * (b[n] as number);
    second += (a[n + 1] as number) * (b[n + 1] as number);
    third += (a[n + 2] as number) * (b[n + 2] as number);
    fourth += (a[n + 3] as number) * (b[n + 3] as number);
  }
  for (let n = whole; n < a.length; n++) first += (a[n] as number) * (b[n] as number);
  return first + second + third + fourth;
}

function noNumber(value: unknown, index: number, source: string): MemoryError {
  return new MemoryError(
    "EMBEDDING_INVALID",
    `Expected a vector of finite numbers from ${source}, got ${String(value)} at index ${index}. Repair the embedder; nothing of the batch was kept.`,
  );
}

function otherDimension(embedder: Embedder, expected: number, came: number): MemoryError {
  return new MemoryError(
    "EMBEDDING_DIMENSION",
    `Expected vectors of ${expected} numbers from embedder ${embedder.id}, got one of ${came}. If its model has changed, give it another id, or call rebuild() to make all vectors again.`,
    { data: { expected, came } },
  );
}

/** Weights of features relative to a whole word. Pieces match misspelt and inflected words, but carry less meaning. */
const PIECE = 0.35;
const PAIR = 0.5;
/** Words up to this length are mostly function words. */
const SHORT = 3;
const SHORT_WORD = 0.4;
const MAX_CHARS = 20_000;

export interface HashingOptions {
  /** Numbers of a vector, 16 or more. Default 512. */
  readonly dimensions?: number | undefined;
}

const hashingOptions: Known<HashingOptions> = { dimensions: kinds.size };

/**
 * An embedder without a network or a model: it hashes words, pairs of words and pieces of words into a vector, and in Chinese, Japanese and
 * Korean characters and pairs of them. Strings that share features are similar. It finds no synonyms and no matches across languages.
 *
 * @throws UsageError `OPTION_INVALID`
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

/** Each feature has two indexes with a sign each, so that collisions cancel out on average. */
function addFeature(vector: Float32Array, feature: string, weight: number): void {
  for (const seed of [1, 2]) {
    const hash = stableHash(feature, seed);
    const index = (hash >>> 1) % vector.length;
    vector[index] = (vector[index] as number) + ((hash & 1) === 0 ? weight : -weight);
  }
}

function piecesOf(word: string): string[] {
  if (word.length <= SHORT) return [];
  const marked = `^${word}$`;
  return Array.from({ length: marked.length - 2 }, (_, n) => marked.slice(n, n + 3));
}
