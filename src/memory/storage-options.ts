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
  /** Any string. It separates the roles of one store. */
  readonly roleId: string;
  /** The scope of the memory. Default: one memory for all users. */
  readonly scope?: Scope | undefined;
  /** The run of added messages: ids are unique only within a run. Default: none. */
  readonly runId?: string | undefined;
  /** Stores the messages. Default: the memory of this process. `sqliteStore({ path })` of `troupe/sqlite` stores them on disk. */
  readonly store?: MessageStore | undefined;
  /** Finds messages by meaning, or by features of their words as `hashingEmbedder()` does. Default: none; they are found by words. */
  readonly embedder?: Embedder | undefined;
  /** Belongs to this storage alone, and needs an embedder. Default: `exactIndex()`. */
  readonly index?: VectorIndex | undefined;
  /** Finds messages by their words. Belongs to this storage alone, and excludes an embedder. Default: an index of words. */
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
const aName: Shape = { says: "a string that is not empty", fits: (value) => typeof value === "string" && value !== "" };
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
  readonly signal?: AbortSignal | undefined;
  /** Used instead of the storage's embedder: the same model, with recorded and limited calls. */
  readonly embedder?: Embedder | undefined;
}

export const searchOptions: Known<SearchOptions> = {
  k: kinds.count,
  threshold: aSimilarity,
  filter: kinds.function,
  signal: kinds.signal,
  embedder: kinds.embedder,
};

export type Search = SearchOptions & { readonly k: number };

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

export interface StorageParts {
  readonly scope: MemoryScope;
  /** The key of the scope in the store. */
  readonly roleId: string;
  readonly runId: string;
  readonly store: MessageStore;
  /** Undefined if messages are found by words. */
  readonly vectors: VectorParts | undefined;
  /** Undefined if messages are found by vectors. */
  readonly lexical: LexicalIndex | undefined;
  readonly ttl: number | undefined;
  readonly clock: Clock;
}

export interface VectorParts {
  readonly embedder: Embedder;
  readonly index: VectorIndex | undefined;
  readonly threshold: number;
  /** Milliseconds that one call to the embedder may take. */
  readonly timeout: number;
}

const TIMEOUT = 60_000;
export const FOUND = 4;

export function partsOf(options: MemoryStorageOptions): StorageParts {
  checkGivenOptions("new MemoryStorage", options, memoryStorageOptions);
  if (options.roleId === undefined) throw invalid("roleId", aName.says, undefined);
  const { roleId, runId = "", ttl, timeout = TIMEOUT, embedder, index, lexical, clock = systemClock, store = inMemoryStore() } = options;
  checkVectorOptions(options, "of a long-term memory");
  checkScope("the scope of a long-term memory", options.scope);
  const scope: MemoryScope = { ...options.scope, role: roleId };
  const base = { scope, roleId: scopeKey(scope), runId, store, ttl, clock };
  if (embedder === undefined) return { ...base, vectors: undefined, lexical: lexical ?? minisearch() };
  const { threshold = embedder.threshold } = options;
  return { ...base, vectors: { embedder, index, threshold, timeout }, lexical: undefined };
}

export function checkVectorOptions(
  { embedder, threshold, index, lexical }: { readonly [Name in "embedder" | "threshold" | "index" | "lexical"]?: unknown },
  whose: string,
): void {
  if (embedder !== undefined && lexical !== undefined) {
    const text = `Expected embedder or lexical ${whose}, got both: with an embedder, messages are found by vectors alone. Leave one out.`;
    throw new UsageError("OPTION_INVALID", text);
  }
  const [name, value] = Object.entries({ threshold, index }).find(([, given]) => given !== undefined) ?? [];
  if (embedder !== undefined || name === undefined) return;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected no ${name} ${whose} without an embedder, got ${valueText(value)}: it is for vectors. Leave it out, or give an embedder, such as hashingEmbedder().`,
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

export function checkSearch({ vectors }: StorageParts, o: SearchOptions): void {
  checkKnownOptions("searchSimilar", o, searchOptions);
  if (vectors !== undefined) return;
  checkVectorOptions({ threshold: o.threshold }, "in a search of a memory");
  if (o.embedder !== undefined) throw invalid("embedder", "absent in a search of a storage without one", o.embedder.id);
}

function invalid(option: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${option} of a long-term memory to be ${expected}, got ${String(came)}.`);
}
