// A person in the loop. Their answer is recorded like the answer of a model. Without a person the run ends with status `waiting`, and
// goes on after an answer.
import { defineAction, defineRole, memoryJournal, Team } from "troupe";
import { z } from "zod";

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

// #region form
const Trip = z.object({ city: z.string().min(1), nights: z.int().min(1).max(14).default(2) });
const Book = defineAction({
  name: "Book",
  run: async (ctx) => {
    const { city, nights } = await ctx.human.ask("Which trip?", { schema: Trip, to: "Ada" });
    const pay = await ctx.human.ask("Pay now?", { choices: ["yes", "no"], default: "no", deadline: 60 * 60 * 1000 });
    return `${nights} nights in ${city}, paid: ${pay}`;
  },
});
const agency = new Team({ roles: [defineRole({ name: "Petra", actions: [Book] })], journal });

const open = await agency.run("a holiday", { id: "trip" }).result;
const [trip] = open.questions; // { id, role: "Petra", text, to: "Ada", form: { kind: "fields", schema } }
const wrong = await agency.answer("trip", trip?.id ?? "", { city: "", nights: 3 }).catch((error: Error) => error.message);
console.log(wrong); // ... city: Expected a text of at least 1 character, got "".

const next = await (await agency.answer("trip", trip?.id ?? "", { city: "Oslo" })).result;
const [pay] = next.questions; // its deadline is an hour from now; agency.resume("trip") takes "no" after that
console.log((await (await agency.answer("trip", pay?.id ?? "", "yes")).result).output?.content); // 2 nights in Oslo, paid: yes
// #endregion
