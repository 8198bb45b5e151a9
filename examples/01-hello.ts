// One role with one action. The model plays a script, so this runs without a key. For a real model write
// openai({ model: "gpt-5-mini" }) from "troupe" in its place.
import { defineAction, defineRole, Team } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region hello
const Greet = defineAction({
  name: "Greet",
  prompt: (ctx) => `Greet this person in one short sentence: ${ctx.text}`,
});

const host = defineRole({ name: "Hana", profile: "Host", goal: "make people feel welcome", actions: [Greet] });

const team = new Team({ roles: [host], model: scriptedModel(["Welcome, Ada! Come in, the kettle is on."]) });
const result = await team.run("Ada, who came on foot").result;

console.log(result.status); // finished
console.log(result.output?.content); // Welcome, Ada! Come in, the kettle is on.
// #endregion
