import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/agent/index.ts";
import { defineRole } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { agentOf, call, calls, eventsOf } from "./setup.ts";

const pay = defineTool({ name: "pay", description: "", effect: "write", execute: () => "paid" });
const script = [calls(call("pay", {}, "1")), "All is paid."];

describe("a call that is denied", () => {
  it("is a warning and stands in the result, also when the run finishes", async () => {
    const { agent } = agentOf(script, { tools: [pay] });
    const run = agent.run("Pay.");
    const warnings = (await eventsOf(run)).filter((event) => event.type === "warning");
    expect(warnings).toMatchObject([{ step: 1, code: "CALL_DENIED", text: expect.stringMatching(/"pay".*permission/) as string }]);
    const why = expect.stringContaining("nobody is there") as string;
    expect(await run.result).toMatchObject({ status: "finished", denied: [{ step: 1, tool: "pay", why }] });
  });

  it.each([
    ["a rule", { permissions: { rules: [{ tool: "pay", decide: "deny" as const }] } }, /rule/],
    ["a person", { approve: () => "too dear" }, /too dear/],
    ["the choice of tools", { toolChoice: { name: "terminate" } }, /only the tool "terminate"/],
  ])("by %s is told alike", async (_who, options, why) => {
    const replies = [...script.slice(0, 1), calls(call("terminate", { status: "success", answer: "done" }, "2"))];
    const { denied } = await agentOf(replies, { tools: [pay], ...options }).agent.run("Pay.").result;
    expect(denied).toMatchObject([{ tool: "pay", why: expect.stringMatching(why) as string }]);
  });

  it("of a tool that says neither its effect nor its permission does not come about", async () => {
    const plain = defineTool({ name: "pay", description: "", execute: () => "paid" });
    expect(await agentOf(script, { tools: [plain] }).agent.run("Pay.").result).toMatchObject({ status: "finished", denied: [] });
  });

  it("behind a mailbox is a warning of the role", async () => {
    const role = defineRole({
      name: "Clerk",
      reactMode: "agent",
      tools: [pay],
      agent: { permissions: { rules: [{ tool: "pay", decide: "deny" }] } },
    });
    const run = new Team({ roles: [role], model: scriptedModel(script) }).run("Pay.");
    const told: string[] = [];
    run.on("warning", (warning) => void told.push(`${warning.role}: ${warning.text}`));
    expect(await run.result).toMatchObject({ status: "finished" });
    expect(told).toEqual([expect.stringMatching(/^Clerk: The call of "pay" was not made: .*rule/)]);
  });
});
