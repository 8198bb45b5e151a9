// The contract net: a manager announces a task, contractors bid what it costs them, the manager awards it to the lowest bid, and that contractor reports.
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { study } from "troupe/research";

const CONTRACTORS = 9;
const TASKS = 400;
const { seed, report } = study({ name: "contract net", source: "Smith 1980" });

const contractor = defineRole({
  name: "Contractor",
  watch: ["Announce"],
  state: z.object({ cost: z.number().default(0) }),
  step({ cost }, { causeBy }, out) {
    if (causeBy === "Award") return void out.say("done", { sendTo: "Manager", causeBy: "Report", instructContent: cost });
    const bid = out.random();
    out.say("bid", { sendTo: "Manager", causeBy: "Bid", instructContent: bid });
    return { cost: bid };
  },
});

const manager = defineRole({
  name: "Manager",
  watch: [UserRequirement],
  state: z.object({ announced: z.number().default(0) }),
  steps({ announced }, messages, out) {
    const bids = messages.filter(({ causeBy }) => causeBy === "Bid");
    const [best] = bids.toSorted((a, b) => Number(a.instructContent) - Number(b.instructContent));
    if (best !== undefined) return void out.say("award", { sendTo: best.sentFrom, causeBy: "Award" });
    if (announced < TASKS) out.say(`task ${announced}`, { causeBy: "Announce" });
    return { announced: announced + 1 };
  },
});

const market = new Environment({ seed }).addRole(manager);
for (let place = 0; place < CONTRACTORS; place += 1) market.addRole(contractor, { name: `c${place}` });
market.publishMessage("begin");
const { messages } = await market.run({ rounds: 5 * TASKS });
export const costs = messages.filter(({ causeBy }) => causeBy === "Report").map(({ instructContent }) => Number(instructContent));
const announcements = messages.filter(({ causeBy }) => causeBy === "Announce").length;
const others = messages.filter(({ sentFrom }) => sentFrom !== "").length - announcements;

export const figures = report([
  {
    name: `messages of a task with ${CONTRACTORS} contractors, 2n + 2`,
    expected: 2 * CONTRACTORS + 2,
    found: (announcements * CONTRACTORS + others) / TASKS,
  },
  { name: "cost of the awarded bid, 1 / (n + 1)", source: "order statistics, David 1970", expected: 1 / (CONTRACTORS + 1), found: costs },
]);
