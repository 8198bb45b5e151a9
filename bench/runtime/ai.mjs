import { generateText, Output, stepCountIs, streamText, tool, ToolLoopAgent } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { z } from "zod";

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const reason = (unified) => ({ unified, raw: unified });
const reply = (content, finish = "stop") => ({ content, finishReason: reason(finish), usage, warnings: [] });

export const cases = {
  async agent(n) {
    let asked = 0;
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        asked += 1;
        if (asked > n) return reply([{ type: "text", text: "done" }]);
        return reply([{ type: "tool-call", toolCallId: `c${asked}`, toolName: "look", input: `{"at":${asked}}` }], "tool-calls");
      },
    });
    const look = tool({ description: "Looks.", inputSchema: z.object({ at: z.number() }), execute: async () => "seen" });
    const { text } = await generateText({ model, prompt: "go", tools: { look }, stopWhen: stepCountIs(n + 10) });
    return { done: text === "done" ? n : 0 };
  },

  async typed(n) {
    const model = new MockLanguageModelV4({ doGenerate: async () => reply([{ type: "text", text: '{"title":"x","tags":["a","b"]}' }]) });
    const schema = z.object({ title: z.string(), tags: z.array(z.string()) });
    let done = 0;
    for (let k = 0; k < n; k += 1)
      done += (await generateText({ model, prompt: "go", output: Output.object({ schema }) })).output.tags.length / 2;
    return { done };
  },

  async stream(n) {
    const pieces = Array.from({ length: 100 }, (_, k) => ({ type: "text-delta", id: "1", delta: `${k} ` }));
    const chunks = [
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "1" },
      ...pieces,
      { type: "text-end", id: "1" },
      { type: "finish", finishReason: reason("stop"), usage },
    ];
    const model = new MockLanguageModelV4({
      doStream: async () => ({ stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }),
    });
    let heard = 0;
    for (let k = 0; k < n; k += 1) for await (const _piece of streamText({ model, prompt: "go" }).textStream) heard += 1;
    return { done: heard / 100 };
  },

  async parallel(n) {
    const doGenerate = () => new Promise((resolve) => setTimeout(resolve, 200, reply([{ type: "text", text: "said" }])));
    const model = new MockLanguageModelV4({ doGenerate });
    const said = await Promise.all(Array.from({ length: n }, () => generateText({ model, prompt: "go" })));
    return { done: said.filter(({ text }) => text === "said").length };
  },

  "idle-agent"(n) {
    const model = new MockLanguageModelV4({ doGenerate: async () => reply([]) });
    const tools = { look: tool({ description: "Looks.", inputSchema: z.object({}), execute: async () => "seen" }) };
    return { keep: Array.from({ length: n }, (_, place) => new ToolLoopAgent({ id: `agent${place}`, model, tools })) };
  },
};
