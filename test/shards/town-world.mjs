/* A world of step roles that shards and one environment run: they tell neighbours and strangers, at once and later. */
import { createMessage, defineRole } from "troupe";
import { delay, drop, duplicate } from "troupe/edges";
import { shardedWorld } from "troupe/shards";
import { z } from "zod";

const person = (size, talk) =>
  defineRole({
    name: "Person",
    watch: ["Start"],
    state: z.object({ heard: z.array(z.string()).default([]), left: z.number().default(talk) }),
    step({ heard, left }, message, out) {
      const next = { heard: [...heard, `${message.sentFrom}:${message.content}`].slice(-5), left: left - 1 };
      if (left <= 0) return next;
      const chance = out.random();
      const sendTo = `p${Math.floor(out.random() * size)}`;
      if (chance < 0.2) out.after(1 + Math.floor(chance * 20), `late ${left}`, { sendTo });
      else if (chance < 0.3) out.say(`all ${left}`, { causeBy: "News" });
      else if (chance < 0.5) out.say(`two ${left}`, { sendTo: [sendTo, `p${size - 1}`] });
      else out.say(`one ${left}`, { sendTo, priority: Math.floor(chance * 10) % 3 === 0 ? -1 : undefined });
      return next;
    },
  });

const listener = defineRole({
  name: "Listener",
  watch: ["News"],
  state: z.object({ news: z.number().default(0) }),
  step: ({ news }) => ({ news: news + 1 }),
});

export const world = shardedWorld(({ size, talk, faults }) => {
  const one = person(size, talk);
  return {
    roles: Array.from({ length: size }, (_, place) => ({ role: place % 7 === 3 ? listener : one, name: `p${place}` })),
    messages: [createMessage("go", { causeBy: "Start" }), createMessage("you too", { sendTo: ["p0"] })],
    options: faults ? { edges: [drop(0.1), delay(2).on("*->p1"), duplicate(0.2)] } : {},
  };
});
