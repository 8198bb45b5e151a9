import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";
import type { Embedder } from "./embedder.ts";
import { exactIndex } from "./exact-index.ts";
import { inMemoryStore } from "./in-memory-store.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import type { MessageStore } from "./message-store.ts";
import type { VectorIndex } from "./vector-index.ts";
import { minisearch } from "./word-index.ts";

/** Whose long-term memory it is, and what it is made of. */
export interface MemoryStorageOptions {
  /** Any text: it keeps roles of one store apart. */
  readonly roleId: string;
  /** The run that messages are added in: ids are unique within one only. Default: none. */
  readonly runId?: string | undefined;
  /** Where messages stay. Default: the memory of this process. `sqliteStore({ path })` of `troupe/sqlite` keeps them on disk. */
  readonly store?: MessageStore | undefined;
  /** Finds messages by what they mean, or by features of their words as `hashingEmbedder()` does. Default: none; they are found by words. */
  readonly embedder?: Embedder | undefined;
  /** Default: `exactIndex()`. It serves this storage alone, and needs an embedder. */
  readonly index?: VectorIndex | undefined;
  /** Finds messages by their words. It serves this storage alone. Default: an index of words; with an embedder none. */
  readonly lexical?: LexicalIndex | undefined;
  /** Similarity from -1 to 1 that a hit must have. It needs an embedder. Default: the embedder's. */
  readonly threshold?: number | undefined;
  /** Milliseconds after which a message is forgotten. Default: never. */
  readonly ttl?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Milliseconds that one call to the embedder may take. Default 60,000. */
  readonly timeout?: number | undefined;
}

const memoryStorageOptions: Known<MemoryStorageOptions> = {
  roleId: true,
  runId: true,
  store: true,
  embedder: true,
  index: true,
  lexical: true,
  threshold: true,
  ttl: true,
  clock: true,
  timeout: true,
};

/** What is looked for. */
export interface SearchOptions {
  /** How many at most. Default 4. */
  readonly k?: number | undefined;
  /** Similarity from -1 to 1 that a hit must have. It needs a storage with an embedder. */
  readonly threshold?: number | undefined;
  /** Only messages it accepts; told the run each was said in. */
  readonly filter?: ((message: Message, runId: string) => boolean) | undefined;
  /**
   * Look for words too, and merge both rankings by reciprocal rank. The threshold is for what is found by its vector. Default false. Without
   * an embedder words are all there is to look for.
   */
  readonly hybrid?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asked in the place of the storage's own: the same model, through a door that records its calls and bounds their time. */
  readonly embedder?: Embedder | undefined;
}

/** Their names. @internal */
export const searchOptions: Known<SearchOptions> = { k: true, threshold: true, filter: true, hybrid: true, signal: true, embedder: true };

/** A message that was found. */
export interface SimilarMessage {
  readonly message: Message;
  /**
   * Bigger is closer. With an embedder the cosine similarity from -1 to 1, 0 for a message that has no vector; without, how well the words
   * fit (BM25), above 0 and comparable within one answer only.
   */
  readonly score: number;
  /** The run it was said in; empty outside runs. */
  readonly runId: string;
}

/** The options, checked and filled up. */
export interface StorageParts {
  readonly roleId: string;
  readonly runId: string;
  readonly store: MessageStore;
  /** What finds messages by vectors; undefined where words alone do. */
  readonly vectors: VectorParts | undefined;
  readonly lexical: LexicalIndex | undefined;
  readonly ttl: number | undefined;
  readonly clock: Clock;
}

/** What makes vectors, and finds messages by them. */
export interface VectorParts {
  readonly embedder: Embedder;
  readonly index: VectorIndex;
  readonly threshold: number;
  /** Milliseconds that one call to the embedder may take. */
  readonly timeout: number;
}

const TIMEOUT = 60_000;

/** @throws UsageError `OPTION_INVALID` */
export function partsOf(options: MemoryStorageOptions): StorageParts {
  checkGivenOptions("new MemoryStorage", options, memoryStorageOptions);
  const { roleId, runId = "", ttl, timeout = TIMEOUT, embedder, lexical } = options;
  if (typeof roleId !== "string" || roleId === "") throw invalid("roleId", "a text that is not empty", roleId);
  if (typeof runId !== "string") throw invalid("runId", "a text", runId);
  if (ttl !== undefined && !(ttl > 0)) throw invalid("ttl", "milliseconds above 0", ttl);
  if (!(timeout > 0)) throw invalid("timeout", "milliseconds above 0", timeout);
  if (embedder === undefined) assertNoVectorOptions(options);
  const base = { roleId, runId, store: options.store ?? inMemoryStore(), ttl, clock: options.clock ?? systemClock };
  if (embedder === undefined) return { ...base, vectors: undefined, lexical: lexical ?? minisearch() };
  const threshold = checkedThreshold(options.threshold ?? embedder.threshold);
  return { ...base, vectors: { embedder, index: options.index ?? exactIndex(), threshold, timeout }, lexical };
}

/**
 * What is for vectors alone is refused where no embedder makes any.
 *
 * @param whose `of a long-term memory`
 * @throws UsageError `OPTION_INVALID`
 */
export function assertNoVectorOptions(
  { threshold, index }: { readonly threshold?: unknown; readonly index?: unknown },
  whose: string = "of a long-term memory",
): void {
  if (threshold !== undefined) {
    throw new UsageError(
      "OPTION_INVALID",
      `Expected no threshold ${whose} without an embedder, got ${valueText(threshold)}: what is found by words has scores that can be compared within one answer only. Leave it out, or give an embedder, such as hashingEmbedder().`,
    );
  }
  if (index === undefined) return;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected no index of vectors ${whose} without an embedder, which would make them. Leave it out, or give an embedder, such as hashingEmbedder().`,
  );
}

/** Who makes the vectors of one call, and how long a batch may take. @throws UsageError `OPTION_INVALID` for another model's embedder */
export function voiceOf(
  { embedder, timeout }: VectorParts,
  given: Embedder | undefined,
): { readonly embedder: Embedder; readonly timeout: number | undefined } {
  if (given === undefined || given === embedder) return { embedder, timeout };
  if (given.id !== embedder.id) throw invalid("embedder", `the storage's own model, ${embedder.id}`, given.id);
  return { embedder: given, timeout: undefined };
}

/** @throws UsageError `OPTION_INVALID` for what is no similarity */
export function checkedThreshold(threshold: number): number {
  if (threshold >= -1 && threshold <= 1) return threshold;
  throw invalid("threshold", "a similarity from -1 to 1 (bigger is closer)", threshold);
}

/** @throws UsageError `OPTION_INVALID` */
export function checkedK(k: number): number {
  if (Number.isInteger(k) && k >= 0) return k;
  throw invalid("k", "a whole number of 0 or more", k);
}

function invalid(option: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${option} of a long-term memory to be ${expected}, got ${String(came)}.`);
}
