// A population of step roles: what it needs, one environment, and worker threads that come to the same states.
import { isMainThread } from "node:worker_threads";
import { createMessage, defineRole } from "troupe";
import { assertPopulationFits, environmentOf, populationNeed, runShards, shardedWorld } from "troupe/shards";
import { z } from "zod";

// #region world
export const world = shardedWorld(({ size }: { readonly size: number }) => {
  const walker = defineRole({
    name: "Walker",
    watch: ["Start"],
    state: z.object({ met: z.number().default(0) }),
    step({ met }, _message, out) {
      if (met < 5) out.say("hello", { sendTo: `w${Math.floor(out.random() * size)}` });
      return { met: met + 1 };
    },
  });
  return {
    roles: Array.from({ length: size }, (_, place) => ({ role: walker, name: `w${place}` })),
    messages: [createMessage("go", { causeBy: "Start" })],
  };
});
// #endregion world

// #region shards
export async function meetings(shards: number): Promise<number> {
  const { states } = await runShards({ module: import.meta.url, params: { size: 200 }, shards, seed: 1, rounds: 200 });
  return Math.max(...Array.from(states.values(), ({ met }) => Number(met)));
}
// #endregion shards

// The threads of `meetings` import this module too: the main thread alone prints.
if (isMainThread) {
  // #region one
  const town = environmentOf(world, { params: { size: 200 }, seed: 1 });
  const { status } = await town.run({ rounds: 200 });
  const most = Math.max(...town.roleNames.map((name) => Number(town.getRole(name)?.state["met"])));
  console.log(status, most);
  // #endregion one

  // #region need
  const { heap, process: whole } = populationNeed({ roles: 1_000_000 });
  console.log(heap < 1.4e9, whole < 2e9); // true true
  assertPopulationFits({ roles: 50_000 }); // POPULATION_TOO_LARGE names the need, the limit and the flag of Node.js
  // #endregion need
}

// A thread imports this module too, and Node.js 20 reads no TypeScript there.
if (process.argv[1]?.endsWith("33-populations.js")) console.log(await meetings(3));
