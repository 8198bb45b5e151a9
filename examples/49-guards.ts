/** Checks of what goes into a role, comes out of it, and of the calls of its tools. */
import { Agent, defineTool, guard, defineAction, defineRole, Team } from "troupe";
import { z } from "zod";
import { scriptedModel } from "troupe/testing";

// #region guards
const judge = scriptedModel(['{"isHarmful":false}']); // a small model
const harmless = guard({
  name: "harmless",
  on: "input",
  beside: true, // while the model of the agent works
  async check({ text, ask }) {
    const { isHarmful } = await ask(`Is this harmful? ${text}`, { model: judge, schema: z.object({ isHarmful: z.boolean() }) });
    return isHarmful ? "It asks for harm." : undefined;
  },
});
const noNumbers = guard({
  name: "no card numbers",
  on: "output",
  check: ({ text }) => ({ rewrite: text.replaceAll(/\d{16}/g, "(a card)") }),
});
const inTown = guard({
  name: "in town",
  on: "call",
  then: "retry", // the model reads the reason
  check: ({ call }) => (call?.args["city"] === "Oslo" ? undefined : "Only Oslo is served."),
});

const taxi = defineTool({
  name: "taxi",
  description: "Orders a taxi.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `ordered in ${city}`,
});
const call = (city: string) =>
  ({ toolCalls: [{ id: city, type: "function", function: { name: "taxi", arguments: JSON.stringify({ city }) } }] }) as const;
const model = scriptedModel([call("Rome"), call("Oslo"), "It comes. I charged 4111111111111111."]);
const agent = new Agent({ name: "driver", model, tools: [taxi], guards: [harmless, noNumbers, inTown] });
const run = agent.run("A taxi, please.");
for await (const event of run) if (event.type === "call.ended") console.log(event.outcome); // denied, then ok
console.log((await run.result).answer); // It comes. I charged (a card).
// #endregion

// #region refused
const polite = guard({
  name: "polite",
  on: "output",
  then: "retry",
  check: ({ text }) => (text.includes("please") ? undefined : 'It lacks a "please".'),
});
const Reply = defineAction({ name: "Reply", prompt: (ctx) => ctx.text });
const role = defineRole({ name: "Ann", actions: [Reply], guards: [polite] });
const { output } = await new Team({ roles: [role], model: scriptedModel(["Go left.", "Go left, please."]) }).run("Where?").result;
console.log(output?.content); // Go left, please.
const rude = await new Team({ roles: [role], model: scriptedModel(() => "Go left.") }).run("Where?").result;
console.log(rude.status, rude.error?.code); // failed GUARD_REFUSED
// #endregion
