/** Agents, their tools, their memory, and the nets that guide them. Published as `troupe/agents`. */

// Tools, their results and permissions.
export { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
export { combineResults, isFailure, resultText, toolFailure, toolMessage, toolOutput, type ToolResult } from "../tool/tool-result.ts";
export { ToolCollection } from "../tool/tool-collection.ts";
export type { Decision, PermissionPolicy } from "../tool/permission.ts";
export type { HumanPort, HumanQuestion } from "../tool/approval.ts";
export type { ToolChoice } from "../tool/call-options.ts";
export { callTool, callTools } from "../tool/call-tools.ts";
export { terminate } from "./terminate.ts";

// The conversation with a model, and the memory of an agent.
export { ChatMessage, joinMessages, type ImagePart, type ToolCall } from "../model/chat-message.ts";
export { toOpenAI } from "../model/openai-request.ts";
export { withoutThoughts } from "../model/thoughts.ts";
export { ChatMemory } from "../memory/chat-memory.ts";
export type { TokenCounter } from "../memory/tokens.ts";
export type { AgentMemory, Answer } from "./agent-memory.ts";
export { MessagesMemory } from "./messages-memory.ts";

// A brain runs the states of a net over a memory.
export { Brain } from "./brain.ts";
export type { StepPort } from "../kernel/step.ts";
export { type Mind, Net, type NetState, type Question } from "./net.ts";
export { react } from "./nets/react.ts";
export { reflexion, type Verdict } from "./nets/reflexion.ts";
export { planAndSolve } from "./nets/plan-and-solve.ts";
export { treeOfThought } from "./nets/tree-of-thought.ts";
export { graphOfThought } from "./nets/graph-of-thought.ts";

// An agent: its states and its runs.
export { Agent } from "./agent.ts";
export type { AgentEvent, AgentResult } from "./events.ts";
export { TokenLimitError } from "./run-tally.ts";
export { type AgentMove, type AgentState, Lifecycle } from "./lifecycle.ts";

// A flow: several agents that follow a plan.
export { PlanningFlow } from "./planning-flow.ts";
