/*
 * Words of MetaGPT, LangGraph, LangChain, CrewAI, AutoGen, OpenAI Agents SDK, AI SDK, Mastra and OpenManus for what has another name here.
 * Only their letters are compared: `max_steps` is `maxSteps`.
 */

/** Words; the known names that they mean, the best first; what they mean where none of those is known. */
type Row = readonly [words: string, here: readonly string[], elsewhere: string];

const ROWS: readonly Row[] = [
  [
    "instructions systemPrompt systemMessage messageModifier stateModifier preamble promptTemplate",
    ["systemPrompt", "goal and constraints", "system"],
    "goal and constraints of a role, systemPrompt of an agent, system of ask",
  ],
  ["role persona jobTitle", ["profile"], "profile of a role"],
  ["backstory", ["description"], "description of a role"],
  ["agents crew participants nodes subagents", ["roles", "executors"], "roles of a team, executors of a PlanningFlow"],
  ["llm languageModel chatModel modelClient modelName modelId llmConfig", ["model"], "model of a team, a role or an agent"],
  ["tasks", ["actions"], "actions of a role, tasks of new Plan"],
  ["inputSchema argsSchema", ["parameters", "needs"], "parameters of a tool, needs of an action"],
  [
    "outputSchema responseFormat outputType outputPydantic outputJson responseModel structuredOutput expectedOutput",
    ["output", "schema"],
    "output of an action or an agent, schema of ask",
  ],
  ["execute handler", ["execute", "run", "react", "check"], "run of an action, execute of a tool, react of a role"],
  ["handoffs", ["sendTo"], "handoff(role), a tool of a role"],
  ["goto allowDelegation", ["sendTo"], "sendTo of an action, or watch of the role that takes over"],
  [
    "guardrails inputGuardrails outputGuardrails toolGuardrails inputProcessors outputProcessors middleware",
    ["guards"],
    "guards of an agent, a role, an action, a tool or a team",
  ],
  ["edges dependsOn", ["needs", "watch"], "watch of a role, needs and sendTo of an action"],
  ["causeBy", ["watch", "on"], "watch of a role, causeBy of createMessage"],
  ["sendTo", [], "sendTo of an action or of createMessage"],
  ["sentFrom", [], "sentFrom of createMessage"],
  [
    "maxSteps maxTurns maxIterations maxIter recursionLimit nRound maxRound",
    ["maxSteps", "rounds", "maxReactLoop"],
    "rounds of a run, maxSteps of an agent, maxReactLoop of a role",
  ],
  ["stopWhen terminationCondition", ["stopWhen", "maxSteps"], "stopWhen of a run, maxSteps of an agent"],
  ["checkpointer checkpoint persistence", ["journal", "store"], "journal of a team"],
  [
    "thread threadId session sessionId conversation conversationId configurable",
    ["id"],
    "id of a run, or of team.conversation(id) and agent.conversation(id)",
  ],
  ["resource resourceId userId", ["user", "scope"], "user of conversation"],
  ["investment maxCost costLimit", ["budget"], "budget of a team"],
  ["runContext runtimeContext requestContext contextVariables", ["context", "deps"], "context of a run, deps of a team"],
  [
    "humanInput humanInTheLoop humanInputMode interrupt interruptBefore interruptAfter interruptOn userProxy needsApproval requireApproval",
    ["human", "approve", "permission"],
    "human of a team, approve of an agent, permission of a tool",
  ],
  ["suspend suspendSchema resumeSchema", [], "ask of ctx.human, or waitFor, each with a schema"],
  ["stream streaming onToken onChunk", [], 'model.delta of run.on or onNotice; for an agent, the events "text" of its run'],
  ["tracing telemetry observability", [], "traceRun(run) of troupe/otel"],
  ["callbacks onStepFinish onFinish streamMode", ["tell"], "run.on(type, listener)"],
  ["verbose", ["logger"], "logger of a team"],
  ["toolkits functionMap mcpServers", ["tools", "server"], "tools of an agent, made by defineTool and mcpServer"],
  ["images attachments", ["images"], "images of ask: ctx.ask(text, { images })"],
  ["topP modelSettings providerOptions", ["extra"], "extra of openai({ extra: { top_p: 0.5 } })"],
  ["temperature", ["extra"], "temperature of ask, extra of openai({ extra: { temperature: 0 } })"],
  ["maxRetries", ["retry", "tries", "calls"], "calls of a team: { retry: { tries: 3 } }"],
  ["retry retries retryPolicy retryConfig maxAttempts", ["retry", "tries", "calls", "onFailure"], "onFailure of a role: retry(3)"],
  ["abortSignal cancellationToken", ["signal"], "signal of a run"],
  // Words of many meanings.
  ["prompt", ["systemPrompt", "goal and constraints"], ""],
  ["steps", ["roles", "actions"], ""],
  ["members workers team title", ["roles", "executors", "profile"], ""],
  ["schema args", ["parameters", "output"], ""],
  ["input inputs query question idea requirement messages", ["content", "idea", "parameters"], ""],
  ["func function fn callback invoke call action", ["execute", "run"], ""],
  ["listens subscribe trigger triggers", ["watch", "on"], ""],
  ["context", ["deps"], ""],
  ["dependencies dependentTaskIds", ["dependsOn", "deps"], ""],
  ["decision", ["decide"], ""],
  ["since offset", ["from"], ""],
  ["saver storage store", ["journal"], ""],
  ["to recipient receiver next", ["sendTo"], ""],
  ["from sender source", ["sentFrom"], ""],
  ["data payload object", ["instructContent"], ""],
  ["text body", ["content", "label"], ""],
  ["process manager", ["scheduler"], ""],
  // Events.
  ["start runStart", ["run.started"], ""],
  ["end finish finished done complete close runEnd result", ["run.ended"], ""],
  ["error failed failure", ["act.failed"], ""],
  ["agentStart agent.started role.started node.started", ["act.started"], ""],
  ["agentEnd agent.ended role.ended node.ended", ["act.ended"], ""],
  ["tool.started toolStart onToolStart tool.call llm.started model.started", ["step.started"], ""],
  ["tool.ended toolEnd onToolEnd tool.result llm.ended model.ended", ["step.ended"], ""],
  ["token delta text text.delta chunk stream data onLlmNewToken", ["model.delta"], ""],
  ["output answer", ["message.output"], ""],
];

export type Meaning = { readonly meant: string } | { readonly elsewhere: string };

/** Returns what a word of another framework, or of another spelling, means among these names. */
export function meaningOf(word: string, names: readonly string[]): Meaning | undefined {
  const letters = lettersOf(word);
  const same = names.find((name) => lettersOf(name) === letters);
  if (same !== undefined) return { meant: same };
  const rows = ROWS.filter(([words]) => words.split(" ").some((each) => lettersOf(each) === letters));
  const meant = rows.flatMap(([, here]) => here).find((name) => name.split(" and ").every((part) => names.includes(part)));
  if (meant !== undefined) return { meant };
  const elsewhere = rows[0]?.[2] ?? "";
  return elsewhere === "" ? undefined : { elsewhere };
}

function lettersOf(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
