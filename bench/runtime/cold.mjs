/*
 * `node cold.mjs <peer> import` loads a peer, `node cold.mjs <peer> message` brings a first message to somebody with it; whoever starts this
 * takes the time. Only what that needs is loaded.
 */
const [peer = "", how = "import"] = process.argv.slice(2);

const first = {
  async bare() {
    const box = ["go"];
    return box.shift() === "go";
  },

  async troupe() {
    const { defineAction, defineRole, Environment } = await import("../../dist/src/index.js");
    return async () => {
      const say = defineAction({ name: "Say", run: () => "hello" });
      const env = new Environment().addRole(defineRole({ name: "One", actions: [say] }));
      env.publishMessage("go");
      return (await env.run()).output.content === "hello";
    };
  },

  async nact() {
    const { dispatch, spawn, start } = await import("nact");
    return () =>
      new Promise((resolve) =>
        dispatch(
          spawn(start(), () => resolve(true), "one"),
          "go",
        ),
      );
  },

  async xstate() {
    const { createActor, setup } = await import("xstate");
    return () =>
      new Promise((resolve) => {
        const one = createActor(setup({}).createMachine({ on: { go: { actions: () => resolve(true) } } })).start();
        one.send({ type: "go" });
      });
  },

  async ai() {
    const { generateText } = await import("ai");
    return async () => {
      const { MockLanguageModelV4 } = await import("ai/test");
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
      const reply = { content: [{ type: "text", text: "hello" }], finishReason: { unified: "stop" }, usage, warnings: [] };
      const model = new MockLanguageModelV4({ doGenerate: async () => reply });
      return (await generateText({ model, prompt: "go" })).text === "hello";
    };
  },

  async "openai-agents"() {
    const { Agent, Runner, setTracingDisabled, Usage } = await import("@openai/agents");
    setTracingDisabled(true);
    return async () => {
      const hello = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "hello" }] };
      const model = { getResponse: async () => ({ usage: new Usage(), output: [hello], responseId: "r" }) };
      return (await new Runner().run(new Agent({ name: "one", model }), "go")).finalOutput === "hello";
    };
  },

  async langgraph() {
    const { Annotation, END, START, StateGraph } = await import("@langchain/langgraph");
    return async () => {
      const graph = new StateGraph(Annotation.Root({ said: Annotation() })).addNode("one", () => ({ said: "hello" }));
      return (await graph.addEdge(START, "one").addEdge("one", END).compile().invoke({})).said === "hello";
    };
  },

  async mastra() {
    const { createStep, createWorkflow } = await import("@mastra/core/workflows");
    return async () => {
      const { z } = await import("zod");
      const schema = z.object({ said: z.string() });
      const one = createStep({ id: "one", inputSchema: schema, outputSchema: schema, execute: async () => ({ said: "hello" }) });
      const flow = createWorkflow({ id: "flow", inputSchema: schema, outputSchema: schema }).then(one).commit();
      return (await (await flow.createRun()).start({ inputData: { said: "" } })).result.said === "hello";
    };
  },

  /** The package behind Troupe's typed answers: the minimum cost of its import. */
  async zod() {
    const { z } = await import("zod");
    return () => z.string().safeParse("hello").success;
  },
}[peer];

const loaded = await first();
if (how === "message" && loaded !== true && (await loaded()) !== true) throw new Error(`${peer} did not answer.`);
process.exit(0);
