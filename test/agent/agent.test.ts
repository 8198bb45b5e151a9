import { describe, expect, it } from "vitest";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

describe("a run", () => {
  it("ends with a text answer", async () => {
    const { agent, model } = agentOf(["Hello!"]);
    expect(await agent.run("say hello").result).toMatchObject({ status: "finished", answer: "Hello!", steps: 1 });
    expect(model.calls).toHaveLength(1);
    expect(agent.state).toBe("FINISHED");
  });

  it("calls tools and goes on with what they say", async () => {
    const look = noting();
    const { agent, model } = agentOf([calls(call("look", { q: "here" })), "It is here."], { tools: [look] });
    const run = agent.run("where is it?");
    expect(agent.state).toBe("RUNNING");
    const events = await eventsOf(run);
    expect(await run.result).toMatchObject({ status: "finished", answer: "It is here.", steps: 2 });
    expect(look.seen).toEqual(["here"]);
    expect(model.calls[1]?.messages.map((message) => [message.role, message.content])).toEqual([
      ["user", "where is it?"],
      ["assistant", undefined],
      ["tool", "seen here"],
    ]);
    expect(events.map((event) => event.type)).toEqual([
      "state.changed",
      "step.started",
      "reply.ended",
      "call.started",
      "call.ended",
      "text",
      "step.started",
      "text",
      "reply.ended",
      "state.changed",
      "run.ended",
    ]);
  });
});
