import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AgentMemory,
  Brain,
  ChatMemory,
  ChatMessage,
  defineTool,
  MessagesMemory,
  Net,
  type NetState,
  react,
} from "../../src/agent/index.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

describe("a brain", () => {
  it("thinks over many memories at once and mixes nothing", async () => {
    const model = scriptedModel((request) => `about ${request.messages[0]?.content}`);
    const brain = new Brain({ model });
    const memories = await Promise.all(
      ["sun", "moon", "sea"].map(async (goal) => {
        const memory = new MessagesMemory();
        await memory.setGoal(goal);
        return memory;
      }),
    );
    expect(await Promise.all(memories.map((memory) => textOf(brain.run(memory))))).toEqual(["about sun", "about moon", "about sea"]);
  });

  it("does nothing over a memory that is done (Brain.B2)", async () => {
    const memory = new MessagesMemory();
    memory.done = true;
    const model = scriptedModel([]);
    expect(await textOf(new Brain({ model }).run(memory))).toBe("");
  });

  it("counts states of one step together, but not for ever (Brain.B1)", async () => {
    const spin: NetState = {
      sameStep: true,
      async *run() {
        yield ".";
      },
      nextState: () => Promise.resolve("spin"),
    };
    const brain = new Brain({ model: scriptedModel([]), maxSteps: 3, net: new Net({ name: "spinning", start: "spin", states: { spin } }) });
    // One that may belong to a step before this run, then two for each of the three steps.
    expect((await textOf(brain.run(new MessagesMemory()))).length).toBe(1 + 2 * 3);
  });

  it("refuses states that are not there, and steps that are none", async () => {
    const lost: NetState = {
      async *run() {
        yield "";
      },
      nextState: () => Promise.resolve("nowhere"),
    };
    const brain = new Brain({ model: scriptedModel([]), net: new Net({ name: "lost", start: "lost", states: { lost } }) });
    await expect(textOf(brain.run(new MessagesMemory()))).rejects.toMatchObject({ code: "NET_UNKNOWN_STATE" });
    expect(() => new Net({ name: "n", start: "gone", states: { lost } })).toThrow(expect.objectContaining({ code: "NET_UNKNOWN_STATE" }));
    expect(() => agentOf([], { maxSteps: 0 })).toThrow(expect.objectContaining({ code: "AGENT_INVALID" }));
    expect(() => agentOf([], { maxSteps: Number.NaN })).toThrow(expect.objectContaining({ code: "AGENT_INVALID" }));
  });

  it("voids the text of a try that failed", async () => {
    const clock = simulatedClock();
    let tries = 0;
    const model = scriptedModel([]);
    Object.defineProperty(model, "stream", {
      value: async function* () {
        tries++;
        yield { content: tries === 1 ? "half an ans" : "whole" };
        if (tries === 1) throw new ModelError("MODEL_CUT", "cut", { retryable: true });
        yield { finishReason: "stop" };
      },
    });
    const { agent } = agentOf([], { model, clock });
    const run = agent.run("x");
    const reading = eventsOf(run);
    await clock.advance(20_000);
    const told = (await reading).flatMap((event) => (event.type === "text" ? [event.text] : event.type === "text.void" ? ["void"] : []));
    expect(told).toEqual(["half an ans", "void", "whole"]);
    expect(await run.result).toMatchObject({ answer: "whole" });
  });

  it("consumes an action once, whatever becomes of it", async () => {
    const seen: string[] = [];
    const bad = defineTool({
      name: "bad",
      description: "",
      parameters: z.object({}),
      effect: "read",
      execute: () => {
        seen.push("ran");
        throw new Error("no");
      },
    });
    const memory = new MessagesMemory({ tools: [bad] });
    await memory.setGoal("x");
    const brain = new Brain({ model: scriptedModel(['{"name":"bad","args":{}}', "over"]), net: react({ actions: "text" }) });
    await textOf(brain.run(memory));
    expect(seen).toEqual(["ran"]);
    expect(memory.nextAction).toBeUndefined();
  });
});

