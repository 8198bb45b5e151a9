// One process of a long conversation with an agent, which is killed again and again. Its one argument is JSON: { url, turns, killAt?, and store (the path
// of a file) or database and schema }. It says every turn that has no reply yet, under an id of its own, as a program does that got no receipt. It prints what
// came of it as one line of JSON. Built code is what it runs, as a user's program does.
import { z } from "zod";
import { Agent, createMessage, defineTool, openai } from "../../dist/src/index.js";
import { mortal } from "./mortal-journal.mjs";

const { url, turns, killAt, store, database, schema } = JSON.parse(process.argv[2]);
const kept =
  store === undefined
    ? (await import("../../dist/src/adapters/postgres.js")).postgres({ url: database, schema })
    : (await import("../../dist/src/adapters/sqlite.js")).sqlite({ path: store });
const journal = killAt === undefined ? kept : mortal(kept, killAt);

const add = defineTool({
  name: "add",
  description: "Adds one.",
  parameters: z.object({ n: z.number() }),
  effect: "read",
  execute: ({ n }) => n + 1,
});
const model = openai({ model: "stub", baseURL: url, apiKey: "none", price: { input: 1, output: 2 } });
const agent = new Agent({ name: "counter", model, tools: [add], systemPrompt: "You count.", maxSteps: 5 });
const chat = await agent.conversation("count", { journal });

const history = await chat.history();
const answered = history.filter(({ sentFrom }) => sentFrom === "counter").length;
let error;
for (let turn = answered; turn < turns && error === undefined; turn += 1) {
  const said = await chat.say(createMessage(`turn ${turn}`, { id: `turn-${turn}` }));
  if (said.status !== "finished") error = said.error?.message ?? said.status;
}
const all = await chat.history();
await journal.close();
process.stdout.write(`${JSON.stringify({ error, said: all.map(({ content }) => content) })}\n`);
