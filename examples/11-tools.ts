// Tools and permissions: arguments are checked, rules decide which calls run, and a person is asked before anything is written.
import { z } from "zod";
import { Agent, defineTool, type PermissionPolicy } from "troupe/agents";
import { scriptedModel } from "troupe/testing";
import { planningTool } from "troupe/tools";

// #region tool
const sent: string[] = [];
const mail = defineTool({
  name: "mail",
  description: "Sends a message to a person.",
  parameters: z.object({ to: z.email(), text: z.string().max(500) }),
  effect: "write", // a person is asked first, unless a rule says otherwise
  timeout: 10_000,
  idempotent: false, // after a crash, a message that may have been sent is not sent again
  execute: async ({ to, text }, { signal, key }) => {
    signal.throwIfAborted();
    sent.push(`${to}: ${text} (${key})`); // give `key` to a real service, so that it recognises a repeated call
    return { output: "sent", data: { to } };
  },
});
// #endregion

// #region permissions
/** A reply of a model that calls tools. A real model writes it itself. */
function calls(...wishes: readonly (readonly [string, object])[]) {
  return {
    toolCalls: wishes.map(
      ([name, args], n) => ({ id: `call_${n}`, type: "function", function: { name, arguments: JSON.stringify(args) } }) as const,
    ),
  };
}

const permissions: PermissionPolicy = {
  rules: [
    { tool: "mail", args: { to: "*@example.org" }, decide: "allow" },
    { tool: "mail", args: { text: "*password*" }, decide: "deny" },
  ],
};

const model = scriptedModel([
  calls(
    ["mail", { to: "ada@example.org", text: "The meeting is at nine." }],
    ["mail", { to: "ada@example.org", text: "The password is swordfish." }],
    ["mail", { to: "stranger@example.com", text: "Hello?" }],
    ["mail", { to: "nobody", text: "Hello?" }],
    ["fax", {}],
  ),
  "One message is sent.",
]);
const clerk = new Agent({
  name: "clerk",
  model,
  tools: [mail],
  permissions,
  approve: ({ args }) => (args["to"] === "stranger@example.com" ? "not to strangers" : true),
});

const run = clerk.run("Tell everybody when the meeting is.");
for await (const event of run) {
  if (event.type === "call.ended") console.log(event.outcome, event.result.error?.split(/[.:;]/)[0] ?? "");
}
console.log(sent.length, "sent:", (await run.result).answer); // 1 sent: One message is sent.
// #endregion

// #region planning
const planner = new Agent({
  name: "planner",
  model: scriptedModel([
    calls(["planning", { command: "create", plan_id: "tea", title: "Make tea", steps: ["boil water", "brew"] }]),
    calls(["planning", { command: "mark_step", step: 1, status: "completed" }]),
    "The water boils.",
  ]),
  tools: [planningTool()],
});
console.log((await planner.run("Make tea.").result).answer); // The water boils.
console.log((await planner.memory.dump()).findLast(({ role }) => role === "tool")?.content?.split("\n")[1]); // Progress: 1 of 2 completed
// #endregion
