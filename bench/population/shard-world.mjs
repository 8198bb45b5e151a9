/* A world for bench/shards.mjs: each message goes to a random other role, and reading one takes `work` turns of a loop. */
import { createMessage, defineRole } from "../../dist/src/index.js";
import { shardedWorld } from "../../dist/src/shards/index.js";
import { z } from "zod";
import { nameOf } from "./worlds.mjs";

export const world = shardedWorld(({ size, work }) => {
  const one = defineRole({
    name: "Actor",
    watch: ["Start"],
    state: z.object({ seen: z.number().default(0), sum: z.number().default(0) }),
    step({ seen, sum }, { content }, out) {
      let next = sum;
      for (let turn = 0; turn < work; turn += 1) next = (next * 31 + turn) % 1_000_003;
      out.say(content, { sendTo: nameOf(Math.floor(out.random() * size)) });
      return { seen: seen + 1, sum: next };
    },
  });
  return {
    roles: Array.from({ length: size }, (_, place) => ({ role: one, name: nameOf(place) })),
    messages: [createMessage("go", { causeBy: "Start" })],
  };
});
