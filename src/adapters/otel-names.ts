/*
 * Every name of a trace and a metric. Those of GEN_AI, OPERATIONS and METRICS are from the conventions for generative AI, v0.1.0
 * (open-telemetry/semantic-conventions-genai); the others are under `troupe`.
 */

export const GEN_AI = {
  errorType: "error.type",
  agentName: "gen_ai.agent.name",
  conversationId: "gen_ai.conversation.id",
  inputMessages: "gen_ai.input.messages",
  operationName: "gen_ai.operation.name",
  outputMessages: "gen_ai.output.messages",
  outputType: "gen_ai.output.type",
  providerName: "gen_ai.provider.name",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestModel: "gen_ai.request.model",
  requestSeed: "gen_ai.request.seed",
  requestTemperature: "gen_ai.request.temperature",
  responseFinishReasons: "gen_ai.response.finish_reasons",
  tokenModality: "gen_ai.token.modality",
  toolCallArguments: "gen_ai.tool.call.arguments",
  toolCallResult: "gen_ai.tool.call.result",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  usageCacheReadInputTokens: "gen_ai.usage.cache_read.input_tokens",
  usageInputTokens: "gen_ai.usage.input_tokens",
  usageOutputTokens: "gen_ai.usage.output_tokens",
} as const;

export const TROUPE = {
  act: "troupe.act",
  actAttempt: "troupe.act.attempt",
  actCauses: "troupe.act.causes",
  actMessages: "troupe.act.messages",
  actSent: "troupe.act.sent",
  actThen: "troupe.act.then",
  answer: "troupe.answer",
  answerByDeadline: "troupe.answer.by_deadline",
  costUsd: "troupe.cost.usd",
  link: "troupe.link",
  messageCause: "troupe.message.cause",
  messageFrom: "troupe.message.from",
  messageId: "troupe.message.id",
  question: "troupe.question",
  runForkedFrom: "troupe.run.forked_from",
  runResumed: "troupe.run.resumed",
  runStatus: "troupe.run.status",
  stepKind: "troupe.step.kind",
  stepName: "troupe.step.name",
  stepRetry: "troupe.step.retry",
  stepReused: "troupe.step.reused",
  stepTry: "troupe.step.try",
  unfinished: "troupe.unfinished",
  usageEstimated: "troupe.usage.estimated",
  waitedSeconds: "troupe.waited.seconds",
} as const;

export const OPERATIONS = {
  chat: "chat",
  embeddings: "embeddings",
  executeTool: "execute_tool",
  invokeAgent: "invoke_agent",
  invokeWorkflow: "invoke_workflow",
  searchMemory: "search_memory",
} as const;

/** How long operations took, in seconds, by operation. The conventions count a workflow as an agent that is invoked. */
export const DURATIONS = {
  chat: "gen_ai.client.inference.duration",
  embeddings: "gen_ai.client.embeddings.duration",
  execute_tool: "gen_ai.execute_tool.duration",
  invoke_agent: "gen_ai.invoke_agent.duration",
  invoke_workflow: "gen_ai.invoke_agent.duration",
} as const;

export const USED = {
  input: "gen_ai.client.inference.usage.input_tokens",
  output: "gen_ai.client.inference.usage.output_tokens",
  cached: "gen_ai.client.inference.usage.cache_read.input_tokens",
} as const;

export const USED_EACH = {
  input: "gen_ai.client.inference.operation.input_tokens",
  output: "gen_ai.client.inference.operation.output_tokens",
  embedded: "gen_ai.client.embeddings.operation.input_tokens",
} as const;
