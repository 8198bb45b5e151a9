import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { tool } from "@langchain/core/tools";
import { Annotation, Command, END, interrupt, Send, START, StateGraph } from "@langchain/langgraph";
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

const PIECES = Array.from({ length: 100 }, (_, k) => `${k} `);

/** A model that calls a tool `n` times, then answers. */
class ScriptedModel extends BaseChatModel {
  #n;
  #latency;
  #asked = 0;

  constructor(n, latency = 0) {
    super({});
    this.#n = n;
    this.#latency = latency;
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async *_streamResponseChunks(_messages, _options, manager) {
    for (const text of PIECES) {
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      await manager?.handleLLMNewToken(text);
    }
  }

  async _generate() {
    this.#asked += 1;
    if (this.#latency > 0) await new Promise((resolve) => setTimeout(resolve, this.#latency));
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
    const folder = mkdtempSync(join(tmpdir(), "bench-langgraph-"));
    const saver = SqliteSaver.fromConnString(`${folder}/runs.db`);
    const from = performance.now();
    const { count } = await pingPong(n, saver).invoke({ count: 0 }, { recursionLimit: n + 10, configurable: { thread_id: "1" } });
    const ms = performance.now() - from;
    saver.db.close();
    const bytes = statSync(`${folder}/runs.db`).size;
    rmSync(folder, { recursive: true });
    return { done: count, ms, bytes };
  },

  async fanout(n) {
    const graph = new StateGraph(Count)
      .addNode("speaker", () => ({}))
      .addNode("listener", () => ({ heard: 1 }))
      .addEdge(START, "speaker")
      .addConditionalEdges("speaker", () => Array.from({ length: n }, () => new Send("listener", { count: 0 })))
      .compile();
    const from = performance.now();
    const { heard } = await graph.invoke({ count: 0 }, { recursionLimit: 10 });
    return { done: heard, ms: performance.now() - from };
  },

  async chain(n) {
    let graph = new StateGraph(Count);
    for (let place = 0; place < 100; place += 1) graph = graph.addNode(`link${place}`, ({ count }) => ({ count: count + 1 }));
    graph.addEdge(START, "link0");
    for (let place = 1; place < 100; place += 1) graph.addEdge(`link${place - 1}`, `link${place}`);
    const compiled = graph.addEdge("link99", END).compile();
    let done = 0;
    for (let run = 0; run < n; run += 1) done += (await compiled.invoke({ count: 0 }, { recursionLimit: 200 })).count / 100;
    return { done };
  },

  /** A run that waits for a word from outside, in a file, opened by another saver. */
  async resume(n) {
    const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
    const { mkdtempSync, rmSync } = await import("node:fs");
    const folder = mkdtempSync(join(tmpdir(), "bench-langgraph-"));
    const config = { recursionLimit: n + 10, configurable: { thread_id: "1" } };
    const graph = (saver) =>
      new StateGraph(Count)
        .addNode("one", ({ count }) => {
          if (count === n) interrupt("go on?");
          return { count: count + 1 };
        })
        .addEdge(START, "one")
        .addConditionalEdges("one", ({ count }) => (count > n ? END : "one"))
        .compile({ checkpointer: saver });
    const first = SqliteSaver.fromConnString(`${folder}/runs.db`);
    await graph(first).invoke({ count: 0 }, config);
    first.db.close();
    const from = performance.now();
    const second = SqliteSaver.fromConnString(`${folder}/runs.db`);
    const { count } = await graph(second).invoke(new Command({ resume: "yes" }), config);
    second.db.close();
    const ms = performance.now() - from;
    rmSync(folder, { recursive: true });
    if (count !== n + 1) throw new Error(`Expected ${n + 1} hops, got ${Number(count)}.`);
    return { done: n, ms };
  },

  async stream(n) {
    const model = new ScriptedModel(0);
    const graph = new StateGraph(Count)
      .addNode("one", async () => ({ count: (await model.invoke("go")).content.length }))
      .addEdge(START, "one")
      .addEdge("one", END)
      .compile();
    let heard = 0;
    for (let k = 0; k < n; k += 1) {
      for await (const [piece] of await graph.stream({ count: 0 }, { streamMode: "messages" })) heard += piece.content === "" ? 0 : 1;
    }
    return { done: heard / 100 };
  },

  async parallel(n) {
    const graph = new StateGraph(Count)
      .addNode("speaker", () => ({}))
      .addNode("one", async () => {
        const { content } = await new ScriptedModel(0, 200).invoke("go");
        return { heard: content === "done" ? 1 : 0 };
      })
      .addEdge(START, "speaker")
      .addConditionalEdges("speaker", () => Array.from({ length: n }, () => new Send("one", { count: 0 })))
      .compile();
    return { done: (await graph.invoke({ count: 0 })).heard };
  },

  async "idle-agent"(n) {
    const { createReactAgent } = await import("@langchain/langgraph/prebuilt");
    const look = tool(async () => "seen", { name: "look", description: "Looks.", schema: z.object({}) });
    const llm = new ScriptedModel(0);
    return { keep: Array.from({ length: n }, (_, k) => createReactAgent({ name: `agent${k}`, llm, tools: [look] })) };
  },
};
