/*
 * Troupe: a runtime for companies of roles. This is its table of contents, in the order of the story.
 */

// Something is said.
export { parseEvent } from "./runtime/record/parse-event.ts";
export { type Address, addressOf, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserFeedback, UserRequirement } from "./message/address.ts";
export { createMessage, type Message, type MessageFields, MessageSchema, parseMessage, serializeMessage } from "./message/message.ts";
export { MessageQueue } from "./message/message-queue.ts";
export type { Receipt } from "./message/message.ts";

// Something can answer.
export { type ChatMessage, type ImagePart, toChat, type ToolCall } from "./model/chat-message.ts";
export type { ChatModel, ChatRequest, ChatResponse, Usage } from "./model/chat-model.ts";
export { type Cost, formatCost, formatUsd, type MicroUsd, usd } from "./model/money.ts";
export type { Spending } from "./model/ledger.ts";
export { budgetPool } from "./model/budget-pool.ts";
export { type LimitOptions, modelLimits } from "./model/limits.ts";
export { type ModelPrice, priceOf, type PriceTable } from "./model/price.ts";

// It is remembered.
export { BrainMemory, type BrainMemoryOptions } from "./memory/brain-memory.ts";
export { Memory } from "./memory/memory.ts";
export { Plan } from "./role/plan.ts";
export type { Task } from "./agent/task.ts";

// For longer than a run.
export { type FoundMessage, LongTermMemory } from "./memory/long-term-memory.ts";
export { MemoryStorage } from "./memory/memory-storage.ts";
export type { SimilarMessage } from "./memory/storage-options.ts";
export { hashingEmbedder } from "./memory/embedder.ts";
export { exactIndex } from "./memory/exact-index.ts";

// And shown to a role before it asks.
export type { Scope } from "./kernel/scope.ts";

// A unit of work.
export { Action, type ActionOptions, type Awaitable, defineAction, type InputsOf } from "./role/action.ts";
export type { Deps } from "./kernel/deps.ts";
export type { RandomStream } from "./kernel/random.ts";
export type { ActionContext, AskOptions, RoleContext, StepOptions, EffectDoor } from "./role/context.ts";

export type { Human } from "./role/human.ts";

// Someone does it.
export { type FailurePolicy, retry } from "./role/failure-policy.ts";
export type { Reaction } from "./role/reaction.ts";
export { defineRole, type ReactMode, Role, type RoleOptions, type Said } from "./role/role.ts";
export type { Immutable, StepOut } from "./role/step-role.ts";

// It can be watched and repeated.
export type { Observed, RunEvent, RunNotice, RunStatus } from "./runtime/record/event.ts";
export { fold } from "./runtime/record/apply.ts";
export type { RunSummary } from "./runtime/record/run-summary.ts";
export { canonical } from "./runtime/record/canonical.ts";
export { difference, differenceText, type RunDifference } from "./runtime/replay/difference.ts";
export { memoryJournal } from "./runtime/record/memory-journal.ts";
export { exportRun, importRun } from "./runtime/record/transfer.ts";
export type { DeadLetter, RunState } from "./runtime/record/run-state.ts";

// They share a world.
export { Environment } from "./runtime/environment.ts";
export type { SchedulerOption } from "./runtime/schedulers/scheduler.ts";
export type { EnvironmentOptions, EnvironmentRunOptions } from "./runtime/environment-options.ts";
export type { RoleView } from "./runtime/role-view.ts";
export type { HumanPort, HumanQuestion } from "./tool/approval.ts";
export type { PendingQuestion } from "./runtime/record/questions.ts";
export type { ResultStatus, RunResult } from "./runtime/run-result.ts";

// And are hired for a goal.
export type { Run } from "./team/run.ts";
export { afterRounds, afterSpending, allOf, anyOf, type RunProgress, saidBy, type StopCondition } from "./runtime/stop-condition.ts";
export { Team } from "./team/team.ts";
export type { RunReceipt } from "./team/publishing.ts";
export type { ContinueOptions, ForkOptions, ReplayOptions, ResumeOptions, RunOptions, TeamOptions } from "./team/team-options.ts";

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
export type { Clock } from "./kernel/clock.ts";
export type { LogFields, Logger } from "./kernel/emit.ts";
export type { Json } from "./kernel/json.ts";
