// A user says more to a run, while it works and after its end, a role comes and goes, and a person takes one. All of it is recorded; a finished run goes on.
import { createMessage, defineAction, defineRole, memoryJournal, Team, UserFeedback, UserRequirement } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region team
const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Write a line about ${ctx.text}.` });
const Change = defineAction({ name: "Change", prompt: (ctx) => `Change your line as the user says: ${ctx.text}` });
const writer = defineRole({
  name: "Wim",
  reactions: [
    { on: UserRequirement, do: Draft },
    { on: UserFeedback, do: Change },
  ],
});
const journal = memoryJournal(); // sqlite({ path }) from troupe/sqlite keeps runs on disk
const model = scriptedModel([
  "The sea is wide.",
  "The sea is wide and blue.",
  "The sea is blue.",
  "Blue sea.",
  "A blue wave.",
  "A blue whale.",
  "Whale.",
]);
const team = new Team({ roles: [writer], model, journal });
// #endregion

// #region publish
const run = team.run("the sea", { id: "sea" });
const { message, recipients } = await run.publish("name its colour"); // resolves when it is recorded
console.log(message.causeBy, "to", recipients.join()); // UserFeedback to Wim
console.log((await run.result).output?.content); // The sea is wide and blue.
// #endregion

// #region send
const wish = createMessage("make it shorter", { id: "wish-17" }); // with an id of yours, the same wish again is recorded once
const receipt = await team.send("sea", wish); // later, perhaps in another process
console.log("waits for a resume:", receipt.waits); // waits for a resume: true
console.log((await team.resume("sea").result).output?.content); // The sea is blue.

const shorter = await team.resume("sea", { add: ["even shorter"] }).result; // both in one call
console.log(shorter.status, shorter.output?.content); // finished Blue sea.
// #endregion

// #region hire
const Judge = defineAction({ name: "Judge", run: (ctx) => `${ctx.text} It has ${ctx.text.split(" ").length} words.` });
const critic = defineRole({ name: "Cora", reactions: [{ on: Change, do: Judge }] });
await run.hire(critic);
console.log((await team.resume("sea", { add: ["add a wave"] }).result).output?.content); // A blue wave. It has 3 words.
await run.retire("Cora");
console.log((await team.resume("sea", { add: ["no, a whale"] }).result).output?.content); // A blue whale.
// #endregion

// #region take
await run.takeRole("Wim", { by: "Ada" }); // from now on Ada is asked what Wim would ask its model
const asked = await team.resume("sea", { add: ["add a boat"] }).result;
const [question] = asked.questions; // without a `human` of the team it waits for her
console.log(asked.status, question?.to, question?.text); // waiting Ada Change your line as the user says: add a boat
const answered = await (await team.answer("sea", question?.id ?? "", "A whale below a boat.")).result;
console.log(answered.output?.content); // A whale below a boat.
await run.giveBackRole("Wim");
console.log((await team.resume("sea", { add: ["one word"] }).result).output?.content); // Whale.
// #endregion
