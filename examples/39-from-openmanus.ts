// For those who come from OpenManus: what its names are called here. The page docs/guides/from-metagpt-openmanus.md shows the lines.
import { z } from "zod";
import {
  type AgentMemory,
  Brain,
  callTool,
  ChatMemory,
  ChatMessage,
  combineResults,
  isFailure,
  joinMessages,
  Lifecycle,
  MessagesMemory,
  type Mind,
  Net,
  type NetState,
  PlanningFlow,
  react,
  resultText,
  terminate,
  toolFailure,
  ToolCollection,
  toolMessage,
  toolOutput,
  type ToolResult,
  toOpenAI,
} from "troupe/agents";
import { Agent, defineTool, usd } from "troupe";
import { scriptedModel } from "troupe/testing";
import { askHumanTool, createChatCompletion, planningTool } from "troupe/tools";

// #region messages
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } } as const;
const question = ChatMessage.user("Do I need a coat?", { images: [{ mediaType: "image/png", data: "aGVsbG8=" }] });
const conversation = joinMessages(ChatMessage.system("You help."), [question, ChatMessage.fromToolCalls([call])]);
const chat = new ChatMemory({ maxMessages: 100 });
chat.add(ChatMessage.user("Hello."));
chat.addAll([ChatMessage.assistant("Hello!"), ChatMessage.user("Do I need a coat?")]);
console.log(conversation.length, chat.recent(2).length, toOpenAI(chat.messages).length); // 3 2 3
chat.clear();
// #endregion

// #region tools
const weather = defineTool({
  name: "weather",
  description: "Tells the weather in a city.",
  parameters: z.object({ city: z.string() }),
  effect: "read",
  maxOutput: 2_000,
  execute: ({ city }): ToolResult => (city === "Oslo" ? toolOutput("snow", { data: { city } }) : toolFailure(`no station in ${city}`)),
});
const tools = new ToolCollection([weather, terminate]);
tools.add([planningTool(), askHumanTool()]);
console.log(tools.names.join(), tools.has("weather"), tools.get("bash"), tools.remove("ask_human")); // weather,terminate,planning,ask_human true undefined true

const called = await callTool(call, { tools });
const both = combineResults(called.result, toolFailure("the second station is silent"));
console.log(called.outcome, isFailure(both), resultText(both).split("\n")[0]); // ok true Error: the second station is silent
console.log(toolMessage(called).content, tools.specs[0]?.name); // snow weather
// #endregion

// #region lifecycle
const life = new Lifecycle();
life.move("start", (move, from, to) => console.log(`${move}: ${from} to ${to}`)); // start: IDLE to RUNNING
life.move("step");
console.log(life.move("finish"), life.steps, life.move("reset")); // FINISHED 1 IDLE
// #endregion

// #region agent
const model = scriptedModel([{ toolCalls: [call] }, "It snows: take a coat."]);
const agent = new Agent({
  name: "guide",
  description: "knows the weather",
  model,
  systemPrompt: "You help people to pack.",
  nextStepPrompt: "What is the next step? Give the answer when you have it.", // the last message of each request, and never stored
  tools,
  toolChoice: "auto",
  memory: chat,
  maxSteps: 20,
  maxObserve: 10_000,
  loops: { repeats: 3 },
  tokenLimit: 50_000,
  budget: usd(1),
});
const { status, answer, steps } = await agent.run("Do I need a coat in Oslo?").result;
console.log(status, answer, steps, agent.state, agent.steps); // finished It snows: take a coat. 2 FINISHED 2
console.log(model.calls[1]?.messages.at(-1)?.content === "What is the next step? Give the answer when you have it.", chat.size); // true 4
// #endregion
agent.reset();
await agent.memory.update([ChatMessage.user("And in Rome?")]);

// A tool that ends the run, and an agent's last words in a form.
const submit = defineTool({ name: "submit", description: "Hands in.", ends: true, execute: () => toolOutput("handed in") });
const typed = new Agent({
  name: "typed",
  model: scriptedModel(['{"coat":true}']),
  tools: [submit],
  output: z.object({ coat: z.boolean() }),
});
console.log((await typed.run("Coat?").result).output, createChatCompletion().ends); // { coat: true } true

// #region stuck
const endless = scriptedModel(() => ({ toolCalls: [call] }));
const stuck = await new Agent({ name: "stuck", model: endless, tools: [weather] }).run("Go on.").result;
console.log(stuck.status, stuck.steps); // loop 6
// #endregion

const packer = new Agent({ name: "packer", model: scriptedModel(["packed"]) });
const flow = new PlanningFlow({ model, tasks: [{ id: "1", instruction: "pack", type: "pack" }], executors: { pack: packer } });
console.log((await flow.run("a trip").result).answer); // packed

// #region state
/** A state reads and writes the memory, and holds nothing itself. */
const answering: NetState = {
  async *run(memory: AgentMemory, mind: Mind) {
    const { content } = yield* mind.ask({ prompt: `You have these tools: ${memory.listTools()}` });
    await memory.update([ChatMessage.assistant(content)]);
    memory.answer = { text: content, status: "success" };
    memory.done = true;
  },
  nextState: async () => "answering",
};
const thoughts = new MessagesMemory({ tools: [weather] });
await thoughts.setGoal("Do I need a coat?");
const brain = new Brain({ model: scriptedModel(["Yes."]), net: new Net({ name: "short", start: "answering", states: { answering } }) });
for await (const text of brain.run(thoughts)) console.log(text); // Yes.
console.log(thoughts.done, (await thoughts.goal()).length, (await thoughts.dump()).length, thoughts.getTool("weather")?.name); // true 1 2 weather
// #endregion
console.log(react().stateNames.join(), thoughts.nextAction); // reasoning,action,answer undefined
