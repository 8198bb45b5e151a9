import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AgentMemory, Brain, defineTool, MessagesMemory, Net, type NetState, react, terminate } from "../../src/agent/index.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { agentOf, call, calls } from "./setup.ts";

describe("the second seed", () => {
  it("7: ends the run by the special tool, whatever its name's case", async () => {
    const { agent } = agentOf([calls(call("Terminate", { status: "success", answer: "42" }))]);
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "42" });
    const [, , told] = await agent.memory.dump();
    expect(told).toMatchObject({ role: "tool", content: "Task completed: success" });
    expect(terminate.spec.parameters).toMatchObject({ required: ["status"] });
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
