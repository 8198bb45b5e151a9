// A person as a member of the team: the questions of their role go to them instead of a model, and their answers are messages like any other.
import { createInterface } from "node:readline/promises";
import { defineAction, defineRole, type HumanPort, memoryJournal, Team } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region person
const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Write a line about ${ctx.text}.` });
const Review = defineAction({ name: "Review", prompt: (ctx) => `Review this draft, and say "good" or what to change:\n${ctx.text}` });

const writer = defineRole({ name: "Wim", actions: [Draft] });
const reviewer = defineRole({ name: "Rosa", profile: "Reviewer", watch: [Draft], actions: [Review], human: true });

const model = scriptedModel(["The sea is wide."]);
const answers: HumanPort = ({ role, text }) => `${role} was asked ${text.length > 0 ? "something" : "nothing"}: good`;
const result = await new Team({ roles: [writer, reviewer], model, human: answers }).run("the sea").result;
console.log(result.messages.map(({ sentFrom }) => sentFrom || "user").join(" -> ")); // user -> Wim -> Rosa
console.log(result.output?.content);
// #endregion

// #region terminal
/** Asks on the terminal. */
export const onTerminal: HumanPort = async ({ role, text }, { signal }) => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await terminal.question(`${role}: ${text}\n> `, { signal });
  } finally {
    terminal.close();
  }
};
// #endregion

// #region later
const journal = memoryJournal(); // sqlite({ path }) from troupe/sqlite keeps the run on disk while it waits
const roles = [writer, reviewer];
const asked = await new Team({ roles, model: scriptedModel(["The sea is old."]), journal }).run("the sea", { id: "sea" }).result;
console.log(asked.status, asked.questions.length); // waiting 1

const [question] = asked.questions; // show question.text in a mail or on a page; the answer may come days later
const run = await new Team({ roles, model: scriptedModel([]), journal }).answer("sea", question?.id ?? "", "good");
console.log((await run.result).output?.content); // good
// #endregion
