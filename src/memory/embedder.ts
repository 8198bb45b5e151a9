import type { Clock } from "../kernel/clock.ts";
import type { ModelPrice } from "../model/price.ts";
import { throwIfAborted, untilAborted, withTimeout } from "../kernel/abort.ts";
import { ControlError, MemoryError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import { squareOf } from "./vector-math.ts";

/** How a call to an embedder may end, and what for its vectors are. */
export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
  /** Some models embed what is asked and what is kept in different ways. Default `document`. */
  readonly kind?: "document" | "query" | undefined;
  /** Send it once: whoever asks tries again. Default false. */
  readonly isOneTry?: boolean | undefined;
  /** Told how many tokens the call took, where the model's server tells it. */
  readonly onUsage?: ((usage: { readonly inputTokens: number }) => void) | undefined;
}

/** Turns texts into vectors, so that what means (or reads) alike lies close together. Port. */
export interface Embedder {
  /** Names the model and every setting that changes its vectors: vectors of another id are made again. */
  readonly id: string;
  /** Numbers in a vector. Without it the first vector decides. */
  readonly dimensions?: number | undefined;
  /** Most texts of one call. */
  readonly maxBatch: number;
  /** Most characters of one text: what is longer is known by its beginning. */
  readonly maxChars: number;
  /** The cosine similarity below which two texts have nothing to do with each other. Models differ in it. */
  readonly threshold: number;
  /** The model's name, by which its price is looked up. */
  readonly model?: string | undefined;
  /** What it costs, where that is no model of the list of prices. */
  readonly price?: ModelPrice | undefined;
  /** Its vectors follow from the texts alone and cost nothing: in a run they need no record. Default false. */
  readonly isFree?: boolean | undefined;
  /** One vector for each text, in order. A vector of zeros says that the text cannot be embedded. */
  embed(texts: readonly string[], o?: EmbedOptions): Promise<readonly ArrayLike<number>[]>;
}

/** What bounds the calls of one job. */
export interface EmbedLimits extends EmbedOptions {
  readonly clock: Clock;
  /** Milliseconds for one batch; undefined for an embedder that bounds its calls itself. */
  readonly timeout: number | undefined;
  /** Numbers that a vector must have, when it is known. */
  readonly dimensions?: number | undefined;
}

/** The vectors of some texts that follow each other; undefined where a text cannot be embedded. */
export interface EmbeddedBatch {
  readonly from: number;
  readonly vectors: readonly (Float32Array | undefined)[];
}

/** Changes when vectors are kept or computed in another way than before. */
const VECTOR_VERSION = 1;

/** How far from 1 the square of a length of 1 may lie, in 32-bit numbers. */
const UNIT = 1e-6;

/** By what stored vectors are known to be this embedder's. */
export function fingerprintOf(embedder: Embedder): string {
  return contentHash([VECTOR_VERSION, embedder.id, embedder.dimensions ?? null]).slice(0, 32);
}

/** What of a text is embedded; nothing of a blank one, which servers refuse together with its whole batch. */
export function embeddable(embedder: Pick<Embedder, "maxChars">, text: string): string {
  // A character of two code units is not cut in its middle.
  return text
    .slice(0, embedder.maxChars)
    .replace(/[\ud800-\udbff]$/, "")
    .trim();
}

/**
 * Embeds texts batch by batch, each checked before it is given out, so that what came before a failure is not lost.
 *
 * @throws MemoryError `EMBEDDING_FAILED` when the embedder failed or took too long; `EMBEDDING_INVALID` when it gave too few vectors, or
 * numbers that are none; `EMBEDDING_DIMENSION` when a vector has another length. ControlError when the signal aborts.
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
        `Expected ${full.length} vectors from embedder ${embedder.id}, got ${raw.length}. Use an embedder that answers every text.`,
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

/** The vector of one text, or undefined when it cannot be embedded. @throws as {@link embedBatches} */
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

/**
 * The same direction at length 1, and the very same vector if it has that; undefined for a vector without any.
 *
 * @throws MemoryError `EMBEDDING_INVALID` for what is not a finite number
 */
export function unitVector(vector: ArrayLike<number>, source: string): Float32Array | undefined {
  const narrow = vector instanceof Float32Array ? vector : undefined;
  let sum = 0;
  if (narrow !== undefined) {
    if (Math.abs(squareOf(narrow) - 1) < UNIT) return narrow;
    // Squares of 32-bit numbers always fit into 64 bits.
    for (let n = 0; n < narrow.length; n++) sum += (narrow[n] as number) * (narrow[n] as number);
    if (sum > 0 && sum < Infinity) return scaled(narrow, 1 / Math.sqrt(sum));
  }
  let largest = 0;
  for (let n = 0; n < vector.length; n++) {
    const value = vector[n];
    if (typeof value !== "number" || !Number.isFinite(value)) throw noNumber(value, n, source);
    largest = Math.max(largest, Math.abs(value));
  }
  if (largest === 0) return undefined;
  // Divided by the largest first: squares of very large or very small numbers do not fit.
  const wide = Float64Array.from(vector, (value) => value / largest);
  for (const value of wide) sum += value * value;
  return scaled(wide, 1 / Math.sqrt(sum));
}

function scaled(vector: Float32Array | Float64Array, factor: number): Float32Array {
  const unit = new Float32Array(vector.length);
  for (let n = 0; n < unit.length; n++) unit[n] = (vector[n] as number) * factor;
  return unit;
}

function noNumber(value: unknown, place: number, source: string): MemoryError {
  return new MemoryError(
    "EMBEDDING_INVALID",
    `Expected a vector of finite numbers from ${source}, got ${String(value)} at place ${place}. Mend the embedder; nothing was kept of it.`,
  );
}

function otherDimension(embedder: Embedder, expected: number, came: number): MemoryError {
  return new MemoryError(
    "EMBEDDING_DIMENSION",
    `Expected vectors of ${expected} numbers from embedder ${embedder.id}, got one of ${came}. If its model has changed, give it another id, or call rebuild() to make all vectors again.`,
    { data: { expected, came } },
  );
}
