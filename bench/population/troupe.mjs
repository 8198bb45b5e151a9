/* Troupe: step roles of one definition in rounds, in an environment that keeps no history. */
import { z } from "zod";
import { createMessage, defineRole, Environment } from "../../dist/src/index.js";
import { nameOf, roundsFor, WARM } from "./worlds.mjs";

export async function population(n, world, measured) {
  const state = z.object({ seen: z.number().default(0) });
  const random = defineRole({
    name: "Actor",
    watch: ["Start"],
    state,
    step({ seen }, { content }, out) {
      out.say(content, { sendTo: nameOf(Math.floor(out.random() * n)) });
      return { seen: seen + 1 };
    },
  });
  const ring = defineRole({
    name: "Actor",
    watch: ["Start"],
    state,
    step({ seen }, { content }, out) {
      out.say(content, { sendTo: nameOf((Number(out.name.slice(1)) + 1) % n) });
      return { seen: seen + 1 };
    },
  });
  const environment = new Environment({ seed: 1, memory: false });
  const hired = process.memoryUsage().heapUsed;
  const from = process.cpuUsage();
  for (let place = 0; place < n; place += 1) environment.addRole(world === "ring" ? ring : random, { name: nameOf(place) });
  const hiring = process.cpuUsage(from);
  environment.publishMessage(createMessage("go", { causeBy: "Start" }));
  await environment.run({ rounds: WARM });
  const before = seenBy(environment, n);
  const told = await measured(
    () => environment.run({ rounds: roundsFor(n) }),
    () => seenBy(environment, n) - before,
  );
  return { ...told, hiring: (hiring.user + hiring.system) / n, heapBefore: hired };
}

/** Every message that was read is one that was sent. */
function seenBy(environment, n) {
  let seen = 0;
  for (let place = 0; place < n; place += 1) seen += environment.getRole(nameOf(place)).state.seen;
  return seen;
}
