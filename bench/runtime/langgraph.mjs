import { AIMessage } from "@langchain/core/messages";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { tool } from "@langchain/core/tools";
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

const Count = Annotation.Root({
  count: Annotation(),
  heard: Annotation({ reducer: (one, other) => one + other, default: () => 0 }),
});

function pingPong(n, saver) {
  const next = ({ count }, other) => (count >= n ? END : other);
  return new StateGraph(Count)
    .addNode("one", ({ count }) => ({ count: count + 1 }))
    .addNode("other", ({ count }) => ({ count: count + 1 }))
    .addEdge(START, "one")
    .addConditionalEdges("one", (state) => next(state, "other"))
    .addConditionalEdges("other", (state) => next(state, "one"))
    .compile(saver === undefined ? {} : { checkpointer: saver });
}

/** A model without latency that calls a tool `n` times, then answers. */
class ScriptedModel extends BaseChatModel {
  #n;
  #asked = 0;

  constructor(n) {
    super({});
    this.#n = n;
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate() {
    this.#asked += 1;
    const call = { id: `c${this.#asked}`, name: "look", args: { at: this.#asked }, type: "tool_call" };
    const message = this.#asked > this.#n ? new AIMessage("done") : new AIMessage({ content: "", tool_calls: [call] });
    return { generations: [{ text: "", message }] };
  }
}

export const cases = {
  /** Its prebuilt agent. */
  async agent(n) {
    const { createReactAgent } = await import("@langchain/langgraph/prebuilt");
    const look = tool(async () => "seen", { name: "look", description: "Looks.", schema: z.object({ at: z.number() }) });
    const agent = createReactAgent({ llm: new ScriptedModel(n), tools: [look] });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] }, { recursionLimit: 3 * n + 10 });
    return { done: messages.at(-1).content === "done" ? n : 0 };
  },

  async hop(n) {
    const { count } = await pingPong(n).invoke({ count: 0 }, { recursionLimit: n + 10 });
    return { done: count };
  },

  /** The same with its SQLite saver; what it writes is told. */
  async durable(n) {
    const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
    const { mkdtempSync, rmSync, statSync } = await import("node:fs");
    const folder = mkdtempSync("/tmp/bench-langgraph-");
    const saver = SqliteSaver.fromConnString(`${folder}/runs.db`);
    const { count } = await pingPong(n, saver).invoke({ count: 0 }, { recursionLimit: n + 10, configurable: { thread_id: "1" } });
    saver.db.close();
    const bytes = statSync(`${folder}/runs.db`).size;
    rmSync(folder, { recursive: true });
    return { done: count, bytes };
  },

  async fanout(n) {
    const graph = new StateGraph(Count)
      .addNode("speaker", () => ({}))
      .addNode("listener", () => ({ heard: 1 }))
      .addEdge(START, "speaker")
      .addConditionalEdges("speaker", () => Array.from({ length: n }, () => new Send("listener", { count: 0 })))
      .compile();
    const { heard } = await graph.invoke({ count: 0 }, { recursionLimit: 10 });
    return { done: heard };
  },

  async chain(n) {
    let graph = new StateGraph(Count);
    for (let place = 0; place < 100; place += 1) graph = graph.addNode(`link${place}`, ({ count }) => ({ count: count + 1 }));
    graph.addEdge(START, "link0");
    for (let place = 1; place < 100; place += 1) graph.addEdge(`link${place - 1}`, `link${place}`);
    const compiled = graph.addEdge("link99", END).compile();
    let done = 0;
    for (let run = 0; run < n; run += 1) done += (await compiled.invoke({ count: 0 }, { recursionLimit: 200 })).count;
    return { done };
  },
};
