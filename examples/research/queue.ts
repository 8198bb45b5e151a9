// A queue with one server in simulated time: customers come at random times, and each is served for a random time. In simulated time a role says when something
// happens next; the clock jumps there.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { study } from "troupe/research";

// #region queue
const COMING = 0.5;
const SERVING = 1;
const CUSTOMERS = 2_000;
/** Customers that are not counted: the queue is empty at first. */
const FIRST = 200;
const exponential = (random: number, rate: number): number => -Math.log(1 - random) / rate;

const door = defineRole({
  name: "Door",
  watch: [],
  state: z.object({ came: z.number().default(0) }),
  step({ came }, _message, out) {
    out.say("customer", { sendTo: "Server" });
    if (came + 1 < CUSTOMERS) out.after(exponential(out.random(), COMING), "next", { sendTo: "Door" });
    return { came: came + 1 };
  },
});

const server = defineRole({
  name: "Server",
  watch: [],
  state: z.object({ queue: z.array(z.number()).default([]), served: z.number().default(0), stayed: z.number().default(0) }),
  step({ queue, served, stayed }, { content }, out) {
    const [first = 0, ...others] = queue;
    const now = content === "customer" ? [...queue, out.tick] : others;
    const isNext = content === "customer" ? queue.length === 0 : others.length > 0;
    if (isNext) out.after(exponential(out.random(), SERVING), "done", { sendTo: "Server" });
    if (content === "customer") return { queue: now, served, stayed };
    return { queue: now, served: served + 1, stayed: served < FIRST ? stayed : stayed + out.tick - first };
  },
});

/** Returns the mean time from the coming of a customer to the end of its service. */
async function meanStay(seed: string): Promise<number> {
  const shop = new Environment({ scheduler: "events", seed, memory: false });
  shop.addRoles([door, server]);
  shop.publishMessage(createMessage("open", { sendTo: "Door" }));
  await shop.run({ rounds: 10 * CUSTOMERS });
  return Number(shop.getRole("Server")?.state["stayed"]) / (CUSTOMERS - FIRST);
}
// #endregion

const { samples, report } = study({ name: "queue", source: "Erlang 1909; Kleinrock 1975" });
export const found = await samples(40, meanStay);
const name = `mean time in the system, ${COMING} customers and ${SERVING} services in a unit of time`;

export const figures = report([{ name, expected: 1 / (SERVING - COMING), found }]);
