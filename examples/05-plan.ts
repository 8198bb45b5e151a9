// Plan and act: the model turns the goal into tasks that depend on each other. The role does them in order, each by the action that its
// type names.
import { defineAction, defineRole, Team } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region plan
const Research = defineAction({ name: "Research", description: "look something up", run: (ctx) => `notes on "${ctx.task?.instruction}"` });
const Write = defineAction({
  name: "Write",
  description: "write a paragraph from the notes",
  run: (ctx) => `a paragraph from ${ctx.plan.finishedTasks.map((task) => task.result).join(" and ")}`,
});

const analyst = defineRole({ name: "Anna", profile: "Analyst", reactMode: "plan_and_act", actions: [Research, Write] });

const plan = {
  tasks: [
    { id: "write", dependsOn: ["prices", "weather"], instruction: "Write it up", type: "Write" },
    { id: "prices", dependsOn: [], instruction: "ice cream prices", type: "Research" },
    { id: "weather", dependsOn: [], instruction: "summer weather", type: "Research" },
  ],
};

const result = await new Team({ roles: [analyst], model: scriptedModel([JSON.stringify(plan)]) }).run("Report on ice cream").result;
console.log(result.output?.content); // a paragraph from notes on "ice cream prices" and notes on "summer weather"
// #endregion
