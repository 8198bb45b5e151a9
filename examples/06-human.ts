// A human in the loop. With somebody there, the question is asked and the answer recorded like a model's. With nobody there,
// the run ends as `waiting`, keeps everything it has, and goes on when somebody has come.
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
console.log(alone.status, "-", alone.error?.message);

const withHuman = new Team({ roles: [clerk], journal, human: (question) => (question.text.includes("tea") ? "yes" : "no") });
const result = await withHuman.resume("tea").result;
console.log(result.status, "-", result.output?.content); // the draft was not made again

const asked = await new Team({ roles: [clerk], journal }).run("coffee", { id: "coffee" }).result;
const [question] = asked.questions;
const answered = await new Team({ roles: [clerk], journal }).answer("coffee", question?.id ?? "", "no"); // days later, say
console.log((await answered.result).output?.content);
// #endregion
