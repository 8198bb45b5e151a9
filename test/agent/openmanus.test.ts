import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ModelError } from "../../src/kernel/errors.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { ChatMemory } from "../../src/memory/chat-memory.ts";
import { Agent } from "../../src/agent/agent.ts";
import { terminate } from "../../src/agent/terminate.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

const end = (status = "success", answer = "done"): ReturnType<typeof call> => call("terminate", { status, answer });

describe("faults of OpenManus in an agent's life that are absent here", () => {
  it("shows ERROR from outside, after the run", async () => {
    const { agent } = agentOf([new ModelError("MODEL_AUTH", "no key")]);
    expect(await agent.run("x").result).toMatchObject({ status: "failed", error: { code: "MODEL_AUTH" } });
    expect(agent.state).toBe("ERROR");
  });

  it("shows FINISHED from outside, after terminate", async () => {
    const { agent } = agentOf([calls(end())]);
    await agent.run("x").result;
    expect(agent.state).toBe("FINISHED");
    agent.reset();
    expect(agent.state).toBe("IDLE");
  });

  it.each([["text", "done"] as const, ["terminate", calls(end())] as const])("finishes on the very last step by %s", async (_how, last) => {
    const { agent } = agentOf([calls(call("look")), last], { tools: [noting()], maxSteps: 2 });
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "done", steps: 2 });
    expect(agent.state).toBe("FINISHED");
  });

  it("tells used up steps apart, and is idle then", async () => {
    const { agent } = agentOf((_request, n) => calls(call("look", { q: `${n}` })), { tools: [noting()], maxSteps: 4 });
    expect(await agent.run("x").result).toMatchObject({ status: "max_steps", answer: "", steps: 4 });
    expect(agent.state).toBe("IDLE");
  });

  it("Lifecycle.L3 counts steps anew in every run", async () => {
    const look = noting();
    const { agent } = agentOf([calls(call("look")), calls(end()), calls(call("look", {}, "l2")), "second"], { tools: [look], maxSteps: 2 });
    expect(await agent.run("one").result).toMatchObject({ status: "finished", steps: 2 });
    expect(await agent.run("two").result).toMatchObject({ status: "finished", answer: "second", steps: 2 });
  });

  it("Agent.A1 refuses to run twice at once", async () => {
    const { agent } = agentOf(["a"]);
    const run = agent.run("x");
    expect(() => agent.run("y")).toThrow(expect.objectContaining({ code: "AGENT_RUNNING" }));
    expect(() => agent.reset()).toThrow(expect.objectContaining({ code: "AGENT_TRANSITION" }));
    expect(await run.result).toMatchObject({ status: "finished", answer: "a" });
  });
});

