import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AgentMemory,
  Brain,
  ChatMemory,
  ChatMessage,
  defineTool,
  Lifecycle,
  MessagesMemory,
  Net,
  type NetState,
  react,
  terminate,
} from "../../src/agent/index.ts";
import { toOpenAI } from "../../src/model/openai-request.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { agentOf, call, calls, eventsOf } from "./setup.ts";

describe("the first seed's usage", () => {
  it("makes a memory, adds messages, takes the newest, gives them to an API, and forgets", () => {
    const memory = new ChatMemory();
    memory.add(ChatMessage.system("You are a helpful assistant"));
    memory.add(ChatMessage.user("Hello, please write me a poem"));
    memory.add(ChatMessage.assistant("Here is a poem about spring: ..."));
    expect(memory.recent(2).map((message) => message.role)).toEqual(["user", "assistant"]);
    expect(memory.messages.map(toOpenAI)).toEqual([
      { role: "system", content: "You are a helpful assistant" },
      { role: "user", content: "Hello, please write me a poem" },
      { role: "assistant", content: "Here is a poem about spring: ..." },
    ]);
    memory.clear();
    expect(memory.messages).toEqual([]);
  });
});

describe("the second seed", () => {
  it("3.3: lets messages flow from system to user to assistant to tool to assistant", async () => {
    const webSearch = defineTool({
      name: "web_search",
      description: "searches the web",
      parameters: z.object({ query: z.string() }),
      effect: "read",
      execute: () => "Found: 1. AI breakthrough... 2. Quantum computing...",
    });
    const { agent, model } = agentOf(
      [
        { content: "Good, I search for you.", toolCalls: [call("web_search", { query: "tech news today" }, "call_123")] },
        "By the results, today's tech news is ...",
      ],
      { systemPrompt: "You are OpenManus, an assistant that can use tools to do tasks...", tools: [webSearch] },
    );
    const run = agent.run("Find today's tech news for me");
    expect(await run.result).toMatchObject({ status: "finished", answer: "By the results, today's tech news is ..." });
    expect(model.calls[1]?.messages).toMatchObject([
      { role: "system", content: expect.stringContaining("OpenManus") },
      { role: "user", content: "Find today's tech news for me" },
      { role: "assistant", content: "Good, I search for you.", toolCalls: [{ id: "call_123" }] },
      { role: "tool", name: "web_search", toolCallId: "call_123", content: expect.stringContaining("AI breakthrough") },
    ]);
  });

  it("5.2: goes through the whole sequence of a tool call", async () => {
    const { agent } = agentOf([calls(call("double", { n: 21 })), "It is 42."], {
      tools: [
        defineTool({
          name: "double",
          description: "doubles",
          parameters: z.object({ n: z.number() }),
          effect: "read",
          execute: ({ n }) => n * 2,
        }),
      ],
    });
    const events = await eventsOf(agent.run("double 21"));
    const story = events.flatMap((event) => {
      if (event.type === "state.changed") return [`${event.from} -> ${event.to}`];
      if (event.type === "call.ended") return [`${event.call.function.name}: ${event.outcome} ${JSON.stringify(event.result.output)}`];
      return event.type === "reply.ended" ? [`thought: ${event.calls.length} calls`] : [];
    });
    expect(story).toEqual(["IDLE -> RUNNING", "thought: 1 calls", "double: ok 42", "thought: 0 calls", "RUNNING -> FINISHED"]);
  });

  it("7: ends the run by the special tool, whatever its name's case", async () => {
    const { agent } = agentOf([calls(call("Terminate", { status: "success", answer: "42" }))]);
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "42" });
    const [, , told] = await agent.memory.dump();
    expect(told).toMatchObject({ role: "tool", content: "Task completed: success" });
    expect(terminate.spec.parameters).toMatchObject({ required: ["status"] });
  });

  it("1.2: goes through its diagram", async () => {
    const life = new Lifecycle();
    expect(["start", "step", "finish", "reset"].map((move) => life.move(move as "start"))).toEqual([
      "RUNNING",
      "RUNNING",
      "FINISHED",
      "IDLE",
    ]);
  });
});

/** The third seed's net, written against the interface alone: reasoning writes JSON actions, action runs them, answer is another model's. */
describe("the third seed's three states", () => {
  const tools = [
    defineTool({
      name: "search",
      description: "searches",
      parameters: z.object({ q: z.string() }),
      effect: "read",
      execute: ({ q }) => `result for ${q}`,
    }),
  ];
  const reasoning = scriptedModel(['I look it up. {"name": "search", "args": {"q": "moon"}}', "I know enough."], { id: "reasoning" });
  const answering = scriptedModel(["The moon is far."], { id: "answering" });

  it("reason with one model, act, and answer with another, all state in the memory", async () => {
    const memory = new MessagesMemory({ tools });
    await memory.setGoal("How far is the moon?");
    const brain = new Brain({ model: reasoning, net: react({ actions: "text", model: reasoning, answerModel: answering }) });
    let said = "";
    for await (const piece of brain.run(memory)) said += piece;
    expect(said).toBe('I look it up. {"name": "search", "args": {"q": "moon"}}\nI know enough.The moon is far.');
    expect(memory).toMatchObject({ done: true, nextAction: undefined, answer: { text: "The moon is far." } });
    expect((await memory.dump()).map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant", "assistant"]);
    expect((await memory.dump())[2]?.content).toContain("result for moon");
    expect(reasoning.calls[0]?.tools).toBeUndefined();
    expect(reasoning.calls[0]?.messages[0]?.content).toContain(memory.listTools());
    expect(answering.calls).toHaveLength(1);
  });

  it("gives tools as JSON and finds them by name", () => {
    const memory = new MessagesMemory({ tools });
    expect((JSON.parse(memory.listTools()) as { name: string }[]).map((tool) => tool.name)).toEqual(["search"]);
    expect(memory.getTool("search")).toBe(tools[0]);
    expect(memory.getTool("toString")).toBeUndefined();
  });

  it("can be states of one's own that know the memory alone", async () => {
    const count: NetState = {
      async *run(memory: AgentMemory) {
        const n = Number((await memory.note("n")) ?? 0) + 1;
        await memory.setNote("n", n);
        yield `${n} `;
        memory.done = n === 3;
      },
      nextState: () => Promise.resolve("count"),
    };
    const brain = new Brain({ model: scriptedModel([]), net: new Net({ name: "counting", start: "count", states: { count } }) });
    const memory = new MessagesMemory();
    const said: string[] = [];
    for await (const piece of brain.run(memory)) said.push(piece);
    expect(said).toEqual(["1 ", "2 ", "3 "]);
  });
});
