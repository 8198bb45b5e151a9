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
    for (let run = 0; run < n; run += 1) done += await lived(chain);
    return { done };
  },
};
