import { Agent, Runner, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";

setTracingDisabled(true);

/** A model without latency that answers each request by a function of how many came. */
function scripted(answer) {
  let asked = 0;
  return {
    getResponse: async () => {
      asked += 1;
      return { usage: new Usage(), output: [answer(asked)], responseId: `r${asked}` };
    },
    async *getStreamedResponse() {},
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

  idle(n) {
    const model = scripted(() => said(""));
    return { keep: Array.from({ length: n }, (_, k) => new Agent({ name: `agent${k}`, model })) };
  },
};
