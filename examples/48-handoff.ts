/** Roles that hand a conversation to each other, and agents as tools. */
import { defineRole, handoff, Team, Agent, asTool } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region handoff
/** A reply of a model that calls a tool. A real model writes it itself. */
const call = (name: string, args: object) =>
  ({ toolCalls: [{ id: "1", type: "function", function: { name, arguments: JSON.stringify(args) } }] }) as const;
const model = scriptedModel([call("transfer_to_Rita", { reason: "she wants her money back" }), "You get it back.", "Tomorrow."]);

const rita = defineRole({ name: "Rita", goal: "decide about refunds", reactMode: "agent", watch: [] });
const desk = defineRole({ name: "Desk", goal: "greet customers", tools: [handoff(rita)] });
const chat = new Team({ roles: [desk, rita], model }).conversation("ann");
const { messages } = await chat.say("I want my money back.");
// #endregion
console.log(messages.map(({ sentFrom, content }) => `${sentFrom}: ${content}`).join(" | ")); // Desk: she wants ... | Rita: You get it back.
console.log((await chat.say("When?")).messages[0]?.sentFrom); // Rita

// #region tool
const poet = new Agent({ name: "poet", description: "Writes a line of verse.", model: scriptedModel(["The sea is wide."]) });
const writer = scriptedModel([call("poet", { task: "the sea" }), "Here it is: The sea is wide."]);
const host = new Agent({ name: "host", model: writer, tools: [asTool(poet)] });
console.log((await host.run("A line about the sea?").result).answer); // Here it is: The sea is wide.
// #endregion
