/** Conversations in a program: with a team, and with an agent, over a restart. */
import { defineAction, defineRole, memoryJournal, Team, Agent, defineTool } from "troupe";
import { scriptedModel } from "troupe/testing";
import { z } from "zod";

// #region team
const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
const model = scriptedModel(["A table for two, at eight.", "Then at nine.", "It is booked."]);
const team = new Team({ roles: [defineRole({ name: "Ada", goal: "book tables", actions: [Answer] })], model });

const chat = team.conversation("table-4", { user: "ann" });
const { output, status } = await chat.say("A table for two, please.");
console.log(status, output?.content); // finished A table for two, at eight.
console.log((await chat.say("That is too early.")).output?.content); // Then at nine.
console.log((await chat.history()).length, "messages"); // 4 messages
// #endregion

// #region stream
/** A route of Hono, Next.js, Deno or Bun: sends the answer to the page while it is written. */
function reply(id: string, words: string): Response {
  const gone = new AbortController();
  const body = new ReadableStream<string>({
    async start(page) {
      const send = (event: string, data: object): void => {
        if (!gone.signal.aborted) page.enqueue(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      };
      const turn = await team.conversation(id, { user: "ann" }).say(words, {
        signal: gone.signal, // leave it out to finish the turn without a reader
        onNotice(notice) {
          if (notice.type === "model.delta") send("delta", { text: notice.text });
          if (notice.type === "model.void") send("void", {}); // the page drops the text of this try
        },
      });
      send("end", { status: turn.status, question: turn.question, error: turn.error?.message });
      if (!gone.signal.aborted) page.close();
    },
    cancel: () => gone.abort(),
  });
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers: { "content-type": "text/event-stream" } });
}
// #endregion
const sent = await reply("table-4", "Good.").text();
console.log(sent.match(/^event: .*$/gm)?.join(", "));

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
console.log((await before.say("Nine o'clock?")).output?.content); // Table 4 is free at nine.
// Later, in another process: what was said, and what the tools answered, is in the journal.
const after = await host(scriptedModel(["You have it."], { id: "host" })).conversation("ann", { journal });
console.log((await after.say("I take it.")).output?.content); // You have it.
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
console.log((await greeted.say("Hello.")).output?.content); // Good evening, Ann.
const stopped = await greeters.run("Hello.", { id: "door-2" }).result;
console.log(stopped.status, stopped.error?.code); // stopped CONTEXT_MISSING
// #endregion

// #region context-tool
const bill = defineTool({
  name: "bill",
  description: "What the guest has to pay.",
  parameters: z.object({}),
  effect: "read",
  execute: (_nothing, { context }) => `the bill of ${context.session.name}: 30 coins`,
});
const asks = { toolCalls: [{ id: "1", type: "function", function: { name: "bill", arguments: "{}" } }] } as const;
const answers = scriptedModel([asks, (request) => `It is ${request.messages.at(-1)?.content}.`]);
const cashier = new Agent({ name: "cashier", model: answers, tools: [bill] });
const { answer } = await cashier.run("What do I owe?", { context: { session: { name: "Ann" } } }).result;
console.log(answer); // It is the bill of Ann: 30 coins.
// #endregion
