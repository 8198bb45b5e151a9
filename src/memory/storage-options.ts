import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";
import type { Embedder } from "./embedder.ts";
import type { VectorIndex } from "./exact-index.ts";
import type { Shape } from "../kernel/argument.ts";
import type { Scope } from "../kernel/scope.ts";
import { checkScope, type MemoryScope, scopeKey } from "./memory-scope.ts";
import { inMemoryStore, type MessageStore } from "./message-store.ts";
import { type LexicalIndex, minisearch } from "./word-index.ts";

/** Options of one call. */
export interface StorageCall {
  /** The run of the message. Default: the run of the storage. */
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const storageCall: Known<StorageCall> = { runId: kinds.text, signal: kinds.signal };

export function callOf(what: string, o: StorageCall): StorageCall {
  checkKnownOptions(what, o, storageCall);
  return o;
}

/** Options of a {@link MemoryStorage}. */
export interface MemoryStorageOptions {
  /** Any text. It separates the roles of one store. */
  readonly roleId: string;
  /** Whose memory of the role it is. Default: one for everybody. */
  readonly scope?: Scope | undefined;
  /** The run of added messages: ids are unique only within a run. Default: none. */
  readonly runId?: string | undefined;
  /** Stores the messages. Default: the memory of this process. `sqliteStore({ path })` of `troupe/sqlite` stores them on disk. */
  readonly store?: MessageStore | undefined;
  /** Finds messages by meaning, or by features of their words as `hashingEmbedder()` does. Default: none; they are found by words. */
  readonly embedder?: Embedder | undefined;
  /** Belongs to this storage alone, and needs an embedder. Default: `exactIndex()`. */
  readonly index?: VectorIndex | undefined;
  /** Finds messages by their words. Belongs to this storage alone. Default: an index of words; with an embedder none. */
  readonly lexical?: LexicalIndex | undefined;
  /** Minimum similarity of a hit, from -1 to 1. It needs an embedder. Default: the embedder's. */
  readonly threshold?: number | undefined;
  /** Milliseconds after which a message is deleted. Default: never. */
  readonly ttl?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Milliseconds that one call to the embedder may take. Default 60,000. */
  readonly timeout?: number | undefined;
}

export const aSimilarity: Shape = {
  says: "a similarity from -1 to 1 (larger is closer)",
  fits: (value) => typeof value === "number" && value >= -1 && value <= 1,
};
const aName: Shape = { says: "a text that is not empty", fits: (value) => typeof value === "string" && value !== "" };
export const aDuration: Shape = { says: "milliseconds above 0", fits: (value) => typeof value === "number" && value > 0 };

const memoryStorageOptions: Known<MemoryStorageOptions> = {
  roleId: aName,
  scope: kinds.object,
  runId: kinds.text,
  store: kinds.messageStore,
  embedder: kinds.embedder,
  index: kinds.having("a vector index", "add", "search"),
  lexical: kinds.having("an index of words", "add", "search"),
  threshold: aSimilarity,
  ttl: aDuration,
  clock: kinds.clock,
  timeout: aDuration,
};

/** Options of a search. */
export interface SearchOptions {
  /** Limit on the hits. Default 4. */
  readonly k?: number | undefined;
  /** Minimum similarity of a hit, from -1 to 1. It needs a storage with an embedder. */
  readonly threshold?: number | undefined;
  /** Accepts a message of a run as a hit. */
  readonly filter?: ((message: Message, runId: string) => boolean) | undefined;
  /**
   * Search for words too, and merge both rankings by reciprocal rank. The threshold applies to vectors only. Default false. Without an
   * embedder the search is by words alone.
   */
  readonly hybrid?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Used instead of the storage's embedder: the same model, with recorded and limited calls. */
  readonly embedder?: Embedder | undefined;
}

/** The names of the options. @internal */
export const searchOptions: Known<SearchOptions> = {
  k: kinds.count,
  threshold: aSimilarity,
  filter: kinds.function,
  hybrid: kinds.boolean,
  signal: kinds.signal,
  embedder: kinds.embedder,
};

/** A message found by a search. */
export interface SimilarMessage {
  readonly message: Message;
  /**
   * Larger is closer. With an embedder the cosine similarity from -1 to 1, and 0 for a message without a vector. Without an embedder the BM25
   * score, above 0 and comparable within one answer only.
   */
  readonly score: number;
  /** The run of the message; empty outside runs. */
  readonly runId: string;
}

/** The validated options with their defaults. */
export interface StorageParts {
  readonly scope: MemoryScope;
  /** The key of the scope in the store. */
  readonly roleId: string;
  readonly runId: string;
  readonly store: MessageStore;
  /** Undefined for a search by words alone. */
  readonly vectors: VectorParts | undefined;
  readonly lexical: LexicalIndex | undefined;
  readonly ttl: number | undefined;
  readonly clock: Clock;
}

/** The parts that compute and search vectors. */
export interface VectorParts {
  readonly embedder: Embedder;
  /** The index that the user gave. */
  readonly index: VectorIndex | undefined;
  readonly threshold: number;
  /** Milliseconds that one call to the embedder may take. */
  readonly timeout: number;
}

const TIMEOUT = 60_000;
/** Default number of found messages. */
export const FOUND = 4;

export function partsOf(options: MemoryStorageOptions): StorageParts {
  checkGivenOptions("new MemoryStorage", options, memoryStorageOptions);
  if (options.roleId === undefined) throw invalid("roleId", aName.says, undefined);
  const { roleId, runId = "", ttl, timeout = TIMEOUT, embedder, lexical } = options;
  if (embedder === undefined) assertNoVectorOptions(options);
  checkScope("the scope of a long-term memory", options.scope);
  const scope: MemoryScope = { ...options.scope, role: roleId };
  const { store = inMemoryStore() } = options;
  const base = { scope, roleId: scopeKey(scope), runId, store, ttl, clock: options.clock ?? systemClock };
  if (embedder === undefined) return { ...base, vectors: undefined, lexical: lexical ?? minisearch() };
  const { threshold = embedder.threshold } = options;
  return { ...base, vectors: { embedder, index: options.index, threshold, timeout }, lexical };
}

/**
 * Rejects options of vectors where there is no embedder.
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

export function embedderOf(
  { embedder, timeout }: VectorParts,
  given: Embedder | undefined,
): { readonly embedder: Embedder; readonly timeout: number | undefined } {
  if (given === undefined || given === embedder) return { embedder, timeout };
  if (given.id !== embedder.id) throw invalid("embedder", `the storage's own model, ${embedder.id}`, given.id);
  return { embedder: given, timeout: undefined };
}

export function checkSearch({ vectors, lexical }: StorageParts, o: SearchOptions): void {
  checkKnownOptions("searchSimilar", o, searchOptions);
  if (vectors === undefined) {
    assertNoVectorOptions(o, "in a search of a memory");
    if (o.embedder === undefined) return;
    throw new UsageError(
      "OPTION_INVALID",
      "Expected a storage with an embedder for a search that brings one, got one that looks for words. Give the storage the same embedder.",
    );
  }
  if (o.hybrid === true && lexical === undefined) {
    throw new UsageError(
      "OPTION_INVALID",
      "Expected a storage with a lexical index for a hybrid search, got one without. Give it the option lexical.",
    );
  }
}

function invalid(option: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${option} of a long-term memory to be ${expected}, got ${String(came)}.`);
}
