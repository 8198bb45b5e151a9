/*
 * The entry `troupe/ports`: what a journal, a store, a cache, a model, an index, a scheduler or an edge policy of your own implements.
 */

export type {
  Claim,
  ClaimOptions,
  CommandOptions,
  FormerOwner,
  Journal,
  ReleaseOptions,
  RunInfo,
  RunSnapshot,
  RunsPage,
} from "./runtime/record/journal.ts";
export type { ChatChunk, ChatOptions, FinishReason, ReplyFormat, ToolCallDelta, ToolSpec } from "./model/chat-model.ts";
export type {
  MessageIdentity,
  MessageLookup,
  MessageStore,
  MessageToStore,
  RemoveOptions,
  SoughtWord,
  StoredAt,
  StoredMessage,
  StoredVector,
  StoreState,
} from "./memory/message-store.ts";
export type { Cache, CacheEntry } from "./memory/cache.ts";
export type { Embedder } from "./memory/embedder.ts";
export type { VectorHit, VectorIndex, VectorSearch } from "./memory/exact-index.ts";
export type { LexicalHit, LexicalIndex } from "./memory/word-index.ts";
export type { TokenCounter } from "./memory/tokens.ts";
export type { EffectCall, EffectEnd, EffectPort } from "./kernel/effect.ts";
export type { EdgeDecision, EdgePassage, EdgePolicy } from "./runtime/edges/edge-policy.ts";
export type { ReadyRole, Scheduler, SchedulerView } from "./runtime/schedulers/scheduler.ts";
export { type Known, checkKnownOptions } from "./kernel/known-options.ts";
export { kinds } from "./kernel/option-kinds.ts";

// Limits and budgets that are kept elsewhere, such as in a database.
export type { AccountOptions, BudgetAccount, BudgetHold, BudgetPool } from "./kernel/budget.ts";
export type { Cancellation } from "./kernel/cancellation.ts";
export type { Lease, LimitRequest, ModelLimits } from "./model/limits.ts";
