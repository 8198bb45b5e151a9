import { describe, expect, it } from "vitest";
import { Agent, defineTool, MessagesMemory, resultText, toolFailure, toolOutput, type ToolResult } from "../../src/agent/index.ts";
import { defineRole, Team } from "../../src/index.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { shortResult, type CalledTool } from "../../src/tool/tool-result.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

const LONG = "0123456789".repeat(500);
const MARK = "[cut: 100 of 5,000 characters shown]";
const look = noting("look", () => LONG);

function seenIn(request: ChatRequest | undefined): string {
  return (request?.messages ?? [])
    .slice(1)
    .map(({ content = "" }) => content)
    .join("\n");
}

describe("[OpenManus: max_observe cut the end in silence] an agent's bound on what its tools say", () => {
  it.each([
    ["calls of the wire", calls(call("look"))],
    ["calls in its text", '{"name": "look", "arguments": {}}'],
  ])("holds for %s: the model reads so many characters and how many are missing, and the events have all", async (_form, reply) => {
    const { agent, model } = agentOf([reply, "done"], { tools: [look], maxObserve: 100 });
    const events = await eventsOf(agent.run("go"));
    const seen = seenIn(model.calls[1]);
    expect([seen.includes(MARK), seen.includes(LONG.slice(0, 71)), seen.length < 600]).toEqual([true, false, true]);
    const ended = events.find((event) => event.type === "call.ended") as unknown as CalledTool;
    expect(ended.result.output).toBe(LONG);
  });

  it("holds in a role, and in a memory that is given", async () => {
    const replies = () => scriptedModel([calls(call("look")), "done"]);
    const [inRole, given] = [replies(), replies()];
    const role = defineRole({ name: "Ann", reactMode: "agent", tools: [look], agent: { maxObserve: 100 } });
    await new Team({ model: inRole, roles: [role] }).run("go").result;
    await new Agent({ name: "a", model: given, memory: new MessagesMemory([look]), maxObserve: 100 }).run("go").result;
    for (const model of [inRole, given]) expect(seenIn(model.calls[1])).toContain(MARK);
  });

  it("does not cut the answer that a tool ends the run with", async () => {
    const end = defineTool({ name: "end", description: "", ends: true, execute: () => LONG });
    const { agent } = agentOf([calls(call("end"))], { tools: [end], maxObserve: 100, terminate: false });
    expect((await agent.run("go").result).answer).toBe(LONG);
  });

  it.each<[string, ToolResult]>([
    ["an output", toolOutput(LONG)],
    ["a failure", toolFailure(LONG)],
    ["a failure after some output", toolFailure("it broke", { output: LONG })],
    ["a note", toolOutput("short", { system: LONG })],
    ["data", { data: { LONG } }],
  ])("cuts %s, whatever it is made of, and leaves what is short", (_what, result) => {
    const short = shortResult(result, 100);
    const text = resultText(short);
    expect([text.length < 150, text.includes("[cut: 100 of 5,0"), (short.error === undefined) === (result.error === undefined)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(shortResult(result, 10_000)).toBe(result);
  });

  it.each([0, -1, 1.5, true])("of %s characters is refused", (maxObserve) => {
    expect(() => agentOf([], { maxObserve: maxObserve as number })).toThrow(expect.objectContaining({ code: "AGENT_INVALID" }));
  });
});
