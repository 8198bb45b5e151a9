import { usd } from "../../../src/index.ts";
import {
  Agent,
  Brain,
  ChatMemory,
  Lifecycle,
  MessagesMemory,
  PlanningFlow,
  react,
  ToolCollection,
  toolOutput,
} from "../../../src/agent/index.ts";
import { ChatMessage } from "../../../src/model/chat-message.ts";
import type { Door, Instances } from "./core.ts";
import { is, model, tool } from "./kit.ts";
import { any, data, options, or, whole } from "./right.ts";

const call = () => data({ id: "c", type: any("function"), function: { name: "look", arguments: "{}" } });
const chat = () => whole(ChatMessage.user("hi"));
const image = () => data({ data: "aGk=", mediaType: "image/png" });
const result = () => data({ error: "bad", images: [image()], system: "s", data: any(1) });
const agentMemory = () => whole(new MessagesMemory());
const policy = () => ({ default: "ask", rules: [{ tool: "look", decide: "ask" }] });
const tuning = {
  retry: { tries: 2, baseDelay: 1, maxDelay: 2, maxRetryAfter: 3, outage: 4 },
  timeouts: { firstByte: 1, silence: 2, call: 3 },
};
const tools = () => or([tool], 5, "x", null, {}, [5]);
const calling = () => ({
  tools: tools(),
  steps: is.steps(),
  clock: is.clock(),
  signal: is.signal(),
  policy: policy(),
  approve: () => true,
  role: "agent",
  ask: () => "x",
  model: () => model(),
  session: or({}, 5, "x", null, [5]),
  deps: any({}),
  opened: () => {},
  tell: () => {},
});
const brain = () => ({
  name: "b",
  permissions: policy(),
  approve: () => true,
  ask: () => "x",
  deps: any({}),
  parallelTools: 2,
  model: is.model(),
  output: is.schema(),
  net: whole(react()),
  maxSteps: 5,
  toolChoice: "auto",
  systemPrompt: "s",
  nextStepPrompt: "n",
  clock: is.clock(),
  calls: tuning,
  budget: or(usd(1), "x", -1, null, {}),
  tokenLimit: 50,
  limits: { concurrency: 1, requestsPerSecond: 1.5, requestsPerMinute: 1.5, tokensPerMinute: 1.5 },
  loops: options({ repeats: 3, longest: 3 }, 5, "x", null, [5]),
  compaction: { contextTokens: 5000, share: 0.5, keepResults: 2, summaryWords: 50, counter: is.tokens() },
});
const reacting = () => ({ model: is.model(), answerModel: is.model(), actions: "auto" });
const thinking = () => ({ model: is.model(), judge: is.model() });
const chatMemory = () => ({
  maxMessages: 5,
  maxTokens: 500,
  pinned: or("p", 5, null, {}, [5]),
  tokens: is.tokens(),
});
const agent = () => new Agent({ name: "a", model: model() });

export const agentInstances: Instances = {
  ToolCollection: () => new ToolCollection(),
  ChatMemory: () => new ChatMemory(),
  MessagesMemory: () => new MessagesMemory(),
  Brain: () => new Brain({ model: model() }),
  Net: () => react(),
  Agent: agent,
  Lifecycle: () => new Lifecycle(),
  PlanningFlow: () => new PlanningFlow({ model: model(), executors: { a: agent() } }),
};

