import { isObject } from "../kernel/value-kind.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { MessageSizes } from "./summary-levels.ts";
import type { Embedder } from "./embedder.ts";
import { type LexicalIndex, minisearch } from "./word-index.ts";
import type { VectorIndex } from "./exact-index.ts";
import { MEMORY_REACHES, type MemoryReach } from "./memory-scope.ts";
import type { MessageStore } from "./message-store.ts";
import { MemoryDigest, memoryLine } from "./recall-window.ts";
import { assertNoVectorOptions } from "./storage-options.ts";
import { estimatedTokens, type TokenCounter } from "./tokens.ts";

/** The shares of the recall budget, from 0 to 1, together at most 1. The next part may use what one part leaves. */
export interface RecallShares {
  /** The summary. It comes first. Default 0.2. */
  readonly summary?: number;
  /** The newest messages of the run, besides the news. Default 0.5. */
  readonly recent?: number;
  /** Older messages, also of other runs, that are similar to the question. Default 0.3. */
  readonly related?: number;
}

/** Options of the recall before a role asks its model. */
export interface RecallOptions {
  /** Most recalled tokens. Default 2,000; 0: nothing is recalled. */
  readonly maxTokens?: number;
  /** When given, an omitted share is 0. */
  readonly shares?: RecallShares;
  /** Related messages at most, besides their neighbours. Default 4. */
  readonly k?: number;
  /** Least similarity of a related message, from -1 to 1. It needs an embedder. Default: the embedder's. */
  readonly threshold?: number;
  /**
   * Messages before and after a related one, in its own run, that are recalled with it if they fit: they often contain the answer.
   * Default 1; 0: none.
   */
  readonly neighbours?: number;
  /** Most milliseconds of the embedder for one recall, at most half of the role's `timeout`. Default 30,000. */
  readonly timeout?: number;
}

const recallOptions: Known<RecallOptions> = {
  maxTokens: kinds.checked,
  shares: kinds.record(kinds.number),
  k: kinds.checked,
  threshold: kinds.number,
  neighbours: kinds.checked,
  timeout: kinds.checked,
};

/**
 * Options of the long-term memory of a role. One object may serve any number of roles and runs: the store separates them by the names of the
 * hired roles, and by the scopes of their runs.
 */
export interface RoleMemoryOptions {
  /** Stores messages beyond the run, such as `sqliteStore({ path })`. Default: they end with the run. */
  readonly store?: MessageStore;
  /** Finds messages by meaning, such as `openaiEmbedder(...)`. Default: none; messages are found by their words. */
  readonly embedder?: Embedder;
  /** Makes the index of vectors of one role. It needs an embedder. Default: the store's `nearest` where it is available, else `exactIndex`. */
  readonly index?: () => VectorIndex;
  /** Makes an index of words, to find messages by words too. Default: `minisearch` of `troupe/minisearch`; with an embedder none. */
  readonly lexical?: () => LexicalIndex;
  /**
   * How far the role remembers. Default: for the user that its run names, else for the conversation; for all runs where the run has no scope, as
   * outside of a server.
   */
  readonly scope?: MemoryReach;
  /** Milliseconds after which a message is deleted. Default: never. */
  readonly ttl?: number;
  /** Summarizes messages that are no longer recent, with the role's model or another one. Default false. */
  readonly summary?: boolean | { readonly model: ChatModel };
  readonly recall?: RecallOptions;
  /** Counts the recalled tokens. Default: an estimate. */
  readonly tokens?: TokenCounter;
}

const roleMemoryOptions: Known<RoleMemoryOptions> = {
  store: kinds.messageStore,
  embedder: kinds.embedder,
  index: kinds.function,
  lexical: kinds.function,
  scope: kinds.checked,
  ttl: kinds.milliseconds,
  summary: kinds.checked,
  recall: kinds.checked,
  tokens: kinds.tokenCounter,
};

/** The validated options with their defaults. */
export interface RoleMemoryParts extends Omit<RoleMemoryOptions, "recall" | "summary" | "tokens"> {
  readonly summary: { readonly model: ChatModel | undefined } | undefined;
  readonly tokens: TokenCounter;
  /** Tokens of messages as recalled lines. */
  readonly sizes: MessageSizes;
  readonly digest: MemoryDigest;
  readonly maxTokens: number;
  readonly shares: Required<RecallShares>;
  readonly k: number;
  readonly threshold: number | undefined;
  readonly neighbours: number;
  readonly timeout: number;
}

