/*
 * Troupe: a runtime for companies of roles. This is its table of contents, in the order of the story.
 */

// Something is said.
export { parseEvent } from "./runtime/record/parse-event.ts";
export {
  type Address,
  type Addressable,
  addressOf,
  ROUTE_TO_ALL,
  ROUTE_TO_NONE,
  ROUTE_TO_SELF,
  UserFeedback,
  UserRequirement,
} from "./message/address.ts";
export {
  createMessage,
  type Message,
  type MessageFields,
  type MessageRole,
  MessageSchema,
  parseMessage,
  serializeMessage,
} from "./message/message.ts";
export type { Mailbox } from "./message/mailbox.ts";
export { MessageQueue } from "./message/message-queue.ts";
export type { Receipt } from "./message/message.ts";

// Something can answer.
export { type ChatMessage, type ImagePart, toChat, type ToolCall } from "./model/chat-message.ts";
export type {
  ChatChunk,
  ChatModel,
  ChatOptions,
  ChatRequest,
  ChatResponse,
  FinishReason,
  ReplyFormat,
  ToolCallDelta,
  ToolSpec,
  Usage,
} from "./model/chat-model.ts";
export type { DeltaInfo } from "./model/streamed-text.ts";
export { type Cost, formatCost, formatUsd, type MicroUsd, usd } from "./model/money.ts";
export type { Spending, Spendings } from "./model/ledger.ts";
export type { LimitOptions } from "./model/limits.ts";
export type { CallTuning } from "./model/call.ts";
export type { RetryPolicy } from "./model/retry.ts";
export type { CallTimeouts } from "./model/timeouts.ts";
export { type ModelPrice, type PriceTable, priceOf } from "./model/price.ts";

// It is remembered.
export { BrainMemory, type BrainCallOptions, type BrainLoad } from "./memory/brain-memory.ts";
export type { BrainMemoryOptions } from "./memory/brain-memory-options.ts";
export type { Cache, CacheEntry, CacheKeyParts, ReplaceOptions } from "./memory/cache.ts";
export { Memory } from "./memory/memory.ts";
export type { MessageMemory, ReadableMemory } from "./memory/message-memory.ts";
export { Plan } from "./role/plan.ts";
export type { Task, TaskFields } from "./agent/task.ts";
export type { TokenCounter } from "./memory/tokens.ts";

// For longer than a run.
export { type FoundMessage, LongTermMemory, type LongTermMemoryOptions } from "./memory/long-term-memory.ts";
export { MemoryStorage } from "./memory/memory-storage.ts";
export type { MemoryStorageOptions, SearchOptions, SimilarMessage, StorageCall } from "./memory/storage-options.ts";
export type {
  MessageIdentity,
  MessageLookup,
  MessageStore,
  MessageToStore,
  RemoveOptions,
  NearVector,
  SoughtWord,
  StoredAt,
  StoredMessage,
  StoredVector,
  StoreState,
  VectorLookup,
  VectorPlace,
} from "./memory/message-store.ts";
export type { Embedder, EmbedOptions } from "./memory/embedder.ts";
export { hashingEmbedder, type HashingOptions } from "./memory/embedder.ts";
export type { VectorHit, VectorIndex, VectorSearch } from "./memory/exact-index.ts";
export { exactIndex } from "./memory/exact-index.ts";
export type { LexicalHit, LexicalIndex } from "./memory/word-index.ts";

// And shown to a role before it asks.
export type { Scope } from "./kernel/scope.ts";
export type { MemoryReach, MemoryScope } from "./memory/memory-scope.ts";
export type { RecallOptions, RecallShares, RoleMemoryOptions } from "./memory/role-memory.ts";
export type { Recalled } from "./memory/recollection.ts";
export type { RecalledMessage } from "./memory/recall-window.ts";

// A unit of work.
export { Action, type ActionOptions, type ActionResult, type Awaitable, defineAction, type InputsOf } from "./role/action.ts";
export type { Deps } from "./kernel/deps.ts";
export type { RandomStream } from "./kernel/random.ts";
export type { EffectCall, EffectEnd, EffectPort } from "./kernel/effect.ts";
export type { ActionContext, AskOptions, EffectDoor, RoleCard, RoleContext, StepOptions } from "./role/context.ts";

