// Tools and permissions: arguments are checked, rules decide which calls run, and a person is asked before anything is written.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineRole, defineTool, Team, usd } from "troupe";
import { z } from "zod";
import type { PermissionPolicy } from "troupe/agents";
import { scriptedModel } from "troupe/testing";
import { planningTool, shellTool } from "troupe/tools";
import { chooseSandbox, fileWorkspace } from "troupe/workspace";

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

// #region shell
const project = mkdtempSync(join(tmpdir(), "troupe-tools-"));
const engineer = new Agent({
  name: "engineer",
  model: scriptedModel([
    calls(["shell", { command: 'greet() { echo "hello, $1"; }; (sleep 30; echo late) > log & echo begun' }]),
    calls(["shell", { command: "greet Ada; kill $! && echo 'it ran in the background'" }]),
    "It greets.",
  ]),
  // Without isolation: for commands that you trust. `chooseSandbox("auto")` isolates.
  tools: [shellTool({ workspace: fileWorkspace({ root: project }), sandbox: await chooseSandbox("none") })],
  permissions: { default: "allow" },
});
console.log((await engineer.run("Greet Ada.").result).answer); // It greets.
console.log(
  (await engineer.memory.dump())
    .findLast(({ role }) => role === "tool")
    ?.content?.split("\n")
    .slice(0, 2)
    .join("; "),
); // hello, Ada; it ran in the background
rmSync(project, { recursive: true });
// #endregion

// #region inside
const small = scriptedModel(() => ({ content: "At nine, in room 4.", usage: { inputTokens: 20, outputTokens: 1_000 } }), {
  id: "small",
  price: { input: 0, output: 1 },
});
const lookUp = defineTool({
  name: "look_up",
  description: "Answers a question about the minutes.",
  parameters: z.object({ question: z.string() }),
  effect: "read",
  execute: async ({ question }, { ask, step, signal }) => {
    const minutes = await step("read minutes", { month: "May" }, async () => "We meet in room 4. We begin at nine.");
    const reader = new Agent({ name: "reader", model: small });
    const { answer } = await reader.run(`${question}\n${minutes}`, { signal }).result;
    return ask(`Make it short: ${answer}`);
  },
});

const usage = { inputTokens: 20, outputTokens: 2_000 };
const large = scriptedModel(
  [
    { toolCalls: [{ id: "call_1", type: "function", function: { name: "look_up", arguments: '{"question":"When?"}' } }], usage },
    { content: "Nine.", usage },
    { content: "We meet at nine.", usage },
  ],
  { id: "large", price: { input: 0, output: 5 } },
);
const host = defineRole({ name: "Hedy", reactMode: "agent", tools: [lookUp] });
const { output, cost } = await new Team({ roles: [host], model: large, budget: usd(1) }).run("When do we meet?").result;
console.log(output?.content, `${cost.known} micro-dollars for ${large.calls.length + small.calls.length} calls`); // We meet at nine. 31000 micro-dollars for 4 calls
// #endregion