export const agents: Readonly<Record<string, Door>> = {
  defineTool: () => [
    {
      name: "t",
      description: "d",
      effect: "read",
      timeout: 5,
      permission: or("allow", 5, "x", null, {}, [5]),
      idempotent: true,
      again: true,
      fresh: true,
      ends: true,
      parallel: true,
      maxOutput: 500,
      polls: true,
      close: () => {},
      parameters: is.schema(),
      execute: () => 1,
    },
  ],
  combineResults: () => [result(), result()],
  isFailure: () => [result()],
  resultText: () => [result(), 5],
  toolFailure: () => ["bad", { images: [image()], system: "s", data: any(1) }],
  toolOutput: () => [any("x"), { images: [image()], system: "s", data: any(1) }],
  "new ToolCollection": () => [[is.tool()]],
  "ToolCollection.get": () => ["look"],
  "ToolCollection.has": () => ["look"],
  "ToolCollection.find": () => ["look"],
  "ToolCollection.add": () => [or(tool, 5, "x", null, {}, [5])],
  "ToolCollection.remove": () => ["look"],
  toolMessage: () => [data({ call: call(), result: or(toolOutput("x"), 5, "x", null, [5]), outcome: any("ok"), ends: any(false) })],
  callTool: () => [call(), calling()],
  callTools: () => [[call()], { ...calling(), concurrency: 2, choice: "auto" }],
  joinMessages: () => [or(ChatMessage.user("hi"), 5, "x", null, {}, [5])],
  withoutThoughts: () => ["x"],
  toOpenAI: () => [or([ChatMessage.user("hi")], 5, "x", null, {}, [5])],
  "new ChatMemory": () => [chatMemory()],
  "ChatMemory.add": () => [chat(), { pin: true }],
  "ChatMemory.addAll": () => [[chat()]],
  "ChatMemory.recent": () => [5],
  "ChatMemory.fromJSON": () => [or(new ChatMemory().toJSON(), 5, "x", null, {}, [5]), { tokens: is.tokens() }],
  "ChatMemory.concat": () => [or(ChatMessage.user("hi"), 5, "x", null, {}, [5])],
  "new MessagesMemory": () => [{ tools: tools(), messages: options(chatMemory(), 5, "x", null, [5]) }],
  "MessagesMemory.setGoal": () => ["g"],
  "MessagesMemory.update": () => [[chat()]],
  "MessagesMemory.rewrite": () => [[chat()]],
  "MessagesMemory.note": () => ["k"],
  "MessagesMemory.setNote": () => ["k", any("v")],
  "MessagesMemory.getTool": () => ["look"],
  "MessagesMemory.fromJSON": () => [or(new MessagesMemory().toJSON(), 5, "x", null, {}, [5]), { tools: tools() }],
  "MessagesMemory.from": () => [[chat()], { tools: tools() }],
  "new Brain": () => [brain()],
  "Brain.run": () => [agentMemory(), { signal: is.signal(), tell: () => {} }],
  "new Net": () => [{ name: "n", start: or("s", 5, null, {}), states: { s: whole({ run() {} }) } }],
  "Net.startOf": () => [agentMemory()],
  "Net.state": () => ["reasoning"],
  react: () => [reacting()],
  reflexion: () => [{ ...reacting(), tries: 2, evaluate: () => ({ isGood: true }), keep: 2 }],
  planAndSolve: () => [{ ...reacting(), maxPlan: 5 }],
  treeOfThought: () => [{ ...thinking(), branches: 2, width: 2, depth: 2, least: 1.5 }],
  graphOfThought: () => [{ ...thinking(), operations: [{ do: "generate", count: 2 }], width: 5 }],
  "new Agent": () => [
    {
      ...brain(),
      name: "a",
      description: "d",
      tools: tools(),
      memory: or(new ChatMemory(), 5, "x", null, [5]),
      terminate: true,
    },
  ],
  "Agent.run": () => ["task", { signal: is.signal(), files: or([{ name: "a.txt", data: "aGk=" }], 5, "x", {}, [5]) }],
  "Lifecycle.move": () => ["start", () => {}],
  "new PlanningFlow": () => [
    {
      model: is.model(),
      executors: { a: whole(agent()) },
      tasks: [{ id: "a", instruction: "A" }],
      tries: 2,
      replans: 2,
      concurrency: 2,
      maxSteps: 5,
      steps: is.steps(),
      clock: is.clock(),
      calls: tuning,
    },
  ],
  "PlanningFlow.run": () => ["goal", { signal: is.signal() }],
};
