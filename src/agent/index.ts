/** Agents, their tools, their memory, and the nets that guide them. Published as `troupe/agents`. */

// Tools, their results and permissions.
export { defineTool, type PlainToolOptions, type ToolOptions } from "../tool/tool.ts";
export type { Tool, ToolAnswer, ToolAskOptions, ToolClosing, ToolContext, ToolHuman, ToolQuestionOptions } from "../tool/tool.ts";
export type { CheckedArguments } from "../tool/tool-parameters.ts";
export { type CalledTool, combineResults, isFailure, resultText, toolFailure, toolMessage, type ToolOutcome } from "../tool/tool-result.ts";
export { toolOutput, type ToolResult } from "../tool/tool-result.ts";
export { ToolCollection } from "../tool/tool-collection.ts";
export type { ArgumentRule, Decision, Permission, PermissionPolicy, PermissionRule } from "../tool/permission.ts";
export type { ApprovalRequest, Approver, HumanPort, HumanQuestion } from "../tool/approval.ts";
export type { CallToolOptions, ToolChoice, ToolNotice } from "../tool/call-options.ts";
export { callTool, callTools, type CallToolsOptions } from "../tool/call-tools.ts";
export { terminate } from "./terminate.ts";

// The conversation with a model, and the memory of an agent.
export { ChatMessage, joinMessages, type ImagePart, type ToolCall } from "../model/chat-message.ts";
export { toOpenAI } from "../model/openai-request.ts";
export { withoutThoughts } from "../model/thoughts.ts";
export { type AddOptions, ChatMemory, type ChatMemoryOptions } from "../memory/chat-memory.ts";
export type { TokenCounter } from "../memory/tokens.ts";
export type { AgentMemory, Answer, NextAction } from "./agent-memory.ts";
export { MessagesMemory, type MessagesMemoryOptions } from "./messages-memory.ts";

// A brain runs the states of a net over a memory.
export { Brain, type BrainEnd, type BrainRun, type BrainRunOptions } from "./brain.ts";
export type { BrainOptions, CallRules } from "./brain-options.ts";
export type { CallPolicy } from "../model/call.ts";
export type { StepPort } from "../kernel/step.ts";
export type { CompactionOptions } from "./compaction.ts";
export type { LoopOptions } from "./loop-detector.ts";
export { type Mind, Net, type NetParts, type NetState, type Question } from "./net.ts";
export { react, type ReactOptions } from "./nets/react.ts";
export { reflexion, type ReflexionOptions, type Verdict } from "./nets/reflexion.ts";
export { planAndSolve, type PlanAndSolveOptions } from "./nets/plan-and-solve.ts";
export { treeOfThought, type TreeOfThoughtOptions } from "./nets/tree-of-thought.ts";
export { graphOfThought, type GraphOfThoughtOptions, type GraphOperation } from "./nets/graph-of-thought.ts";
export type { ThoughtModels } from "./nets/thought-search.ts";

// An agent: its states and its runs.
export { Agent, type AgentOptions, type AgentRun, type AgentRunOptions } from "./agent.ts";
export type { AgentEvent, AgentResult, DeniedCall } from "./events.ts";
export { TokenLimitError } from "./run-tally.ts";
export { type AgentMove, type AgentState, Lifecycle } from "./lifecycle.ts";

// A flow: several agents that follow a plan.
export { type FlowExecutor, type FlowRun, PlanningFlow, type PlanningFlowOptions } from "./planning-flow.ts";
export type { FlowEvent, FlowResult, FlowStep } from "./flow-plan.ts";