describe("a record", () => {
  /** Stops a run as soon as a reply with calls has come, before they run. */
  async function cutBeforeCalls(memory: AgentMemory): Promise<void> {
    const brain = new Brain({ model: scriptedModel([calls(call("look", { q: "1" }, "a"), call("look", { q: "2" }, "b"))]) });
    const pieces = brain.run(memory, {
      tell: (event) => {
        if (event.type === "call.started") throw new Error("the process dies here");
      },
    });
    await expect(textOf(pieces)).rejects.toThrow("the process dies here");
  }

  it("MessagesMemory.G3 that is read back into a memory goes on where it was", async () => {
    const before = new MessagesMemory({ tools: [noting()] });
    await before.setGoal("the goal");
    await cutBeforeCalls(before);
    const record = JSON.parse(JSON.stringify((await before.dump()).filter((message) => message.role !== "tool"))) as ChatMessage[];
    const look = noting();
    const after = MessagesMemory.from(record, { tools: [look] });
    expect(await after.goal()).toEqual([{ role: "user", content: "the goal" }]);
    expect(after.nextAction?.calls.map((one) => one.id)).toEqual(["a", "b"]);
    const model = scriptedModel(["done"]);
    expect(await textOf(new Brain({ model }).run(after))).toContain("done");
    expect(look.seen).toEqual(["1", "2"]);
    expect(model.calls[0]?.messages.map((message) => message.toolCallId ?? message.role)).toEqual(["user", "assistant", "a", "b"]);
  });

  it("of finished work stays finished", async () => {
    const { agent } = agentOf([calls(call("look")), "the answer"], { tools: [noting()] });
    await agent.run("x").result;
    const again = MessagesMemory.from(await agent.memory.dump(), { tools: agent.memory.tools });
    expect(again).toMatchObject({ done: true, answer: { text: "the answer" } });
    const model = scriptedModel([]);
    expect(await textOf(new Brain({ model }).run(again))).toBe("");
    const { agent: ended } = agentOf([calls(call("terminate", { status: "success", answer: "a" }))]);
    await ended.run("x").result;
    expect(MessagesMemory.from(await ended.memory.dump(), { tools: ended.memory.tools }).done).toBe(true);
  });

  it("as JSON keeps everything but the tools", async () => {
    const memory = new MessagesMemory();
    await memory.setGoal("one");
    await memory.update([ChatMessage.assistant("said")]);
    await memory.setGoal("two");
    await memory.setNote("k", { deep: [1] });
    memory.nextAction = { calls: [call("look")], form: "text" };
    const json = JSON.parse(JSON.stringify(memory)) as unknown;
    const again = MessagesMemory.fromJSON(json);
    expect(await again.dump()).toEqual(await memory.dump());
    expect(await again.goal()).toEqual([{ role: "user", content: "two" }]);
    expect(await again.note("k")).toEqual({ deep: [1] });
    expect(again).toMatchObject({ done: false, nextAction: memory.nextAction, answer: undefined });
    expect(() => MessagesMemory.fromJSON({ messages: "x" })).toThrow(expect.objectContaining({ code: "AGENT_MEMORY_INVALID" }));
  });

  it("is the caller's own", async () => {
    const memory = new MessagesMemory();
    await memory.setGoal("x");
    ((await memory.dump()) as ChatMessage[]).length = 0;
    expect(await memory.dump()).toHaveLength(1);
  });
});

describe("a memory of messages", () => {
  it("keeps the goal where it was set, whatever the window drops (MessagesMemory.G1), and lets the earlier goal go", async () => {
    const memory = new MessagesMemory({ messages: { maxMessages: 4 } });
    await memory.setGoal("first");
    await memory.update([ChatMessage.assistant("a")]);
    await memory.setGoal("second");
    for (let n = 0; n < 10; n++) await memory.update([ChatMessage.assistant(`${n}`)]);
    expect((await memory.dump()).map((message) => message.content)).toEqual(["second", "7", "8", "9"]);
  });

  it("keeps what somebody pinned in the window they gave", async () => {
    const chat = new ChatMemory({ maxMessages: 4, pinned: "never forget" });
    const memory = new MessagesMemory({ messages: chat });
    await memory.setGoal("first");
    await memory.setGoal("second");
    for (let n = 0; n < 10; n++) await memory.update([ChatMessage.assistant(`${n}`)]);
    expect((await memory.dump()).map((message) => message.content)).toEqual(["never forget", "second", "8", "9"]);
    expect(memory.chat).toBe(chat);
  });

  it("forgets the notes, the answer and the action of an earlier goal (MessagesMemory.G2)", async () => {
    const memory = new MessagesMemory();
    await memory.setGoal("x");
    await memory.setNote("k", 1);
    Object.assign(memory, { done: true, answer: { text: "a", status: "success" }, nextAction: { calls: [], form: "text" } });
    await memory.setGoal("y");
    expect(memory).toMatchObject({ done: false, answer: undefined, nextAction: undefined });
    expect(await memory.note("k")).toBeUndefined();
  });

  it("Agent.A3 goes on in the same conversation from run to run, and an agent takes either tools or a memory that has them", async () => {
    const { agent, model } = agentOf(["Hello Ann.", "You are Ann."]);
    await agent.run("I am Ann.").result;
    await agent.run("Who am I?").result;
    expect(model.calls[1]?.messages.map((message) => message.content)).toEqual(["I am Ann.", "Hello Ann.", "Who am I?"]);
    expect(() => agentOf([], { memory: new MessagesMemory(), tools: [] })).toThrow(expect.objectContaining({ code: "AGENT_INVALID" }));
  });
});
