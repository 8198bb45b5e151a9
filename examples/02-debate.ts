// Two roles argue. Each sends its argument to the other one alone (sendTo). The number of rounds ends the debate.
import { createMessage, defineAction, defineRole, Environment } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region debate
const opponents: Record<string, string> = { Tabitha: "Spencer", Spencer: "Tabitha" };

const SpeakAloud = defineAction({
  name: "SpeakAloud",
  prompt: (ctx) => {
    const said = ctx.memory.get().map((message) => `${message.sentFrom || "Moderator"}: ${message.content}`);
    return `You debate with ${opponents[ctx.name]}. So far:\n${said.join("\n")}\nAnswer the last argument in one sentence.`;
  },
  sendTo: (ctx) => [opponents[ctx.name] ?? ""],
});

const tabitha = defineRole({ name: "Tabitha", profile: "Debater", goal: "win for tabs", actions: [SpeakAloud] });
const spencer = defineRole({ name: "Spencer", profile: "Debater", goal: "win for spaces", actions: [SpeakAloud] });

const model = scriptedModel([
  "A tab is one character that every reader may show as wide as they like.",
  "A space looks the same on every screen, and code is read on screens I do not own.",
  "You fix the width for people whose eyes you do not own either.",
  "I fix it once; you ask every one of them to fix it for themselves.",
]);

const environment = new Environment({ description: "a debate on indentation", model });
environment.addRoles([tabitha, spencer]);
environment.publishMessage(createMessage("Topic: tabs or spaces? Tabitha begins.", { sendTo: [tabitha] }));
const { messages, rounds } = await environment.run({ rounds: 4 });

for (const message of messages) console.log(`${message.sentFrom || "Moderator"}: ${message.content}`);
console.log(`${rounds} rounds`); // 4 rounds
// #endregion
