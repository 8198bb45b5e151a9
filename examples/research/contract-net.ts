// The contract net: a manager announces a task, contractors bid what it costs them, the manager awards it to the lowest bid, and that contractor reports.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { figure, figuresText } from "troupe/research";

const CONTRACTORS = 9;
const TASKS = 400;
const seed = process.env["SEED"] ?? randomUUID();

const contractor = defineRole({
  name: "Contractor",
  watch: ["Announce"],
  state: z.object({ cost: z.number().default(0) }),
  step({ cost }, { causeBy }, out) {
    if (causeBy === "Announce") {
      const bid = out.random();
      out.say("bid", { sendTo: "Manager", causeBy: "Bid", instructContent: bid });
      return { cost: bid };
    }
    out.say("done", { sendTo: "Manager", causeBy: "Report", instructContent: cost });
    return undefined;
  },
});

const manager = defineRole({
  name: "Manager",
  watch: [UserRequirement],
  state: z.object({ announced: z.number().default(0) }),
  steps({ announced }, messages, out) {
    const bids = messages.filter(({ causeBy }) => causeBy === "Bid");
    const [best] = bids.toSorted((a, b) => Number(a.instructContent) - Number(b.instructContent));
    if (best !== undefined) out.say("award", { sendTo: best.sentFrom, causeBy: "Award" });
    else if (announced < TASKS) {
      out.say(`task ${announced}`, { causeBy: "Announce" });
      return { announced: announced + 1 };
    }
    return undefined;
  },
});

const market = new Environment({ seed });
market.addRole(manager);
for (let place = 0; place < CONTRACTORS; place += 1) market.addRole(contractor, { name: `c${place}` });
market.publishMessage("begin");
const { messages } = await market.run({ rounds: 5 * TASKS });
const costs = messages.filter(({ causeBy }) => causeBy === "Report").map(({ instructContent }) => Number(instructContent));
const sent = messages
  .filter(({ sentFrom }) => sentFrom !== "")
  .reduce((sum, { causeBy }) => sum + (causeBy === "Announce" ? CONTRACTORS : 1), 0);

export const figures = [
  figure({
    name: `contract net: messages of a task with ${CONTRACTORS} contractors, 2n + 2`,
    source: "Smith 1980",
    expected: 2 * CONTRACTORS + 2,
    found: sent / TASKS,
  }),
  figure({
    name: "contract net: cost of the awarded bid, 1 / (n + 1)",
    source: "order statistics, David 1970",
    expected: 1 / (CONTRACTORS + 1),
    found: costs,
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
