import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { MessageSizes } from "./compression.ts";
import type { Embedder } from "./embedder.ts";
import { MemoryDigest } from "./memory-digest.ts";
import { hashingEmbedder } from "./hashing-embedder.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import type { MessageStore } from "./message-store.ts";
import { memoryLine } from "./recall-prompt.ts";
import { estimatedTokens, type TokenCounter } from "./tokens.ts";
import type { VectorIndex } from "./vector-index.ts";

/** How much of what a role may recall goes to each part, from 0 to 1, together at most 1. What a part leaves, the next one may use. */
export interface RecallShares {
  /** What was summed up. It comes first. Default 0.2. */
  readonly summary?: number;
  /** The newest messages of the run, besides the news. Default 0.5. */
  readonly recent?: number;
  /** Older messages, also of other runs, that are like the question. Default 0.3. */
  readonly related?: number;
}

/** What a role recalls before it asks its model. */
export interface RecallOptions {
  /** Most tokens of all of it. Default 2,000; 0: nothing is recalled. */
  readonly maxTokens?: number;
  /** Where they are given, a share that is left out is 0. */
  readonly shares?: RecallShares;
  /** Related messages at most. Default 4. */
  readonly k?: number;
  /** Similarity from -1 to 1 that a related message must have. Default: the embedder's. */
  readonly threshold?: number;
}

/**
 * How a role remembers besides the messages of its run. It is a definition: one may serve any number of roles and runs, which keep apart
 * in the store by the names they are hired under.
 */
export interface RoleMemoryOptions {
  /** Where what it hears and says outlives the run, such as `sqliteStore({ path })`. Default: it ends with the run. */
  readonly store?: MessageStore;
  /** Default: `hashingEmbedder()`. */
  readonly embedder?: Embedder;
  /** Makes the index of one role. Default: `exactIndex`. */
  readonly index?: () => VectorIndex;
  /** Makes an index of words: then messages are also found by these. */
  readonly lexical?: () => LexicalIndex;
  /** Milliseconds after which a message is forgotten. Default: never. */
  readonly ttl?: number;
  /** Whether what leaves the recent messages is summed up by the role's model, or another one. Default false. */
  readonly summary?: boolean | { readonly model: ChatModel };
  readonly recall?: RecallOptions;
  /** Counts what is recalled; what it has to load, it loads with its first count. Default: an estimate. */
  readonly tokens?: TokenCounter;
}

/** The options, checked and filled up. */
export interface RoleMemoryParts extends Omit<RoleMemoryOptions, "recall" | "summary" | "tokens"> {
  readonly embedder: Embedder;
  readonly summary: { readonly model: ChatModel | undefined } | undefined;
  readonly tokens: TokenCounter;
  /** Of messages as they are recalled. */
  readonly sizes: MessageSizes;
  readonly digest: MemoryDigest;
  readonly maxTokens: number;
  readonly shares: Required<RecallShares>;
  readonly k: number;
  readonly threshold: number | undefined;
}

const MAX_TOKENS = 2_000;
const SHARES: Required<RecallShares> = { summary: 0.2, recent: 0.5, related: 0.3 };
const K = 4;
/** Sums of fractions are not exact. */
const EPSILON = 1e-9;

/**
 * How a role remembers: its own options over those of its team, field by field. Undefined: neither has any, or it shall not.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function roleMemoryParts(
  own: RoleMemoryOptions | false | undefined,
  shared: RoleMemoryOptions | undefined,
): RoleMemoryParts | undefined {
  if (own === false || (own === undefined && shared === undefined)) return undefined;
  const { recall, summary, tokens = estimatedTokens, embedder = hashingEmbedder(), ...rest } = { ...shared, ...own };
  const { maxTokens = MAX_TOKENS, shares, k = K, threshold } = { ...shared?.recall, ...recall };
  checkPorts({ ...rest, embedder }, summary);
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 0) throw invalid("memory.recall.maxTokens", "a whole number of 0 or more", maxTokens);
  if (!Number.isSafeInteger(k) || k < 0) throw invalid("memory.recall.k", "a whole number of 0 or more", k);
  if (threshold !== undefined && !(threshold >= -1 && threshold <= 1)) throw invalid("memory.recall.threshold", "from -1 to 1", threshold);
  return {
    ...rest,
    embedder,
    tokens,
    digest: new MemoryDigest(),
    sizes: new MessageSizes(tokens, (message) => `${memoryLine(message)}\n`),
    summary: summary === undefined || summary === false ? undefined : { model: summary === true ? undefined : summary.model },
    maxTokens,
    shares: checkedShares(shares),
    k,
    threshold,
  };
}

/** @throws UsageError `OPTION_INVALID` for what is no object of options */
export function checkRoleMemory(options: unknown): void {
  if (options === undefined || options === false) return;
  if (typeof options !== "object" || options === null) throw invalid("memory", "{ store, embedder, recall, ... } or false", options);
  roleMemoryParts(options, undefined);
}

function checkPorts({ store, embedder, index, lexical, ttl }: RoleMemoryOptions, summary: RoleMemoryOptions["summary"] | undefined): void {
  if (store !== undefined && !has(store, "add")) throw invalid("memory.store", "a message store", store);
  if (!has(embedder, "embed")) throw invalid("memory.embedder", "an embedder", embedder);
  if (index !== undefined && typeof index !== "function") throw invalid("memory.index", "a function that makes one", index);
  if (lexical !== undefined && typeof lexical !== "function") throw invalid("memory.lexical", "a function that makes one", lexical);
  if (ttl !== undefined && !(ttl > 0)) throw invalid("memory.ttl", "milliseconds above 0", ttl);
  const isSummary = summary === undefined || typeof summary === "boolean" || has(summary.model, "chat");
  if (!isSummary) throw invalid("memory.summary", "true, false or { model }", summary);
}

function has(port: unknown, method: string): boolean {
  return typeof port === "object" && port !== null && method in port;
}

function checkedShares(shares: RecallShares | undefined): Required<RecallShares> {
  if (shares === undefined) return SHARES;
  const { summary = 0, recent = 0, related = 0 } = shares;
  const all = { summary, recent, related };
  for (const [name, share] of Object.entries(all)) {
    if (!(share >= 0 && share <= 1)) throw invalid(`memory.recall.shares.${name}`, "from 0 to 1", share);
  }
  const sum = summary + recent + related;
  if (sum > 1 + EPSILON) throw invalid("memory.recall.shares", "together at most 1", sum);
  return all;
}

function invalid(option: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${option} to be ${expected}, got ${valueText(came)}. Leave it out for the default.`);
}
