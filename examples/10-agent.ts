import { Agent, defineTool } from "troupe";
// An agent: a model with tools that works on a task until it has an answer.
import { z } from "zod";
import { ChatMemory } from "troupe/agents";
import { scriptedModel } from "troupe/testing";

// #region agent
/** A reply of a model that calls a tool. A real model writes it itself. */
function call(name: string, args: object) {
  return { toolCalls: [{ id: "call_1", type: "function", function: { name, arguments: JSON.stringify(args) } }] } as const;
}

const weather = defineTool({
  name: "weather",
  description: "Tells the weather in a city.",
  parameters: z.object({ city: z.string() }),
  effect: "read",
  execute: ({ city }) => `21 degrees and sun in ${city}`,
});

const model = scriptedModel([call("weather", { city: "Paris" }), "It is 21 degrees in Paris: no coat.", "As I said: no coat."]);
const agent = new Agent({ name: "guide", model, tools: [weather], systemPrompt: "You help people to pack." });

const run = agent.run("Do I need a coat in Paris?");
for await (const event of run) {
  if (event.type === "call.ended") console.log(event.call.function.name, "->", event.result.output); // weather -> 21 degrees ...
}
const { status, answer, steps } = await run.result;
console.log(status, "in", steps, "steps:", answer); // finished in 2 steps: It is 21 degrees in Paris: no coat.
// #endregion

// #region again
const again = await agent.run("Are you sure?").result; // the same conversation goes on
console.log(again.answer, "|", (await agent.memory.dump()).length, "messages"); // As I said: no coat. | 6 messages
// #endregion

// #region limits
const endless = scriptedModel((_request, n) => call("weather", { city: `City ${n}` }));
const bounded = new Agent({ name: "wanderer", model: endless, tools: [weather], maxSteps: 3, memory: new ChatMemory({ maxMessages: 20 }) });
console.log((await bounded.run("Travel.").result).status, bounded.state); // max_steps IDLE

const stopped = bounded.run("Travel on.", { signal: AbortSignal.timeout(60_000) }); // a signal of yours stops a run too
stopped.stop("enough");
console.log((await stopped.result).status); // stopped
// #endregion

// #region output
const Packing = z.object({ items: z.array(z.string()), coat: z.boolean() });
const packer = new Agent({ name: "packer", model: scriptedModel(['{"items": ["hat"], "coat": false}']), output: Packing });
const { output } = await packer.run("What do I pack for Paris?").result; // { items: string[]; coat: boolean } | undefined
console.log(output?.items.join(), output?.coat); // hat false
// #endregion