export type { ChosenOf, Human, HumanAskOptions } from "./role/human.ts";

// Someone does it.
export { type FailurePolicy, retry } from "./role/failure-policy.ts";
export type { Reaction } from "./role/reaction.ts";
export { defineRole, type ReactMode, Role, type RoleOptions, type Said } from "./role/role.ts";
export type { Immutable, StepOut, StepRoleOptions, StepsRoleOptions } from "./role/step-role.ts";

// It can be watched and repeated.
export type { Observed, ResumeCause, RunEvent, RunNotice, RunStatus, Arrival, EdgeFault } from "./runtime/record/event.ts";
export { fold } from "./runtime/record/apply.ts";
export type { RunSummary, SummaryStatus } from "./runtime/record/run-summary.ts";
export { canonical } from "./runtime/record/canonical.ts";
export {
  difference,
  differenceText,
  type EntryName,
  type Passage,
  type RequestDifference,
  type RunDifference,
  type ValueDifference,
} from "./runtime/replay/difference.ts";
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
export { memoryJournal } from "./runtime/record/memory-journal.ts";
export { exportRun, importRun, type ImportOptions, type TransferOptions } from "./runtime/record/transfer.ts";
export type { FailedActivation } from "./runtime/record/failed-activation.ts";
export type { DeadLetter, RunState, FaultCounts } from "./runtime/record/run-state.ts";

// They share a world.
export { Environment } from "./runtime/environment.ts";
export type { EdgeDecision, EdgePassage, EdgePolicy } from "./runtime/edges/edge-policy.ts";
export type { PoissonScheduler, SchedulerName, StagedScheduler } from "./runtime/schedulers/policies.ts";
export type {
  ArrivalOrder,
  ClockKind,
  Delivery,
  ReadyRole,
  Scheduler,
  SchedulerOption,
  SchedulerView,
} from "./runtime/schedulers/scheduler.ts";
export type { EnvironmentOptions, EnvironmentRecord, EnvironmentRunOptions, RestoreOptions } from "./runtime/environment-options.ts";
export type { RoleView } from "./runtime/role-view.ts";
export type { HumanPort, HumanQuestion } from "./tool/approval.ts";
export type { Choice, QuestionForm } from "./tool/question-form.ts";
export type { PendingQuestion } from "./runtime/record/questions.ts";
export type { ResultStatus, RunResult } from "./runtime/run-result.ts";

// And are hired for a goal.
export type { Run } from "./team/run.ts";
export { afterRounds, afterSpending, allOf, anyOf, type RunProgress, saidBy, type StopCondition } from "./runtime/stop-condition.ts";
export { Team } from "./team/team.ts";
export type { ForgetOptions, Forgotten } from "./team/forget.ts";
export type { RunReceipt } from "./team/publishing.ts";
export type { Settlement, SettleOptions } from "./team/settle.ts";
export type { SubmitOptions } from "./team/submit.ts";
export type { RolesFunction, RolesRequest, TeamRoles } from "./team/crew.ts";
export type { OnTeamChange, TeamDifference } from "./team/team-change.ts";
export type {
  ContinueOptions,
  ForkOptions,
  ReplayOptions,
  ResumeOptions,
  RunOptions,
  HireOptions,
  OnOwned,
  RunChangeOptions,
  SendOptions,
  TeamOptions,
} from "./team/team-options.ts";

// Options are checked by their names.
export { checkKnownOptions, type Known } from "./kernel/known-options.ts";
export { type Kinds, kinds } from "./kernel/option-kinds.ts";
export type { Shape } from "./kernel/argument.ts";

// When something is wrong, or only interrupted.
export {
  AbortedError,
  ActionError,
  BudgetError,
  CacheError,
  ControlError,
  DifferenceError,
  JournalError,
  MemoryError,
  ModelError,
  NotJsonError,
  OutputError,
  PlanError,
  QueueFullError,
  StepError,
  TimeoutError,
  TroupeError,
  UsageError,
  WaitingError,
  WorkspaceError,
} from "./kernel/errors.ts";
export type { ErrorJson } from "./kernel/errors.ts";
export type { Clock } from "./kernel/clock.ts";
export type { LogFields, Logger } from "./kernel/emit.ts";
export type { Json } from "./kernel/json.ts";
export type { StepDoor } from "./kernel/step.ts";
