import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";

const Count = z.object({ count: z.number() });
const counting = (id) =>
  createStep({ id, inputSchema: Count, outputSchema: Count, execute: async ({ inputData: { count } }) => ({ count: count + 1 }) });

async function lived(workflow) {
  const run = await workflow.createRun();
  const { status, result } = await run.start({ inputData: { count: 0 } });
  if (status !== "success") throw new Error(`The workflow ended with ${status}.`);
  return result.count;
}

export const cases = {
  /** Two steps in a loop are two hops. */
  async hop(n) {
    const both = createWorkflow({ id: "both", inputSchema: Count, outputSchema: Count })
      .then(counting("one"))
      .then(counting("other"))
      .commit();
    const game = createWorkflow({ id: "game", inputSchema: Count, outputSchema: Count })
      .dountil(both, async ({ inputData: { count } }) => count >= n)
      .commit();
    return { done: await lived(game) };
  },

  async chain(n) {
    let flow = createWorkflow({ id: "chain", inputSchema: Count, outputSchema: Count });
    for (let place = 0; place < 100; place += 1) flow = flow.then(counting(`link${place}`));
    const chain = flow.commit();
    let done = 0;
    for (let run = 0; run < n; run += 1) done += (await lived(chain)) / 100;
    return { done };
  },

  /** One step for each of a list, side by side. */
  async fanout(n) {
    const listener = createStep({
      id: "listener",
      inputSchema: Count,
      outputSchema: Count,
      execute: async ({ inputData: { count } }) => ({ count: count + 1 }),
    });
    const flow = createWorkflow({ id: "fanout", inputSchema: z.array(Count), outputSchema: z.array(Count) })
      .foreach(listener, { concurrency: n })
      .commit();
    const run = await flow.createRun();
    const from = performance.now();
    const { status, result } = await run.start({ inputData: Array.from({ length: n }, () => ({ count: 0 })) });
    if (status !== "success") throw new Error(`The workflow ended with ${status}.`);
    return { done: result.reduce((sum, { count }) => sum + count, 0), ms: performance.now() - from };
  },

  async parallel(n) {
    const waiting = (id) =>
      createStep({
        id,
        inputSchema: Count,
        outputSchema: Count,
        execute: () => new Promise((resolve) => setTimeout(resolve, 200, { count: 1 })),
      });
    const flow = createWorkflow({ id: "parallel", inputSchema: Count, outputSchema: z.record(z.string(), Count) })
      .parallel(Array.from({ length: n }, (_, place) => waiting(`one${place}`)))
      .commit();
    const run = await flow.createRun();
    const { status, result } = await run.start({ inputData: { count: 0 } });
    if (status !== "success") throw new Error(`The workflow ended with ${status}.`);
    return { done: Object.keys(result).length };
  },

  async "idle-agent"(n) {
    const [{ Agent }, { createTool }, { MockLanguageModelV4 }] = await Promise.all([
      import("@mastra/core/agent"),
      import("@mastra/core/tools"),
      import("ai/test"),
    ]);
    const model = new MockLanguageModelV4({});
    const look = createTool({ id: "look", description: "Looks.", inputSchema: z.object({}), execute: async () => "seen" });
    const agent = (k) => new Agent({ id: `agent${k}`, name: `agent${k}`, instructions: "Work.", model, tools: { look } });
    return { keep: Array.from({ length: n }, (_, k) => agent(k)) };
  },
};
