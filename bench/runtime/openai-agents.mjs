import { Agent, Runner, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";

setTracingDisabled(true);

/** A model without latency that answers each request by a function of how many came. */
function scripted(answer, pieces = []) {
  let asked = 0;
  const getResponse = async () => {
    asked += 1;
    return { usage: new Usage(), output: [await answer(asked)], responseId: `r${asked}` };
  };
  return {
    getResponse,
    async *getStreamedResponse() {
      for (const delta of pieces) yield { type: "output_text_delta", delta };
      const { output, responseId: id } = await getResponse();
      yield { type: "response_done", response: { id, output, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } };
    },
  };
}

const called = (name, n, args = "{}") => ({
  type: "function_call",
  callId: `c${n}`,
  id: `f${n}`,
  name,
  status: "completed",
  arguments: args,
});
const said = (text) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });
const runner = new Runner();

export const cases = {
  /** A handoff is a hop. */
  async hop(n) {
    const model = scripted((asked) =>
      asked > n ? said("done") : called(asked % 2 === 1 ? "transfer_to_other" : "transfer_to_one", asked),
    );
    const one = new Agent({ name: "one", model });
    const other = new Agent({ name: "other", model, handoffs: [one] });
    one.handoffs.push(other);
    await runner.run(one, "go", { maxTurns: n + 10 });
    return { done: n };
  },

  async agent(n) {
    const look = tool({ name: "look", description: "Looks.", parameters: z.object({ at: z.number() }), execute: async () => "seen" });
    const model = scripted((asked) => (asked > n ? said("done") : called("look", asked, `{"at":${asked}}`)));
    const { finalOutput } = await runner.run(new Agent({ name: "one", model, tools: [look] }), "go", { maxTurns: n + 10 });
    return { done: finalOutput === "done" ? n : 0 };
  },

  async typed(n) {
    const model = scripted(() => said('{"title":"x","tags":["a","b"]}'));
    const agent = new Agent({ name: "one", model, outputType: z.object({ title: z.string(), tags: z.array(z.string()) }) });
    let done = 0;
    for (let k = 0; k < n; k += 1) done += (await runner.run(agent, "go")).finalOutput.tags.length / 2;
    return { done };
  },

  async stream(n) {
    const pieces = Array.from({ length: 100 }, (_, k) => `${k} `);
    const agent = new Agent({ name: "one", model: scripted(() => said(pieces.join("")), pieces) });
    let heard = 0;
    for (let k = 0; k < n; k += 1) {
      const result = await runner.run(agent, "go", { stream: true });
      for await (const _piece of result.toTextStream()) heard += 1;
    }
    return { done: heard / 100 };
  },

  async parallel(n) {
    const model = scripted(() => new Promise((resolve) => setTimeout(resolve, 200, said("said"))));
    const agents = Array.from({ length: n }, (_, k) => new Agent({ name: `agent${k}`, model }));
    const results = await Promise.all(agents.map((agent) => runner.run(agent, "go")));
    return { done: results.filter(({ finalOutput }) => finalOutput === "said").length };
  },

  "idle-agent"(n) {
    const model = scripted(() => said(""));
    const tools = [tool({ name: "look", description: "Looks.", parameters: z.object({}), execute: async () => "seen" })];
    return { keep: Array.from({ length: n }, (_, k) => new Agent({ name: `agent${k}`, model, tools })) };
  },
};
