import type { Shape } from "../kernel/argument.ts";
import { isCount, isRecord } from "../kernel/value-kind.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { UsageError } from "../kernel/errors.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { MessageSizes } from "./summary-levels.ts";
import type { Embedder } from "./embedder.ts";
import type { LexicalIndex } from "./word-index.ts";
import type { VectorIndex } from "./exact-index.ts";
import { MEMORY_REACHES, type MemoryReach } from "./memory-scope.ts";
import type { MessageStore } from "./message-store.ts";
import { MemoryDigest, memoryLine } from "./recall-window.ts";
import { aDuration, aSimilarity, checkVectorOptions } from "./storage-options.ts";
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
  /** Limit on the recalled tokens. Default 2,000; 0: nothing is recalled. */
  readonly maxTokens?: number;
  /** An omitted share is 0 if this is given. */
  readonly shares?: RecallShares;
  /** Related messages at most, besides their neighbors. Default 4. */
  readonly k?: number;
  /** Minimum similarity of a related message, from -1 to 1. It needs an embedder. Default: the embedder's. */
  readonly threshold?: number;
  /** Messages before and after a related one, in its own run, that are recalled with it if they fit. Default 1; 0: none. */
  readonly neighbours?: number;
  /** Limit on the milliseconds of the embedder for one recall, at most half of the role's `timeout`. Default 30,000. */
  readonly timeout?: number;
}

const share: Shape = { says: "a number from 0 to 1", fits: (value) => typeof value === "number" && value >= 0 && value <= 1 };
const recallShares: Known<RecallShares> = kinds.each(share, "summary", "recent", "related");
const MAX_NEIGHBOURS = 20;

const recallOptions: Known<RecallOptions> = {
  maxTokens: kinds.count,
  shares: kinds.options(recallShares),
  k: kinds.count,
  threshold: aSimilarity,
  neighbours: { says: `a whole number from 0 to ${MAX_NEIGHBOURS}`, fits: (value) => isCount(value) && value <= MAX_NEIGHBOURS },
  timeout: aDuration,
};

/** Options of the long-term memory of a role, for any number of roles and runs: the store separates them by names and scopes. */
export interface RoleMemoryOptions {
  /** Stores messages beyond the run, such as `sqliteStore({ path })`. Default: they end with the run. */
  readonly store?: MessageStore;
  /** Finds messages by meaning, such as `openaiEmbedder(...)`. Default: none; messages are found by their words. */
  readonly embedder?: Embedder;
  /** Makes the index of vectors of one role. It needs an embedder. Default: `exactIndex`. */
  readonly index?: () => VectorIndex;
  /** Makes the index of words of one role. It excludes an embedder. Default: `minisearch` of `troupe/memory`. */
  readonly lexical?: () => LexicalIndex;
  /** The scope of the memory. Default: the user that the run names, else the conversation; without a scope all runs. */
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
  scope: kinds.oneOf(...MEMORY_REACHES),
  ttl: aDuration,
  summary: kinds.either(kinds.boolean, { says: "{ model }", fits: (value) => isRecord(value) && kinds.model.fits(value["model"]) }),
  recall: kinds.options(recallOptions),
  tokens: kinds.tokenCounter,
};

export interface RoleMemoryParts extends Omit<RoleMemoryOptions, "recall" | "summary" | "tokens"> {
  readonly summary: { readonly model: ChatModel | undefined } | undefined;
  readonly tokens: TokenCounter;
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
  checkVectorOptions(isPart ? { embedder: rest.embedder, lexical: rest.lexical } : { ...rest, threshold }, "of a role's memory");
  return {
    ...rest,
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

export function checkRoleMemory(options: unknown): void {
  if (options === undefined || options === false) return;
  checkKnownOptions("the option memory", options, roleMemoryOptions);
  roleMemoryParts(options as RoleMemoryOptions, undefined, true);
}

function checkedShares(shares: RecallShares | undefined): Required<RecallShares> {
  if (shares === undefined) return SHARES;
  const { summary = 0, recent = 0, related = 0 } = shares;
  const sum = summary + recent + related;
  if (sum <= 1 + EPSILON) return { summary, recent, related };
  throw new UsageError(
    "OPTION_INVALID",
    `Expected memory.recall.shares to be together at most 1, got ${sum}. Leave it out for the default.`,
  );
}

export function storesOf(
  roles: readonly { readonly memory?: RoleMemoryOptions | false | undefined }[],
  shared: RoleMemoryOptions | undefined,
): readonly MessageStore[] {
  return [shared, ...roles.map(({ memory }) => memory)].flatMap((memory) =>
    memory === undefined || memory === false ? [] : (memory.store ?? []),
  );
}
