// A model writes the plan: a workflow that is checked and bounded before it starts, kept as a file, and run as a crew.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAction, defineRole, formatUsd, Team, usd, UsageError } from "troupe";
import { checkCrew, openWorkflow } from "troupe/roles";
import { scriptedModel } from "troupe/testing";
import { chooseSandbox, memoryWorkspace } from "troupe/workspace";

// #region plan
const ports = { workspace: memoryWorkspace(), sandbox: await chooseSandbox("auto") };
const FORM = `Write a script in JavaScript that directs agents, and nothing else. It begins with
export const meta = { name: "...", description: "..." };
and then awaits and returns at its top. It has only the language and these globals:
await agent(prompt, { label, schema }): an agent's answer, a value of the JSON Schema if there is one, null if it failed;
await parallel([() => agent(...), ...]); await pipeline(items, (item) => agent(...), ...); phase(title); log(text); args, the words of the user.
Keep the number of agents small, and write no loop without a bound.`;

/** In the place of a live model, whose first script is not closed. */
const writes = scriptedModel([
  'export const meta = { name: "faults", description: "Finds faults" };\nreturn await agent("Find a fault";',
  `\`\`\`js
export const meta = { name: "faults", description: "Finds faults, and keeps those that a second look confirms" };
const FAULT = { type: "object", required: ["fault"], properties: { fault: { type: "string" } } };
const VOTE = { type: "object", required: ["isReal"], properties: { isReal: { type: "boolean" } } };
const found = await pipeline(
  ["cart.js", "total.js"],
  (file) => agent("Find a fault in " + file, { schema: FAULT }),
  async ({ fault }) => ({ fault, ...(await agent("Is this a fault? " + fault, { schema: VOTE })) }),
);
return found.filter((one) => one.isReal).map((one) => one.fault);
\`\`\``,
]);
const works = scriptedModel(['{ "fault": "it adds twice" }', '{ "fault": "no tax" }', '{ "isReal": true }', '{ "isReal": false }']);

/** Asks for a script until it is a workflow, three times at most. */
const Plan = defineAction({
  name: "Plan",
  async run(ctx) {
    let wrong = "";
    for (let tried = 0; tried < 3; tried += 1) {
      const reply = await ctx.ask(`${FORM}\n\n# Task\n\n${ctx.text}${wrong}`);
      const script = /```(?:js|javascript)?\n([\s\S]*?)```/.exec(reply)?.[1] ?? reply;
      try {
        await openWorkflow(script, ports);
        return script;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        wrong = `\n\n# Your last script\n\n${script}\n\nIt is refused: ${error.message}`;
      }
    }
    return undefined;
  },
});
const planner = new Team({ name: "planner", roles: [defineRole({ name: "Pia", profile: "Planner", actions: [Plan] })], model: writes });
const { output: plan } = await planner.run("Find a fault in cart.js and in total.js, and keep those that a second look confirms.").result;
const script = plan?.content ?? "";

const { name, roles } = await openWorkflow(script, ports);
const priced = { id: "small", price: { input: 0.1, output: 0.4 }, maxOutputTokens: 1_000 };
const { calls, cost } = await checkCrew({ roles, model: priced, budget: usd(2) });
console.log(`${name}: at most ${calls} calls and ${formatUsd(cost ?? usd(2))}`); // faults: at most 16 calls and $0.0576

const folder = mkdtempSync(join(tmpdir(), "troupe-plan-"));
writeFileSync(join(folder, "faults.js"), script); // troupe run --crew faults.js "..."
const { output } = await new Team({ name, roles, model: works }).run("review").result;
console.log(JSON.stringify(output?.instructContent)); // ["it adds twice"]
// #endregion
rmSync(folder, { recursive: true });
