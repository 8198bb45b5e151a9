import { Agent } from "troupe";
// A plan and several agents: each step is done by the agent of its type, after the steps it depends on.
import { PlanningFlow } from "troupe/agents";
import { scriptedModel } from "troupe/testing";

// #region flow
/** A scripted model of a worker: says that it did its step. */
const worker = (name: string) =>
  scriptedModel(({ messages }) => {
    const task = /Your step, and nothing else: (.*)/.exec(messages.map(({ content = "" }) => content).join("\n"))?.[1];
    return `${name} did "${task}"`;
  });

const planner = scriptedModel([
  JSON.stringify({
    steps: [
      { id: "facts", instruction: "collect facts on bridges", type: "research" },
      { id: "pictures", instruction: "find a picture", type: "research" },
      { id: "page", instruction: "write the page", type: "write", dependsOn: ["facts", "pictures"] },
    ],
  }),
  "The page on bridges is written.",
]);
const flow = new PlanningFlow({
  model: planner,
  executors: {
    research: () => new Agent({ name: "Ria", model: worker("Ria") }), // a new agent for each step, so that two can run at once
    write: new Agent({ name: "Will", model: worker("Will") }),
  },
  tries: 2, // of one step; then another plan is made
  replans: 1, // then a step that fails is blocked, and the others go on
});
const { status, answer, steps } = await flow.run("A page on bridges").result;
for (const { task, result } of steps) console.log(task.id, "->", result);
console.log(status, "-", answer); // finished - The page on bridges is written.
// #endregion
