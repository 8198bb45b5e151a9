/*
 * Troupe: a runtime for teams of AI roles. The exports stand in the order of a first program.
 */

// Messages.
export {
  type Address,
  addressOf,
  ROUTE_TO_ALL,
  ROUTE_TO_NONE,
  ROUTE_TO_SELF,
  TeamChange,
  UserFeedback,
  UserRequirement,
} from "./message/address.ts";
export type { MessageFile } from "./message/file.ts";
export { createMessage, type Message, type MessageFields, MessageSchema, parseMessage, serializeMessage } from "./message/message.ts";
export { MessageQueue } from "./message/message-queue.ts";
export type { Receipt } from "./message/message.ts";

// Models and money.
export { openai } from "./adapters/openai.ts";
export { type ChatMessage, toChat, type ToolCall } from "./model/chat-message.ts";
export type { ChatModel, ChatRequest, ChatResponse, Usage } from "./model/chat-model.ts";
export { type Cost, formatCost, formatUsd, type MicroUsd, usd } from "./model/money.ts";
export { type ModelPrice, priceOf, type PriceTable } from "./model/price.ts";
export { budgetPool } from "./model/budget-pool.ts";
export { fallback, route } from "./model/fallback.ts";
export { modelLimits } from "./model/limits.ts";

// Memories.
export { BrainMemory, type BrainMemoryOptions } from "./memory/brain-memory.ts";
export { LongTermMemory } from "./memory/long-term-memory.ts";
export { Memory } from "./memory/memory.ts";
export { MemoryStorage } from "./memory/memory-storage.ts";
export { hashingEmbedder } from "./memory/embedder.ts";
export { exactIndex } from "./memory/exact-index.ts";
export { Plan } from "./role/plan.ts";
export type { Task } from "./agent/task.ts";

// Agents and tools.
export { Agent } from "./agent/agent.ts";
export { type Guard, guard } from "./tool/guard.ts";
export { defineTool } from "./tool/tool.ts";

// Actions and roles.
export { Action, type ActionOptions, type Awaitable, defineAction, type InputsOf } from "./role/action.ts";
export type { ActionContext, EffectDoor, RoleContext } from "./role/context.ts";
export type { Deps, RunContext } from "./kernel/deps.ts";
export type { Human } from "./role/human.ts";
export type { RandomStream } from "./kernel/random.ts";
export { handoff } from "./role/handoff.ts";
export { type FailurePolicy, retry } from "./role/failure-policy.ts";
export type { Reaction } from "./role/reaction.ts";
export { defineRole, Role, type RoleOptions, type Said } from "./role/role.ts";
export type { Immutable, StepOut } from "./role/step-role.ts";

// Environments, teams and runs.
export { Environment } from "./runtime/environment.ts";
export type { EnvironmentOptions } from "./runtime/environment-options.ts";
export type { RoleView } from "./runtime/environment-state.ts";
export type { HumanPort, HumanQuestion } from "./tool/approval.ts";
export type { PendingQuestion } from "./runtime/record/questions.ts";
export type { RunResult } from "./runtime/run-result.ts";
export { Team } from "./team/team.ts";
export { asTool } from "./team/as-tool.ts";
export type { Conversation } from "./team/conversation.ts";
export type { Run } from "./team/run.ts";
export type { SayResult } from "./team/say-result.ts";
export type { RunOptions, TeamOptions } from "./team/team-options.ts";
export { afterRounds, afterSpending, allOf, anyOf, type RunProgress, saidBy, type StopCondition } from "./runtime/stop-condition.ts";

// Events and journals.
export type { Observed, RunEvent, RunNotice, RunStatus } from "./runtime/record/event.ts";
export { parseEvent } from "./runtime/record/parse-event.ts";
export { fold } from "./runtime/record/apply.ts";
export { canonical } from "./runtime/record/canonical.ts";
export { difference, differenceText } from "./runtime/replay/difference.ts";
export { memoryJournal } from "./runtime/record/memory-journal.ts";
export { exportRun, importRun } from "./runtime/record/transfer.ts";
export type { DeadLetter, RunState } from "./runtime/record/run-state.ts";

// Errors.
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
export type { Logger } from "./kernel/emit.ts";
export type { Json } from "./kernel/json.ts";
