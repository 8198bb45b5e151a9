// A person in the loop. Their answer is recorded like the answer of a model. Without a person the run ends with status `waiting`, and
// goes on after an answer.
import { defineAction, defineRole, memoryJournal, Team } from "troupe";

// #region human
const Publish = defineAction({
  name: "Publish",
  run: async (ctx) => {
    const draft = await ctx.step("draft", { topic: ctx.text }, async () => `A note on ${ctx.text}`);
    const answer = await ctx.human.ask(`Publish "${draft}"? (yes/no)`);
    return answer === "yes" ? `published: ${draft}` : "kept in the drawer";
  },
});
const clerk = defineRole({ name: "Clara", actions: [Publish] });
const journal = memoryJournal();

const alone = await new Team({ roles: [clerk], journal }).run("tea", { id: "tea" }).result;
console.log(alone.status, "-", alone.error?.message); // waiting - Clara waits for a human to answer: ...

const withHuman = new Team({ roles: [clerk], journal, human: (question) => (question.text.includes("tea") ? "yes" : "no") });
const result = await withHuman.resume("tea").result;
console.log(result.status, "-", result.output?.content); // finished - published: A note on tea; the draft was not made again

const asked = await new Team({ roles: [clerk], journal }).run("coffee", { id: "coffee" }).result;
const [question] = asked.questions;
const answered = await new Team({ roles: [clerk], journal }).answer("coffee", question?.id ?? "", "no"); // perhaps days later
console.log((await answered.result).output?.content); // kept in the drawer
// #endregion
