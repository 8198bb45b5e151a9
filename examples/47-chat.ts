/** Conversations in a program: with a team, and with an agent, over a restart. */
import { defineAction, defineRole, memoryJournal, Team, Agent, defineTool } from "troupe";
import { scriptedModel } from "troupe/testing";
import { z } from "zod";

// #region team
const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
const model = scriptedModel(["A table for two, at eight.", "Then at nine."]);
const team = new Team({ roles: [defineRole({ name: "Ada", goal: "book tables", actions: [Answer] })], model });

const chat = team.conversation("table-4", { user: "ann" });
const { messages, status } = await chat.say("A table for two, please.");
console.log(status, messages.at(-1)?.content); // finished A table for two, at eight.
console.log((await chat.say("That is too early.")).messages.at(-1)?.content); // Then at nine.
console.log((await chat.history()).length, "messages"); // 4 messages
// #endregion

// #region agent
const tables = defineTool({
  name: "tables",
  description: "The free tables at an hour.",
  parameters: z.object({ hour: z.number() }),
  effect: "read",
  execute: ({ hour }) => (hour < 9 ? "none" : "table 4"),
});
const call = { toolCalls: [{ id: "1", type: "function", function: { name: "tables", arguments: '{"hour":9}' } }] } as const;
const host = (replies = scriptedModel([call, "Table 4 is free at nine.", "You have it."], { id: "host" })) =>
  new Agent({ name: "host", systemPrompt: "You book tables.", model: replies, tools: [tables] });

const journal = memoryJournal(); // sqlite({ path }) from troupe/sqlite keeps conversations on disk
const before = await host().conversation("ann", { journal });
console.log((await before.say("Nine o'clock?")).messages.at(-1)?.content); // Table 4 is free at nine.
// Later, in another process: what was said, and what the tools answered, is in the journal.
const after = await host(scriptedModel(["You have it."], { id: "host" })).conversation("ann", { journal });
console.log((await after.say("I take it.")).messages.at(-1)?.content); // You have it.
// #endregion

// #region context
declare module "troupe" {
  interface RunContext {
    readonly session: { readonly name: string };
  }
}

const Greet = defineAction({ name: "Greet", run: (ctx) => `Good evening, ${ctx.context.session.name}.` });
const greeters = new Team({ roles: [defineRole({ name: "Gil", actions: [Greet] })] });
const greeted = greeters.conversation("door", { context: { session: { name: "Ann" } } });
console.log((await greeted.say("Hello.")).messages.at(-1)?.content); // Good evening, Ann.
const stopped = await greeters.run("Hello.", { id: "door-2" }).result;
console.log(stopped.status, stopped.error?.code); // stopped CONTEXT_MISSING
// #endregion