describe("faults of OpenManus in its loop that are absent here", () => {
  it("runs no call after terminate in one batch, and answers each", async () => {
    const look = noting();
    const { agent } = agentOf([calls(call("look", { q: "1" }, "a"), end(), call("look", { q: "2" }, "b"))], { tools: [look] });
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "done" });
    expect(look.seen).toEqual(["1"]);
    expect((await agent.memory.dump()).filter((message) => message.role === "tool").map((message) => message.toolCallId)).toEqual([
      "a",
      "terminate_1",
      "b",
    ]);
  });

  it("tells terminate with failure as failed, with its words", async () => {
    const { agent } = agentOf([calls(end("failure", "no such city"))]);
    expect(await agent.run("x").result).toMatchObject({ status: "failed", answer: "no such city", error: { code: "AGENT_GAVE_UP" } });
    expect(agent.state).toBe("FINISHED");
  });

  it("never stores the next-step prompt, however many steps there are", async () => {
    const { agent, model } = agentOf([calls(call("look", { q: "1" })), calls(call("look", { q: "2" })), "done"], {
      tools: [noting()],
      nextStepPrompt: "What next?",
    });
    await agent.run("x").result;
    expect(model.calls.map((request) => request.messages.filter((message) => message.content === "What next?").length)).toEqual([1, 1, 1]);
    expect(model.calls.map((request) => request.messages.at(-1)?.content)).toEqual(["What next?", "What next?", "What next?"]);
    expect(JSON.stringify(await agent.memory.dump())).not.toContain("What next?");
  });

  it("notices the same call again and again, warns once without piling up, and stops", async () => {
    const look = noting();
    const { agent, model } = agentOf((_request, n) => calls(call("look", { q: "same" }, `id${n}`)), { tools: [look], maxSteps: 30 });
    const run = agent.run("x");
    const events = await eventsOf(run);
    expect(await run.result).toMatchObject({ status: "loop", steps: 6 });
    expect(agent.state).toBe("IDLE");
    expect(events.filter((event) => event.type === "warning" && event.code === "LOOP")).toHaveLength(2);
    const warned = model.calls.map(
      (request) => request.messages.filter((message) => message.content?.includes("again and again") === true).length,
    );
    expect(warned).toEqual([0, 0, 0, 1, 1, 1]);
  });

  it("asks again for a tool when one is required, and fails after three replies without", async () => {
    const { agent, model } = agentOf(["words", "words", "words", "never asked"], { toolChoice: "required" });
    const run = agent.run("x");
    expect(await run.result).toMatchObject({ status: "failed", error: { code: "AGENT_REPLY_UNUSABLE" } });
    expect(agent.state).toBe("ERROR");
    expect(model.calls).toHaveLength(3);
    expect(model.calls[1]?.messages.at(-1)?.content).toContain("must call a tool");
  });

  it("takes text alone where tools are not to be used, and calls nothing", async () => {
    const look = noting();
    const { agent } = agentOf([{ content: "just words", toolCalls: [call("look")] }], { tools: [look], toolChoice: "none" });
    const run = agent.run("x");
    expect((await eventsOf(run)).some((event) => event.type === "warning" && event.code === "TOOLS_UNASKED")).toBe(true);
    expect(await run.result).toMatchObject({ status: "finished", answer: "just words" });
    expect(look.seen).toEqual([]);
  });

  it("forces a named tool once, and then lets the model choose", async () => {
    const look = noting();
    const { agent, model } = agentOf([calls(call("look", { q: "1" })), "done"], { tools: [look], toolChoice: { name: "look" } });
    expect(await agent.run("x").result).toMatchObject({ status: "finished" });
    expect(model.calls.map((request) => request.toolChoice)).toEqual([{ name: "look" }, "auto"]);
  });
});

describe("state that OpenManus's agents share, and these do not", () => {
  it("keeps a terminate that is somebody's own, and none when it is left out", () => {
    const own = defineTool({ name: "terminate", description: "mine", parameters: z.object({}), ends: true, execute: () => "bye" });
    expect(new Agent({ name: "a", model: scriptedModel([]), tools: [own] }).memory.getTool("terminate")).toBe(own);
    expect(new Agent({ name: "a", model: scriptedModel([]) }).memory.getTool("terminate")).toBe(terminate);
    expect(new Agent({ name: "a", model: scriptedModel([]), terminate: false }).memory.tools.size).toBe(0);
  });

  it("never sends a result without its call, however small the window is", async () => {
    const memory = new ChatMemory({ maxMessages: 6 });
    const { agent, model } = agentOf(
      (_request, n) => (n < 12 ? calls(call("look", { q: `${n}` }, `a${n}`), call("look", {}, `b${n}`)) : "done"),
      {
        tools: [noting()],
        memory,
      },
    );
    expect(await agent.run("the goal").result).toMatchObject({ status: "finished" });
    for (const { messages } of model.calls) {
      expect(messages[0]).toMatchObject({ role: "user", content: "the goal" });
      const open = new Set<string>();
      for (const message of messages) {
        for (const { id } of message.toolCalls ?? []) open.add(id);
        if (message.role === "tool") expect(open.delete(message.toolCallId ?? "")).toBe(true);
      }
      expect(open.size).toBe(0);
    }
  });
});
