// A workflow: a script in JavaScript directs agents, and runs as a crew.
import { formatUsd, Team, usd } from "troupe";
import { checkCrew, openWorkflow } from "troupe/roles";
import { scriptedModel } from "troupe/testing";
import { chooseSandbox, memoryWorkspace } from "troupe/workspace";

// #region workflow
const script = `
export const meta = { name: "review", description: "Finds faults, and keeps those that a second look confirms" };
const FAULT = { type: "object", required: ["fault"], properties: { fault: { type: "string" } } };
const VOTE = { type: "object", required: ["isReal"], properties: { isReal: { type: "boolean" } } };

phase("Review");
const found = await pipeline(
  ["cart.js", "total.js"],
  (file) => agent("Find a fault in " + file, { label: "find " + file, schema: FAULT }),
  async ({ fault }) => ({ fault, ...(await agent("Is this a fault? " + fault, { phase: "Verify", schema: VOTE })) }),
);
log("kept " + found.filter((one) => one.isReal).length + " of " + found.length);
return found.filter((one) => one.isReal).map((one) => one.fault);
`;
const { name, roles } = await openWorkflow(script, { workspace: memoryWorkspace(), sandbox: await chooseSandbox("auto") });

const priced = { id: "small", price: { input: 0.1, output: 0.4 }, maxOutputTokens: 1_000 };
const { calls, cost } = await checkCrew({ roles, model: priced, budget: usd(2) });
console.log(`at most ${calls} calls and ${formatUsd(cost ?? usd(2))}`); // at most 16 calls and $0.0576

const model = scriptedModel([
  { content: '{ "fault": "it adds twice" }' },
  { content: '{ "fault": "no tax" }' },
  { content: '{ "isReal": true }' },
  { content: '{ "isReal": false }' },
]);
const { output } = await new Team({ name, roles, model }).run("review").result;
console.log(JSON.stringify([output?.instructContent, output?.metadata])); // [["it adds twice"],{"log":["# Review","kept 1 of 2"]}]
// #endregion
