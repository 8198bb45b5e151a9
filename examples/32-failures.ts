// Failures of coordination, told while a run is under way: two polite roles thank each other until the rounds are used up, and one of them asks a
// colleague whom the team does not have.
import { createMessage, defineAction, defineRole, Environment } from "troupe";
import { watchFailures } from "troupe/research";
import { scriptedModel } from "troupe/testing";

// #region watch
const Thank = defineAction({
  name: "Thank",
  prompt: ({ memory }) => ["Answer the last line politely:", ...memory.get().map(({ content }) => content)].join("\n"),
  sendTo: (ctx) => [ctx.name === "Ada" ? "Ben" : "Ada"],
});
const Ask = defineAction({ name: "Ask", prompt: () => "Ask for a test.", sendTo: () => ["Tess"] });

const office = new Environment({
  model: scriptedModel(({ messages }) => (JSON.stringify(messages).includes("test") ? "Is it tested?" : "Thank you!")),
});
office.addRole(defineRole({ name: "Ada", actions: [Thank] }));
office.addRole(defineRole({ name: "Ben", actions: [Thank] }));
office.addRole(defineRole({ name: "Cy", actions: [Ask] }));
watchFailures(office, ({ failure, mode, roles }) => console.log(`${failure} (${mode}): ${roles.join(", ")}`));
// #endregion

office.publishMessage(createMessage("Thank Ben", { sendTo: "Ada" }));
office.publishMessage(createMessage("Get it tested", { sendTo: "Cy" }));
await office.run({ rounds: 6 });
