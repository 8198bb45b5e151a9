import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent, planAndSolve, reflexion } from "../../src/agent/index.ts";
import type { AgentOptions } from "../../src/agent/agent.ts";
import { ChatMessage } from "../../src/model/chat-message.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

describe("a run", () => {
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
    const kinds =
      "state.changed step.started reply.ended call.started call.ended text step.started text reply.ended state.changed run.ended";
    expect(events.map(({ type }) => type).join(" ")).toBe(kinds);
  });
});

it("gives each call outside a run a key of its own: a service takes calls of one key for one call", async () => {
  const keys: string[] = [];
  const pay = defineTool({ name: "pay", description: "pays", permission: "allow", execute: (_args, { key }) => void keys.push(key) });
  const { agent } = agentOf([calls(call("pay", {}, "a"), call("pay", {}, "b")), "paid"], { tools: [pay] });
  await agent.run("x").result;
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(2);
});

describe("news", () => {
  it("are in the conversation before each step but the first, and after the results of calls", async () => {
    let asked = 0;
    const look = noting();
    const { agent, model } = agentOf([calls(call("look")), calls(call("look", {}, "look_2")), "done"], {
      tools: [look],
      news: () => [ChatMessage.user(`news ${(asked += 1)}`)],
    });
    expect((await agent.run("go").result).status).toBe("finished");
    expect(model.calls.map(({ messages }) => messages.at(-1)?.content)).toEqual(["go", "news 1", "news 2"]);
    expect(model.calls.at(-1)?.messages.map(({ role }) => role)).toEqual("user assistant tool user assistant tool user".split(" "));
  });
});

describe("the permissions of an agent's tools", () => {
  const done: string[] = [];
  const write = defineTool({
    name: "write",
    description: "writes",
    parameters: z.object({ path: z.string() }),
    effect: "write",
    execute: ({ path }) => {
      done.push(path);
      return "written";
    },
  });
  const script = (path: string): [object, string] => [calls(call("write", { path })), "done"];

  it("does not write where nobody is there to allow it, and the model is told", async () => {
    const { agent, model } = agentOf(script("a"), { tools: [write] });
    const run = agent.run("x");
    expect((await eventsOf(run)).find((event) => event.type === "call.ended")).toMatchObject({ outcome: "denied" });
    expect(model.calls[1]?.messages.at(-1)?.content).toContain("permission");
    expect(done).toEqual([]);
  });

  it("asks the approver by the agent's name, and heeds the answer and the rules", async () => {
    const asked: string[] = [];
    const approve = ({ role, tool, args }: { role: string; tool: string; args: unknown }): boolean => {
      asked.push(`${role} ${tool} ${JSON.stringify(args)}`);
      return asked.length === 1;
    };
    const permissions = {
      rules: [
        { tool: "write", args: { path: "free/*" }, decide: "allow" as const },
        { tool: "write", args: { path: "*secret*" }, decide: "deny" as const },
      ],
    };
    for (const path of ["b", "c", "free/d", "secret"])
      await agentOf(script(path), { tools: [write], approve, permissions }).agent.run("x").result;
    expect(asked).toEqual(['tester write {"path":"b"}', 'tester write {"path":"c"}']);
    expect(done).toEqual(["b", "free/d"]);
  });
});

describe("options that can never work", () => {
  it("is refused before anything runs or is paid for", () => {
    const invalid = (code: string): unknown => expect.objectContaining({ code });
    expect(() => new Agent({ name: "a", model: undefined as never })).toThrow(invalid("AGENT_INVALID") as Error);
    const rules = [{ tool: "look", decide: "alow" as "allow" }];
    expect(() => agentOf([], { permissions: { rules } })).toThrow(invalid("PERMISSION_INVALID") as Error);
    const raw = { name: "look", description: "", execute: () => 1 } as never;
    expect(() => agentOf([], { tools: [raw] })).toThrow(invalid("TOOL_INVALID") as Error);
  });
});

describe("limits that are none", () => {
  it.each<[string, Partial<AgentOptions>]>([
    ["a window of no size", { compaction: { contextTokens: 0 } }],
    ["a window of nobody knows what size", { compaction: { contextTokens: Number.NaN } }],
    ["percents for a share", { compaction: { share: 75 } }],
    ["results that are kept by halves", { compaction: { keepResults: 1.5 } }],
    ["a summary of no words", { compaction: { summaryWords: 0 } }],
    ["a loop of one round", { loops: { repeats: 1 } }],
    ["a loop without end", { loops: { repeats: Infinity } }],
    ["a cycle of no length", { loops: { longest: 0 } }],
    ["no calls at once", { parallelTools: 0 }],
  ])("are refused before anything runs: %s", (_what, options) => {
    expect(() => agentOf([], options)).toThrow(expect.objectContaining({ code: "AGENT_INVALID" }) as Error);
  });

  it.each([
    ["tries", () => reflexion({ tries: Number.NaN })],
    ["keep", () => reflexion({ keep: 0 })],
    ["maxPlan", () => planAndSolve({ maxPlan: 0 })],
  ])("are refused by nets too: %s", (name, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "NET_INVALID", message: expect.stringContaining(name) as string }) as Error);
  });
});