const MAX_TOKENS = 2_000;
const SHARES: Required<RecallShares> = { summary: 0.2, recent: 0.5, related: 0.3 };
const K = 4;
const NEIGHBOURS = 1;
const MOST_NEIGHBOURS = 20;
const TIMEOUT = 30_000;
/** The rounding error of a sum of shares. */
const EPSILON = 1e-9;

/**
 * Merges the options of a role over those of its team, field by field. Returns undefined without options, or when the role's are `false`.
 *
 * @param isPart true when the options are incomplete: the team may add an embedder
 * @throws UsageError `OPTION_INVALID`
 */
export function roleMemoryParts(
  own: RoleMemoryOptions | false | undefined,
  shared: RoleMemoryOptions | undefined,
  isPart = false,
): RoleMemoryParts | undefined {
  if (own === false || (own === undefined && shared === undefined)) return undefined;
  const { recall, summary, tokens = estimatedTokens, ...rest } = { ...shared, ...own };
  const { maxTokens = MAX_TOKENS, shares, k = K, threshold, neighbours = NEIGHBOURS, timeout = TIMEOUT } = { ...shared?.recall, ...recall };
  checkPorts(rest, summary);
  if (rest.scope !== undefined && !MEMORY_REACHES.includes(rest.scope))
    throw invalid("memory.scope", `one of ${MEMORY_REACHES.join(", ")}`, rest.scope);
  if (rest.embedder === undefined && !isPart) assertNoVectorOptions({ threshold, index: rest.index }, "of a role's memory");
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 0) throw invalid("memory.recall.maxTokens", "a whole number of 0 or more", maxTokens);
  if (!Number.isSafeInteger(k) || k < 0) throw invalid("memory.recall.k", "a whole number of 0 or more", k);
  if (!Number.isSafeInteger(neighbours) || neighbours < 0 || neighbours > MOST_NEIGHBOURS) {
    throw invalid("memory.recall.neighbours", `a whole number from 0 to ${MOST_NEIGHBOURS}`, neighbours);
  }
  if (threshold !== undefined && !(threshold >= -1 && threshold <= 1)) throw invalid("memory.recall.threshold", "from -1 to 1", threshold);
  if (!(timeout > 0)) throw invalid("memory.recall.timeout", "milliseconds above 0", timeout);
  return {
    ...rest,
    ...(rest.embedder === undefined && rest.lexical === undefined ? { lexical: minisearch } : {}),
    tokens,
    digest: new MemoryDigest(),
    sizes: new MessageSizes(tokens, (message) => `${memoryLine(message)}\n`),
    summary: summary === undefined || summary === false ? undefined : { model: summary === true ? undefined : summary.model },
    maxTokens,
    shares: checkedShares(shares),
    k,
    threshold,
    neighbours,
    timeout,
  };
}

/** @throws UsageError `OPTION_INVALID` */
export function checkRoleMemory(options: unknown): void {
  if (options === undefined || options === false) return;
  if (typeof options !== "object" || options === null) throw invalid("memory", "{ store, embedder, recall, ... } or false", options);
  checkKnownOptions("the option memory", options, roleMemoryOptions);
  checkKnownOptions("the option memory.recall", (options as RoleMemoryOptions).recall, recallOptions);
  roleMemoryParts(options, undefined, true);
}

function checkPorts({ store, embedder, index, lexical, ttl }: RoleMemoryOptions, summary: RoleMemoryOptions["summary"] | undefined): void {
  if (store !== undefined && !has(store, "add")) throw invalid("memory.store", "a message store", store);
  if (embedder !== undefined && !has(embedder, "embed")) throw invalid("memory.embedder", "an embedder", embedder);
  if (index !== undefined && typeof index !== "function") throw invalid("memory.index", "a function that makes one", index);
  if (lexical !== undefined && typeof lexical !== "function") throw invalid("memory.lexical", "a function that makes one", lexical);
  if (ttl !== undefined && !(ttl > 0)) throw invalid("memory.ttl", "milliseconds above 0", ttl);
  const isSummary = summary === undefined || typeof summary === "boolean" || has(summary?.model, "chat");
  if (!isSummary) throw invalid("memory.summary", "true, false or { model }", summary);
}

function has(port: unknown, method: string): boolean {
  return isObject(port) && method in port;
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

/** Returns the stores that roles remember in. @param shared the options of their team */
export function storesOf(
  roles: readonly { readonly memory?: RoleMemoryOptions | false | undefined }[],
  shared: RoleMemoryOptions | undefined,
): readonly MessageStore[] {
  return [shared, ...roles.map(({ memory }) => memory)].flatMap((memory) =>
    memory === undefined || memory === false ? [] : (memory.store ?? []),
  );
}
