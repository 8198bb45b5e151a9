import { Agent } from "troupe";
// Ways of thinking: a net says which state follows which, and a brain runs it over a memory.
import { type AgentMemory, Brain, ChatMessage, type Mind, MessagesMemory, Net, reflexion, treeOfThought } from "troupe/agents";
import { scriptedModel } from "troupe/testing";

// #region reflexion
const careful = new Agent({
  name: "careful",
  model: scriptedModel(["5", "I forgot to carry. Count again from the right.", "12"]),
  net: reflexion({ evaluate: ({ text }) => ({ pass: text === "12", feedback: `${text} is not what the test wants` }) }),
});
const { answer, steps } = await careful.run("What is 7 + 5?").result;
console.log(answer, "after", steps, "steps"); // 12 after 4 steps
// #endregion

// #region tree
const thinker = scriptedModel(({ messages }) => {
  const asked = messages.map(({ content = "" }) => content).join("\n");
  if (asked.includes("Propose")) return '{"thoughts": ["go by train", "go on foot"]}';
  if (asked.includes("likely this way")) return asked.includes("train") ? '{"score": 9}' : '{"score": 2}';
  return "By train.";
});
const planner = new Agent({ name: "planner", model: thinker, net: treeOfThought({ branches: 2, width: 1, depth: 1 }) });
console.log((await planner.run("How do I get to Rome?").result).answer, thinker.calls.length, "calls"); // By train. 4 calls
// #endregion

// #region own
/** Two states without data: write a draft, then shorten it. */
const state = (prompt: string, next: string, isLast: boolean) => ({
  async *run(memory: AgentMemory, mind: Mind) {
    const reply = yield* mind.ask({ prompt });
    await memory.update([ChatMessage.assistant(reply.content)]);
    if (!isLast) return;
    memory.answer = { text: reply.content, status: "success" };
    memory.done = true;
  },
  nextState: () => Promise.resolve(next),
});
const shorter = new Net({
  name: "shorter",
  start: "draft",
  states: { draft: state("Write a draft.", "cut", false), cut: state("Now in three words.", "cut", true) },
});

const memory = new MessagesMemory({ tools: [] });
await memory.setGoal("Say what a bridge is.");
const brain = new Brain({ model: scriptedModel(["A bridge leads over a river.", "Roads over water."]), net: shorter });
let said = "";
for await (const piece of brain.run(memory)) said += piece;
console.log(memory.answer?.text, "|", said.length, "characters streamed"); // Roads over water. | 45 characters streamed
// #endregion
